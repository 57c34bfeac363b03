// Stands in for the simulator: a clock, its Network API by way of curl, and the frames of a gauge.
//
//     gauge ask <times> <user>
//     gauge keep <pauses>                makes the page's call; the stored time is in `active-at.txt`
//     gauge together <user> <user>...    asks about all at once, and gets the last response first
//     gauge hang <user>                  gets no response in time, and then one after all
#include <chrono>

/** Goes on by one millisecond each frame. */
struct GaugeClock {
  using duration = std::chrono::milliseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = std::chrono::time_point<GaugeClock>;
  static constexpr bool is_steady = true;
  static time_point time;
  static time_point now() { return time; }
};
GaugeClock::time_point GaugeClock::time;

#include "gauge.h"

#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <vector>

struct Request {
  const char* body;
  HttpRequestCallback callback;
  void* data;
};
static std::map<FsNetworkRequestId, Request> requests;
static std::string text;
static int status;
static int cancelled;

FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                            HttpRequestCallback callback, void* data) {
  static FsNetworkRequestId last = 0;
  if (requests.size() == 3) return 0;
  requests[++last] = {param->postField, callback, data};
  return last;
}
int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
unsigned char* fsNetworkHttpRequestGetData(FsNetworkRequestId) {
  return reinterpret_cast<unsigned char*>(strdup(text.c_str()));
}
unsigned long fsNetworkHttpRequestGetDataSize(FsNetworkRequestId) { return text.size(); }
bool fsNetworkHttpCancelRequest(FsNetworkRequestId) { return ++cancelled; }

static std::string read(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/** Sends the request that was made last, and calls back. */
static void respond() {
  const auto [id, request] = *requests.rbegin();
  requests.erase(id);
  const std::string curl = "curl --silent --output text --write-out \"%{http_code}\" --data-binary @- ";
  FILE* pipe = popen((curl + std::getenv("SERVICE") + " > status").c_str(), "w");
  std::fputs(request.body, pipe);
  pclose(pipe);
  status = std::stoi(read("status"));
  text = read("text");
  request.callback(id, 0, request.data);
}

static const char* word(Result result) {
  static const char* const words[] = {"waiting", "active", "inactive", "mistake", "no answer"};
  return words[static_cast<int>(result)];
}

static void showGauge() { std::cout << "unlock\n"; }
static void showActivation(Result result) { std::cout << "lock " << word(result) << "\n"; }

#include "call"

static void keep(int pauses) {
  int frames = 0;
  // Longer than the longest pause, then it does not ask again.
  for (; frames < 1'000'000; ++frames, GaugeClock::time += GaugeClock::duration(1)) {
    update();
    if (requests.empty()) continue;
    if (frames > 0) {
      std::cout << "pause " << frames / 1000.0 << "\n";
      if (--pauses == 0) return;
    }
    respond();
    update();
    frames = 0;
  }
}

int main(int count, char** args) {
  const std::vector<std::string> users(args + 2, args + count);
  if (args[1] == std::string("ask")) {
    for (int times = std::stoi(users[0]); times > 0; --times) {
      const auto check = checkActive(users[1]);
      respond();
      std::cout << word(check->result()) << "\n";
    }
  } else if (args[1] == std::string("keep")) {
    keep(std::stoi(users[0]));
  } else if (args[1] == std::string("together")) {
    std::vector<std::shared_ptr<Check>> checks;
    for (const auto& user : users) checks.push_back(checkActive(user));
    while (!requests.empty()) respond();
    for (const auto& check : checks) std::cout << word(check->result()) << "\n";
  } else {
    const auto check = checkActive(users[0]);
    for (; check->result() == Result::Waiting; GaugeClock::time += GaugeClock::duration(1)) continue;
    std::cout << GaugeClock::time.time_since_epoch().count() << "\n" << cancelled << "\n";
    respond();
    std::cout << word(check->result()) << "\n";
  }
}
