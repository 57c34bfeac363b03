// Plays a scenario to gauge.cpp and the page's snippet for it, in the protocol of startProgram.
// The SDK does what its documentation says, and calls back for a cancelled request, too.
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#define MSFS_CALLBACK
using FsContext = void*;
enum { PANEL_SERVICE_PRE_INSTALL, PANEL_SERVICE_PRE_DRAW, PANEL_SERVICE_PRE_KILL };
using FsNetworkRequestId = size_t;
using Callback = void (*)(FsNetworkRequestId, int error, void* data);
struct FsNetworkHttpRequestParam { char* postField; };

static double nowS, wallS;
static int status;
static std::vector<std::function<void()>> waiting;

struct SimulatedClock : std::chrono::steady_clock {
  static time_point now() {
    return time_point(std::chrono::milliseconds(std::llround(nowS * 1000)));
  }
};

/** Has frames drawn then. Returns by what a pause varies. */
static int drawAfter(int seconds) {
  std::cout << "waits " << waiting.size() << ' ' << seconds << '\n';
  waiting.push_back([] {});
  return 1;
}

static FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                                   Callback callback, void* data) {
  drawAfter(10);
  const FsNetworkRequestId id = waiting.size();
  std::cout << "asks " << id << ' ' << param->postField << '\n';
  waiting.push_back([=] { callback(id, 0, data); });
  return id;
}
static int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
static bool fsNetworkHttpCancelRequest(FsNetworkRequestId) { return true; }

#include "snippet.cpp"

int main() {
  activation::Asking asked([] { std::cout << "unlock\n"; }, [](activation::Result result) {
    const std::string results[] = {"", "inactive", "mistake", "no answer"};
    std::cout << "lock " + results[static_cast<int>(result)] + '\n';
  });
  std::string event, about, frames;
  while (std::cout << '.' << std::endl, std::cin >> nowS >> wallS >> event) {
    std::getline(std::cin.ignore(), about);
    if (event == "ask") asked.ask(about);
    if (event == "stop") asked.stop();
    if (event == "frames") frames = about;
    if (event == "reply") {
      status = std::atoi(about.c_str() + about.find(' '));  // 0 without a network.
      waiting.at(std::stoul(about))();
    }
    if (frames == "off") continue;
    for (int frame = event == "frames" ? 4 : 0; frame < 5; ++frame) asked.update();
  }
}
