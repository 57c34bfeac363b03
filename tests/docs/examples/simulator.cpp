// An add-on with gauge.cpp, for startProgram. The Network API is as its documentation describes it, and
// calls back for a request that was cancelled, too.
#include <MSFS/MSFS_Network.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

static double nowS, wallS;
static bool isFull;
static int status;
static std::vector<std::function<void()>> requests;

struct FakeClock : std::chrono::steady_clock {
  static time_point now() { return time_point(std::chrono::milliseconds(std::llround(nowS * 1000))); }
};

/** Has a frame drawn then. Returns by what a pause varies. */
static int drawAfter(int seconds) {
  std::cout << "pauses frame " << seconds << '\n';
  return 1;
}

FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                            HttpRequestCallback callback, void* data) {
  std::cout << "sends " << requests.size() << ' ' << param->postField << '\n';
  drawAfter(10);
  const auto id = static_cast<FsNetworkRequestId>(requests.size() + 1);
  requests.push_back([=] { callback(id, 0, data); });
  if (!isFull) return id;
  // Nothing says whether it calls back for a request that it refuses: it does for every other one.
  status = 0;
  if (id % 2 == 0) requests.back()();
  requests.back() = [] {};
  return 0;
}
int fsNetworkHttpRequestGetErrorCode(FsNetworkRequestId) { return status; }
bool fsNetworkHttpCancelRequest(FsNetworkRequestId) { return true; }

#include "simulated.cpp"

// gauge_use.cpp, with another copy of gauge.cpp.
void activated(const std::string& name);
extern "C" bool Example_gauge_callback(FsContext, int service, void*);

int main() {
  std::string callback;
  bool hasFrames = true;
  activation::Asking* asking = nullptr;
  const auto call = [&](const std::string& what) {
    std::cout << "calls " << what << '\n';
    const std::string does = std::exchange(callback, "");
    if (!does.empty()) asking->ask(does.substr(sizeof "asks"));
  };
  const auto unlock = [&] { call("unlock"); };
  const auto lock = [&](activation::Result result) {
    const char* const words[] = {"", "inactive", "mistake", "no answer"};
    call(std::string("lock ") + words[static_cast<int>(result)]);
  };
  activation::Asking gauge(unlock, lock);
  asking = &gauge;
  for (std::string event, about; std::cin >> nowS >> wallS >> event;) {
    std::getline(std::cin.ignore(), about);
    if (event == "ask") asking->ask(about);
    if (event == "callback") callback = about;
    if (event == "frames") hasFrames = about == "on";
    if (event == "name") std::cout << "name " << activation::storedName() << '\n';
    if (event == "second") {
      activated(about);
      for (const int service : SERVICES) Example_gauge_callback({}, service, {});
    }
    if (event == "reply" && about.find("frame") != 0) {
      status = std::atoi(about.c_str() + about.find(' '));  // 0 without a network.
      requests.at(std::stoul(about))();
    }
    if (event == "service") isFull = about == "full";
    if (event == "stop") asking->stop();
    const int frames = !hasFrames ? 0 : event == "frames" ? 1 : 5;
    for (int frame = 0; frame < frames; ++frame) asking->update();
    std::cout << '.' << std::endl;
  }
}
