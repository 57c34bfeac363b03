// An add-on with gauge.cpp, for startProgram, frame by frame. The Network API is as its documentation
// describes it, and calls back for a request that was cancelled, too.
#include <MSFS/MSFS_Network.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static double startS, nowS, wallS;  // The wall clock shows wallS at startS.
static bool hasSpoken, isFull;
static int status;
static std::vector<std::function<void()>> requests;

static void say(const std::string& what) {
  std::cout << "at " << nowS << '\n' << what << std::endl;
  hasSpoken = true;
}

struct FakeClock : std::chrono::steady_clock {
  static time_point now() { return time_point(std::chrono::milliseconds(std::llround(nowS * 1000))); }
};
static long long wallClock() { return std::llround(std::floor(wallS + nowS - startS + 1e-6)); }

FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                            HttpRequestCallback callback, void* data) {
  const auto id = static_cast<FsNetworkRequestId>(requests.size() + 1);
  requests.push_back([=] { callback(id, 0, data); });
  say("sends " + std::to_string(id - 1) + " " + param->postField);
  if (!isFull) return id;
  // Nothing says whether it calls back for a request that it refuses: it does for every other one.
  status = 0;
  if (id % 2 == 0) requests.back()();
  requests.back() = [] {};
  return 0;
}
int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
bool fsNetworkHttpCancelRequest(FsNetworkRequestId) { return true; }

#include "gauge.cpp"

void askAboutSecondProduct();  // With another copy of gauge.cpp, in another .cpp file.

int main() {
  std::cout.precision(12);
  std::string callback;
  bool hasFrames = true;
  std::unique_ptr<activation::Asking> asking;
  const auto call = [&](const std::string& what) {
    say("calls " + what);
    const std::string does = std::exchange(callback, "");
    if (!does.empty()) asking->ask(does.substr(sizeof "asks"));
  };
  const auto unlock = [&] { call("unlock"); };
  const auto lock = [&](activation::Result result) {
    const char* const words[] = {"", "inactive", "mistake", "no answer"};
    call(std::string("lock ") + words[static_cast<int>(result)]);
  };
  for (std::string line, word, about; std::getline(std::cin, line);) {
    std::istringstream words(line);
    words >> nowS >> wallS >> word;
    if (!std::getline(words.ignore(), about)) about.clear();
    startS = nowS;
    const std::string name = activation::storedName();
    if (word == "new" || word == "stop") asking = std::make_unique<activation::Asking>(unlock, lock);
    if (word == "new" || word == "callback") callback = about;
    if (word == "ask") asking->ask(about);
    if (word == "name") say("name: " + (name.empty() ? "nothing" : name));
    if (word == "service") isFull = about == "full";
    if (word == "second") askAboutSecondProduct();
    if (word == "frames") hasFrames = about == "on";
    if (word == "reply") {
      status = std::atoi(about.substr(about.find(' ')).c_str());  // 0 without a network.
      requests.at(std::stoul(about))();
    }
    const double untilS = word == "pass" ? std::stod(about) : nowS;
    for (hasSpoken = false; hasFrames; nowS = std::round(nowS * 10 + 1) / 10) {
      asking->update();
      if (hasSpoken || nowS > untilS - 0.05) break;
    }
    std::cout << '.' << std::endl;
  }
}
