// Runs the gauge's code, frame by frame. With --together before the users, it asks about all at once,
// and gets the last response first and the first one too late.
#include <chrono>
#include <iostream>
#include <vector>

/** Goes on by one millisecond each frame. */
struct GaugeClock : std::chrono::steady_clock {
  inline static time_point time;
  static time_point now() { return time; }
};
static const std::chrono::milliseconds FRAME(1);

#include "code"

static const char* word(Result result) {
  static const char* const words[] = {"waiting", "active", "inactive", "mistake", "no answer"};
  return words[static_cast<int>(result)];
}

static void showGauge() { std::cout << "unlock\n"; }
static void showActivation(Result result) { std::cout << "lock " << word(result) << "\n"; }

#include "call"

static void keepAsking() {
  int frames = 0;
  int pauses = 0;
  // Longer than the longest pause, then it does not ask again.
  for (; frames < 1'000'000; ++frames, GaugeClock::time += FRAME) {
    update();
    if (requests.empty()) continue;
    if (frames > 0) {
      std::cout << "pause " << frames / 1000.0 << "\n";
      if (++pauses == 9) return;
    }
    respond();
    update();
    frames = 0;
  }
}

int main(int count, char** args) {
  if (count == 1) keepAsking();
  const bool isTogether = count > 1 && std::string(args[1]) == "--together";
  std::vector<Share> checks;
  for (int i = isTogether ? 2 : 1; i < count; ++i) {
    checks.push_back(checkActive(args[i]));
    if (!isTogether) respond();
  }
  while (requests.size() > 1) respond();
  int frames = 0;
  for (; isTogether && checks[0]->result() == Result::Waiting; ++frames) GaugeClock::time += FRAME;
  if (isTogether) respond();
  for (const Share& check : checks) std::cout << word(check->result()) << "\n";
  if (isTogether) std::cout << frames << "\n" << cancelled << "\n";
}
