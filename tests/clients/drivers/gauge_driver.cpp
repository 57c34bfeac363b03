// Plays a scenario to gauge.cpp and the page's snippet for it, in the protocol of startProgram.
// The SDK does what its documentation says, and calls back for a cancelled request, too.
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#define MSFS_CALLBACK
using FsContext = void*;
enum { PANEL_SERVICE_PRE_INSTALL, PANEL_SERVICE_PRE_DRAW, PANEL_SERVICE_PRE_KILL };
using FsNetworkRequestId = long long;
using Callback = void (*)(FsNetworkRequestId, int error, void* data);
struct FsNetworkHttpRequestParam { char* postField; };

static double nowS, wallS;
static std::map<std::string, std::string> last;  // What each event was about.
static int status;
static std::vector<std::function<void()>> requests;

struct SimulatedClock : std::chrono::steady_clock {
  static time_point now() {
    return time_point(std::chrono::milliseconds(std::llround(nowS * 1000)));
  }
};

/** Has frames drawn then. Returns by what a pause varies. */
static int drawAfter(int seconds) {
  std::cout << "waits frame " << seconds << '\n';
  return 1;
}

static FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                                   Callback callback, void* data) {
  std::cout << "asks " << requests.size() << ' ' << param->postField << '\n';
  drawAfter(10);
  const auto id = static_cast<FsNetworkRequestId>(requests.size() + 1);
  requests.push_back([=] { callback(id, 0, data); });
  if (last["service"] != "full") return id;
  // Nothing says whether it calls back for a request that it refuses: it does for every other one.
  status = 0;
  if (id % 2 == 0) requests.back()();
  requests.back() = [] {};
  return 0;
}
static int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
static bool fsNetworkHttpCancelRequest(FsNetworkRequestId) { return true; }

#include "snippet.cpp"

int main() {
  std::string event, about;
  std::function<void(std::string)> call;
  activation::Asking asked([&] { call("unlock"); }, [&](activation::Result result) {
    const std::string results[] = {"", "inactive", "mistake", "no answer"};
    call("lock " + results[static_cast<int>(result)]);
  });
  call = [&](const std::string& what) {
    std::cout << what << '\n';
    const std::string does = std::exchange(last["callback"], "");
    if (!does.empty()) asked.ask(does.substr(sizeof "asks"));
  };
  while (std::cout << '.' << std::endl, std::cin >> nowS >> wallS >> event) {
    std::getline(std::cin.ignore(), about);
    last[event] = about;
    if (event == "ask") asked.ask(about);
    if (event == "name") std::cout << "name: " << activation::storedName() << '\n';
    if (event == "stop") asked.stop();
    if (event == "reply" && about.find("frame") != 0) {
      status = std::atoi(about.c_str() + about.find(' '));  // 0 without a network.
      requests.at(std::stoul(about))();
    }
    if (last["frames"] == "off") continue;
    for (int frame = event == "frames" ? 4 : 0; frame < 5; ++frame) asked.update();
  }
}
