// Asks whether a user has an active key, from a WASM gauge of Microsoft Flight Simulator 2020.
// C++17. Copy it whole, change SERVICE and PROJECT_ID, and include it in the code of your gauge.
// README.md, beside this file, shows how to call it. Have one Asking for a product.
#include <MSFS/MSFS_Network.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>

namespace activation {
namespace {  // So that two copies of this file, in two .cpp files, have nothing in common.

const std::string SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
const std::string PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

// The product's file has the second of the last 200, a space, the name, and a line feed. A file
// without the line feed was cut off, by a crash or a full disk. The simulator keeps the folder.
const std::string STORED_FILE = "\\work\\check-username-active." + PROJECT_ID;
const std::string STORED_COPY = STORED_FILE + ".copy";
const long long DAY_S = 24 * 60 * 60;
using Clock = std::chrono::steady_clock;

enum class Result { Active, Inactive, Mistake, NoAnswer };

struct Entry {
  long long second = 0;
  std::string name;
};

/** Reads a file without its line feed. Nothing if it cannot be read, or is cut off. */
std::optional<std::string> read(const std::string& path) {
  FILE* const file = std::fopen(path.c_str(), "rb");
  if (!file) return {};
  char bytes[2048];
  std::string text(bytes, std::fread(bytes, 1, sizeof bytes, file));
  std::fclose(file);
  if (text.empty() || text.back() != '\n') return {};
  text.pop_back();
  return text;
}

/** Writes a file. Returns whether all of it was written. */
bool write(const std::string& path, const std::string& text) {
  FILE* const file = std::fopen(path.c_str(), "wb");
  if (!file) return false;
  const bool isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  return std::fclose(file) == 0 && isWritten;
}

Entry load() {
  std::optional<std::string> text = read(STORED_FILE);
  if (!text) text = read(STORED_COPY);
  if (!text) return {};
  const size_t space = text->find_first_not_of("0123456789");
  const bool isEntry = space != std::string::npos && space >= 1 && space <= 12 &&
                       text->front() != '0' && (*text)[space] == ' ' && space + 1 < text->size();
  return isEntry ? Entry{std::stoll(*text), text->substr(space + 1)} : Entry{};
}

/** Writes the file that load() does not need first. If that one is whole, writes the other. */
void save(const std::string& text) {
  const bool isFileNeeded = read(STORED_FILE).has_value();
  const std::string& first = isFileNeeded ? STORED_COPY : STORED_FILE;
  const std::string& second = isFileNeeded ? STORED_FILE : STORED_COPY;
  // If a write fails, the next 200 tries again.
  if (write(first, text + '\n')) write(second, text + '\n');
}

/** The name of the last 200. Empty if there is none, or it cannot be read. */
[[maybe_unused]] std::string storedName() { return load().name; }

/** Whether this name's last 200 is less than 14 days old. Clocks differ by up to a day. */
bool hasRecent200(const std::string& username) {
  const Entry entry = load();
  const long long ageS = std::time(nullptr) - entry.second;
  const bool isRecent = -DAY_S <= ageS && ageS < 14 * DAY_S;
  return entry.name == username && isRecent;
}

/** A request. It lives until the simulator calls back, even if nobody waits for it any more. */
struct Request {
  std::string body;
  FsNetworkHttpRequestParam param = {};
  FsNetworkRequestId id = 0;
  Clock::time_point giveUpAt = Clock::now() + std::chrono::seconds(10);
  bool isOver = false;
  bool isLate = false;
  Result result = Result::NoAnswer;
};

/** The simulator calls back when the request is done. Only then is its status known. */
void onResponse(FsNetworkRequestId id, int code, void* data) {
  const std::unique_ptr<std::shared_ptr<Request>> share(
      static_cast<std::shared_ptr<Request>*>(data));
  Request& request = **share;
  request.isOver = true;
  // The documentation calls both the error code, and says that the first may be 0 or negative.
  const int first = fsNetworkHttpRequestGetErrorCode(id);
  const int status = first > 0 ? first : code;
  if (status == 200) request.result = Result::Active;
  if (status == 499) request.result = Result::Inactive;
  if (status == 400 || status == 405 || status == 413) {
    request.result = Result::Mistake;
    std::fprintf(stderr, "check-username-active: status %d\n", status);
  }
}

/** Writes a name, which is UTF-8, for JSON. */
std::string escape(const std::string& name) {
  std::string json;
  for (const char letter : name) {
    if (static_cast<unsigned char>(letter) < ' ') {
      char code[8];
      std::snprintf(code, sizeof code, "\\u%04x", static_cast<unsigned>(letter) & 0x1f);
      json += code;
    } else {
      if (letter == '"' || letter == '\\') json += '\\';
      json += letter;
    }
  }
  return json;
}

class Asking {
 public:
  Asking(std::function<void()> unlock, std::function<void(Result)> lock)
      : unlock_(std::move(unlock)), lock_(std::move(lock)) {}
  ~Asking() { stop(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /** Asks about this name from now on, and about no other. */
  void ask(std::string username) {
    stop();
    username_ = std::move(username);
    isAsking_ = isNew_ = true;
    pauseS_ = 5;
    askAt_ = Clock::now();
  }

  /** Ends the asking. No callback begins any more. */
  void stop() {
    cancel();
    isAsking_ = false;
  }

  /**
   * Calls unlock at once if this name's last 200 is recent. Asks, and calls unlock or lock when
   * there is a result. While there is no answer, it asks again after a pause. Callbacks must not
   * throw.
   */
  void update() {
    if (!isAsking_ || Clock::now() < askAt_) return;
    // Callbacks are called last, because they may ask anew, and as copies, because they may destroy
    // this object.
    const auto unlock = unlock_;
    const auto lock = lock_;
    if (std::exchange(isNew_, false) && hasRecent200(username_)) return unlock();

    if (!request_) send();
    if (!request_->isOver) {
      if (Clock::now() < request_->giveUpAt) return;
      // After a stall without frames, the callback may come just after this frame, in which other
      // gauges call update(), too: wait 50 ms more.
      if (!std::exchange(request_->isLate, true)) {
        request_->giveUpAt = Clock::now() + std::chrono::milliseconds(50);
        return;
      }
    }
    const Result result = request_->result;
    cancel();
    const bool isActive = result == Result::Active ||
                          (result != Result::Inactive && hasRecent200(username_));
    if (result == Result::Active) save(std::to_string(std::time(nullptr)) + " " + username_);
    if (result == Result::Inactive && load().name == username_) save("");

    isAsking_ = result == Result::NoAnswer;
    const std::chrono::duration<double> pause(pauseS_ *
                                              std::uniform_real_distribution<>(0.5, 1.5)(random_));
    askAt_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
    pauseS_ = std::min(2 * pauseS_, 600);
    isActive ? unlock() : lock(result);
  }

 private:
  void send() {
    request_ = std::make_shared<Request>();
    request_->body =
        "{\"username\":\"" + escape(username_) + "\",\"project_id\":\"" + PROJECT_ID + "\"}";
    request_->param.postField = &request_->body[0];
    // onResponse deletes it. If the simulator never calls back, it is never deleted.
    auto* const share = new std::shared_ptr<Request>(request_);
    // The header spells it so. The documentation writes fsNetworkHttpRequestPOST.
    request_->id = fsNetworkHttpRequestPost(SERVICE.c_str(), &request_->param, onResponse, share);
    if (request_->id != 0 || request_->isOver) return;
    delete share;  // Not sent: the simulator sends three at a time, for all modules together.
    request_->isOver = true;
  }

  void cancel() {
    if (request_ && !request_->isOver) fsNetworkHttpCancelRequest(request_->id);
    request_.reset();
  }

  const std::function<void()> unlock_;
  const std::function<void(Result)> lock_;
  std::string username_;
  std::shared_ptr<Request> request_;
  bool isAsking_ = false;
  bool isNew_ = false;
  int pauseS_ = 5;
  Clock::time_point askAt_;
  std::minstd_rand random_{static_cast<unsigned>(Clock::now().time_since_epoch().count())};
};

}  // namespace
}  // namespace activation
