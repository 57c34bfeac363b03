// Asks whether a user has an active key, from a WASM gauge of Microsoft Flight Simulator 2020.
// C++17. Copy it whole, above the code of your gauge, and change SERVICE and PROJECT_ID. Then:
//
//   void showGauge() { … }
//   void showActivation(activation::Result result) { … }
//   static activation::Asking asking(showGauge, showActivation);
//   asking.ask("CaptainKirin#0417");  // At each start, and again after an activation.
//   asking.update();                  // Each frame.
//
// Have one Asking for a product. For a second product in the same module, copy the file again and
// give the namespace another name. Microsoft Flight Simulator 2024 has another storage: see
// Storage.
#include <MSFS/MSFS_Network.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>

namespace activation {

inline const std::string SERVICE = "https://<ref>.supabase.co/functions/v1/check-username-active";
inline const std::string PROJECT_ID = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

inline constexpr long long GRACE_S = 14 * 24 * 60 * 60;
using Clock = std::chrono::steady_clock;

enum class Result { Active, Inactive, Mistake, NoAnswer };

/**
 * The product's file: the second of the last 200, a space, and the name. In 2024, files are in
 * /work/, and the IO API calls back: begin to read in load(), and let isLoaded() be true once the
 * text is there or cannot be read.
 */
class Storage {
 public:
  void load() {
    text_.clear();
    FILE* const file = std::fopen(path_.c_str(), "rb");
    if (!file) return;
    char bytes[2048];
    text_.assign(bytes, std::fread(bytes, 1, sizeof bytes, file));
    std::fclose(file);
  }

  bool isLoaded() const { return true; }

  void save(std::string text) {
    text_ = std::move(text);
    FILE* const file = std::fopen(path_.c_str(), "wb");
    if (!file) return;  // The next 200 tries again.
    std::fwrite(text_.data(), 1, text_.size(), file);
    std::fclose(file);
  }

  /** The second of this name's last 200, or -1 if there is none. */
  long long seconds(const std::string& username) const {
    char* end = nullptr;
    const long long second = std::strtoll(text_.c_str(), &end, 10);
    return end == " " + username ? second : -1;
  }

 private:
  const std::string path_ = "\\work\\check-username-active." + PROJECT_ID;  // This folder is kept.
  std::string text_;
};

/** A request, and what came of it. It lives until the simulator calls back, even if nobody waits.
 */
struct Request {
  std::string body;
  FsNetworkHttpRequestParam param = {};
  FsNetworkRequestId id = 0;
  Clock::time_point giveUpAt = Clock::now() + std::chrono::seconds(10);
  bool isOver = false;
  Result result = Result::NoAnswer;
};

/** The simulator calls back when the request is done. Only then is its status known. */
inline void onResponse(FsNetworkRequestId id, int, void* data) {
  const std::unique_ptr<std::shared_ptr<Request>> share(
      static_cast<std::shared_ptr<Request>*>(data));
  Request& request = **share;
  request.isOver = true;
  if (share->use_count() == 1 || Clock::now() >= request.giveUpAt) return;  // Nobody waits.
  // The HTTP status, as other projects have it; the documentation says "error code" only.
  const int status = fsNetworkHttpRequestGetErrorCode(id);
  if (status == 200) request.result = Result::Active;
  if (status == 499) request.result = Result::Inactive;
  if (status == 400 || status == 405 || status == 413) {
    request.result = Result::Mistake;
    std::fprintf(stderr, "check-username-active: status %d\n", status);
  }
}

/** Writes a name, which is UTF-8, for JSON. */
inline std::string escape(const std::string& name) {
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
  ~Asking() { cancel(); }
  Asking(const Asking&) = delete;
  Asking& operator=(const Asking&) = delete;

  /** Asks about this name from now on, and about no other. Reads what is stored. */
  void ask(std::string username) {
    cancel();
    username_ = std::move(username);
    isAsking_ = true;
    pauseS_ = 5;
    askAt_ = Clock::now();
    storage_.load();
  }

  /** Calls unlock or lock when there is a result. While there is no answer, asks again after a
   * pause. */
  void update() {
    if (!isAsking_ || Clock::now() < askAt_ || !storage_.isLoaded()) return;
    if (!request_) send();
    if (!request_->isOver && Clock::now() < request_->giveUpAt) return;
    const Result result = request_->result;
    cancel();

    const long long nowS = std::time(nullptr);
    const long long storedS = storage_.seconds(username_);
    if (result == Result::Active) storage_.save(std::to_string(nowS) + " " + username_);
    if (result == Result::Inactive && storedS >= 0) storage_.save("");
    const bool isRecent = storedS >= 0 && storedS <= nowS && nowS < storedS + GRACE_S;

    isAsking_ = result == Result::NoAnswer;
    const std::chrono::duration<double> pause(pauseS_ *
                                              std::uniform_real_distribution<>(0.5, 1.5)(random_));
    askAt_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
    pauseS_ = std::min(2 * pauseS_, 600);

    // Last, because a callback may ask anew, and a copy, because it may destroy this.
    const auto unlock = unlock_;
    const auto lock = lock_;
    if (result == Result::Active || (result != Result::Inactive && isRecent)) {
      unlock();
    } else {
      lock(result);
    }
  }

 private:
  void send() {
    request_ = std::make_shared<Request>();
    request_->body =
        "{\"username\":\"" + escape(username_) + "\",\"project_id\":\"" + PROJECT_ID + "\"}";
    request_->param.postField = &request_->body[0];
    auto* const share = new std::shared_ptr<Request>(request_);
    // The header spells it so. The documentation writes fsNetworkHttpRequestPOST.
    request_->id = fsNetworkHttpRequestPost(SERVICE.c_str(), &request_->param, onResponse, share);
    if (request_->id != 0) return;
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
  Storage storage_;
  std::shared_ptr<Request> request_;
  bool isAsking_ = false;
  int pauseS_ = 5;
  Clock::time_point askAt_;
  std::minstd_rand random_{static_cast<unsigned>(Clock::now().time_since_epoch().count())};
};

}  // namespace activation
