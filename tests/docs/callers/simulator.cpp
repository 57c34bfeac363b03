// Asks with gauge.cpp in the world of a test, frame by frame. The Network API is as its documentation
// describes it, and calls back for a request that was cancelled, too.
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static double nowS, behindS;
static bool hasSpoken, isFull;

static void say(const std::string& what) {
  std::cout << what << std::endl;
  hasSpoken = true;
}

struct FakeClock : std::chrono::steady_clock {
  static time_point now() {
    return time_point(std::chrono::milliseconds(std::llround(nowS * 1000)));
  }
};

static long long wallClock() { return static_cast<long long>(std::floor(nowS + behindS)); }

using FsNetworkRequestId = long long;
using HttpRequestCallback = void (*)(FsNetworkRequestId request, int error, void* data);
struct FsNetworkHttpRequestParam {
  char* postField;
};
static std::vector<std::function<void()>> requests;
static FsNetworkRequestId awaited;
static int status;

static FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                                   HttpRequestCallback callback, void* data) {
  if (isFull) {
    say(std::string("refused 0 ") + param->postField);
    return 0;
  }
  const auto id = static_cast<FsNetworkRequestId>(requests.size() + 1);
  requests.push_back([=] { callback(id, 0, data); });
  say((awaited ? "twice " : "send ") + std::to_string(id - 1) + " " + param->postField);
  return awaited = id;
}
static int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
static void fsNetworkHttpCancelRequest(FsNetworkRequestId) { awaited = 0; }

#include "gauge.cpp"

static void showGauge() {}
static void showActivation(activation::Result) {}
void callAsOnThePage() {
#include "call"
}

int main() {
  std::cout.precision(12);
  std::string following;  // What the next callback does: "throw", or a name to ask about.
  std::unique_ptr<activation::Asking> asking;
  const auto callBack = [&](const std::string& what) {
    say(what);
    const std::string does = std::exchange(following, "");
    if (does == "throw") throw 0;
    if (!does.empty()) asking->ask(does);
  };
  const auto lock = [&](activation::Result result) {
    const char* const words[] = {"", "inactive", "mistake", "no answer"};
    callBack(std::string("lock ") + words[static_cast<int>(result)]);
  };
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    double clockS;
    std::string word, rest;
    words >> clockS >> word >> std::ws;
    std::getline(words, rest);
    behindS = clockS - nowS;
    if (word == "new") asking = std::make_unique<activation::Asking>([&] { callBack("unlock"); }, lock);
    if (word == "ask") asking->ask(rest);
    if (word == "service" || word == "new") isFull = rest == "full";
    if (word == "stop") asking.reset();
    if (word == "next" || word == "new") following = rest;
    if (word == "reply") {
      status = std::atoi(rest.substr(rest.find(' ')).c_str());  // 0 without a network.
      awaited = 0;
      requests.at(std::stoul(rest))();
    }
    const double untilS = word == "pass" ? std::stod(rest) : nowS;
    hasSpoken = false;
    while (true) {
      try {
        if (asking) asking->update();
      } catch (int) {
        say("error");
      }
      if (hasSpoken || nowS > untilS - 0.05) break;
      nowS = std::round(nowS * 10 + 1) / 10;
    }
    std::cout << ". " << nowS << std::endl;
  }
}
