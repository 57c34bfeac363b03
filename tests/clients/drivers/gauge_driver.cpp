// Reads events, a line each, and prints what gauge.cpp does, as `Client.run` describes.
// This stand-in for the SDK follows its documentation, and also calls back for a cancelled request.
#include <chrono>
#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#define MSFS_CALLBACK
using FsContext = void*;
enum { PANEL_SERVICE_PRE_INSTALL, PANEL_SERVICE_PRE_DRAW, PANEL_SERVICE_PRE_KILL };
using FsNetworkRequestId = size_t;
using Callback = void (*)(FsNetworkRequestId, int error, void* data);
struct FsNetworkHttpRequestParam { char* postField; };
struct Sent { Callback callback; void* data; char* body; std::string response; bool isCancelled; };

static double nowS, clockS = 2000000;
static std::string serving = "200", frames = "on";
static std::vector<Sent> requests;  // The request with an id is requests[id - 1].

struct SimulatedClock : std::chrono::steady_clock {
  static time_point now() {
    return time_point(std::chrono::milliseconds(std::llround(nowS * 1000)));
  }
};

static FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                                   Callback callback, void* data) {
  std::cout << "asks " << param->postField << '\n';
  static int tries = 0;
  if (serving == "off" && ++tries % 2) return 0;  // Every second one is refused at once.
  // The simulator sends few at a time: the last one has to be over, or cancelled.
  if (requests.size() && requests.back().callback && !requests.back().isCancelled) std::abort();
  requests.push_back({callback, data, param->postField, serving, false});
  return requests.size();
}
static int statusOf(FsNetworkRequestId id) {
  return std::atoi(requests[id - 1].response.c_str());  // 0 without a network.
}
/** The SDK may give the status here, or to the callback. This stand-in: here, if the id is odd. */
static int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId id) {
  return id % 2 ? statusOf(id) : 0;
}
static bool fsNetworkHttpCancelRequest(size_t id) { return requests[id - 1].isCancelled = true; }

#include "snippet.cpp"

static void print(const std::string& call) {
  std::ifstream file(activation::STORED_FILE);
  std::string entry;
  std::getline(file, entry);
  std::cout << call << ": " << entry << '\n';
}

/** Answers what waits for a silent service, even what was cancelled. */
static void answer(const std::string& status) {
  for (Sent& request : requests) {
    if (request.response == "silent") request.response = status;
  }
}

static void draw(activation::Asking& asked) {
  asked.update();  // Two gauges share it.
  asked.update();
  for (FsNetworkRequestId id = 1; id <= requests.size(); ++id) {
    Sent& request = requests[id - 1];
    if (!request.callback || request.response == "silent") continue;
    if (*request.body != '{') std::abort();  // It has to stay until the callback.
    std::exchange(request.callback, nullptr)(id, id % 2 ? 0 : statusOf(id), request.data);
  }
}

int main() {
  activation::Asking asked([] { print("unlock"); }, [](activation::Result result) {
    const std::string results[] = {"", "inactive", "mistake", "no answer"};
    print("lock " + results[static_cast<int>(result)]);
  });
  double untilS = 0;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string event, about;
    std::getline(words >> event >> std::ws, about);
    if (event == "until") untilS = std::stod(about);
    if (event == "print") std::cout << about << '\n';
    if (event == "sh" && std::system(about.c_str()) != 0) return 1;
    if (event == "ask") asked.ask(about);
    if (event == "stop") asked.stop();
    if (event == "service") serving = about;
    if (event == "clock") clockS += std::stod(about);
    if (event == "frames") frames = about;
    if (event == "answer") answer(about);
    while (true) {
      // Five frames cover sending a request, its callback, and acting on the result.
      for (int frame = 0; frame < 5 && frames == "on"; ++frame) draw(asked);
      if (nowS >= untilS) break;
      nowS = std::round(10 * nowS + 1) / 10;
    }
  }
  answer("off");  // Each request is freed when it is called back.
  draw(asked);
}
