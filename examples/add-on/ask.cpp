// Asks once, with libcurl and nlohmann/json. A plugin calls curl_global_init(CURL_GLOBAL_DEFAULT)
// once, before it starts a thread. On Linux and macOS, compile it with -fvisibility=hidden, because
// another plugin may have an `ask`, too.
#include <atomic>
#include <string>

#include <signal.h>

#include <curl/curl.h>
#include <nlohmann/json.hpp>

// Arrays of char. libcurl would take the address of a std::string for text, without a warning, and
// `ask` would return 0 for ever.
constexpr char SERVICE[] = "https://<ref>.supabase.co/functions/v1/check-username-active";
constexpr char PROJECT_ID[] = "6f3b1d52-8c4e-4f0a-9b7d-2e5a1c90d3f4";

// A plugin that stops sets this to true, and joins the thread that asks: `ask` then ends within a
// second or, while DNS is silent, when the resolver gives up. One that starts sets this to false.
std::atomic<bool> isUnloading{false};

static size_t onBody(char*, size_t, size_t, void*) { return 0; }  // Ends the transfer at the body.
static int onProgress(void*, curl_off_t, curl_off_t, curl_off_t, curl_off_t) { return isUnloading; }

// Returns the status of the response, or 0 if there is none, or if username is not UTF-8. Takes up
// to 10 s, or longer where DNS is silent, so call it in a thread of its own, and act on the result
// in the flight loop. On Windows, convert the name to UTF-8 first, with WideCharToMultiByte and
// CP_UTF8, and use a libcurl that was built with Schannel: another one finds no certificates.
long ask(const std::string& username) {
  std::string body;
  try {
    body = nlohmann::json{{"username", username}, {"project_id", PROJECT_ID}}.dump();
  } catch (const nlohmann::json::exception&) {
    return 0;
  }
#ifndef _WIN32
  // Before version 7.88 or so, libcurl with OpenSSL lets a connection that breaks off raise
  // SIGPIPE, which would end the simulator. The signal stays blocked in this thread, because
  // unblocking it at the end would deliver one that has come in the meantime.
  sigset_t brokenPipe;
  sigemptyset(&brokenPipe);
  sigaddset(&brokenPipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &brokenPipe, nullptr);
#endif
  CURL* curl = curl_easy_init();
  if (!curl) return 0;
  curl_slist* headers = curl_slist_append(nullptr, "Content-Type: application/json");
  curl_easy_setopt(curl, CURLOPT_URL, SERVICE);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "check-username-active");  // Some proxies demand one.
  // For Windows' Schannel, which would otherwise fail wherever revocation lists cannot be reached.
  curl_easy_setopt(curl, CURLOPT_SSL_OPTIONS, static_cast<long>(CURLSSLOPT_REVOKE_BEST_EFFORT));
  curl_easy_setopt(curl, CURLOPT_TIMEOUT, 10L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, onBody);
  curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, onProgress);
  curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  curl_slist_free_all(headers);
  curl_easy_cleanup(curl);
  return status;
}
