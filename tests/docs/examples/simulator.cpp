// An add-on with gauge.cpp, for startProgram. The Network API is as its documentation describes it, and
// calls back for a request that was cancelled, too.
#include <MSFS/MSFS_Network.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static double nowS, wallS;
static bool hasSpoken, isFull;
static int status;
// Never destroyed: what it can reach is no leak.
static auto& requests = *new std::vector<std::function<void()>>();

static void say(const std::string& what) {
  std::cout << what << std::endl;
  hasSpoken = true;
}

/** Has `startProgram` draw a frame then. Returns the factor of a pause. */
static int drawAfter(int seconds) {
  say("pauses frame " + std::to_string(seconds));
  return 1;
}

struct FakeClock : std::chrono::steady_clock {
  static time_point now() { return time_point(std::chrono::milliseconds(std::llround(nowS * 1000))); }
};

FsNetworkRequestId fsNetworkHttpRequestPost(const char*, FsNetworkHttpRequestParam* param,
                                            HttpRequestCallback callback, void* data) {
  const auto id = static_cast<FsNetworkRequestId>(requests.size() + 1);
  requests.push_back([=] { callback(id, 0, data); });
  say("sends " + std::to_string(id - 1) + " " + param->postField);
  drawAfter(10);
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

// The add-on on the page, with another copy of gauge.cpp, in another .cpp file.
void activated(const std::string& name);
const std::string& frame(bool isOnGround);

int main() {
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
  for (std::string event, about; std::cin >> nowS >> wallS >> event;) {
    std::getline(std::cin.ignore(), about);
    if (event == "ask") asking->ask(about);
    if (event == "callback") callback = about;
    if (event == "frames") hasFrames = about == "on";
    if (event == "name") {
      const std::string name = activation::storedName();
      say("name: " + (name.empty() ? "nothing" : name));
    }
    if (event == "page") {
      activated(about);
      frame(true);
    }
    std::size_t id;
    std::istringstream reply(about);
    if (event == "reply" && reply >> id) {
      reply >> status;  // 0 without a network.
      requests.at(id)();
    }
    if (event == "service") isFull = about == "full";
    if (event == "stop") asking = std::make_unique<activation::Asking>(unlock, lock);
    hasSpoken = true;
    while (hasFrames && std::exchange(hasSpoken, false)) asking->update();
    std::cout << '.' << std::endl;
  }
}
