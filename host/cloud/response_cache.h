// ResponseCache: answers to reads that are young enough for whoever asks next.
//
// A request says how old an answer may be; without an age it never comes here.
// Equal reads at the same time are one call (single flight) if that call began
// within the age. A write to a service drops what is kept of it, and an answer
// to a read that was under way meanwhile is neither kept nor shared.
//
// Bounded in entries and bytes; large answers pass through unkept. Thread-safe;
// one cache for each set of credentials. Waiting ends with the waiting call.
#ifndef OTC_HOST_CLOUD_RESPONSE_CACHE_H_
#define OTC_HOST_CLOUD_RESPONSE_CACHE_H_

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/base/cancellation.h"
#include "otc/plugin/v1/cloud.pb.h"

namespace otc::host::cloud {

class ResponseCache {
 public:
  using Response = plugin::v1::CloudResponse;
  static constexpr std::size_t kMaxEntries = 64;
  static constexpr std::size_t kMaxBytes = 4u << 20;
  static constexpr std::size_t kMaxEntryBytes = 1u << 20;

  enum class Source { kFetched, kStored, kJoined };
  struct Answer {
    Response response;
    Source source = Source::kFetched;
  };

  explicit ResponseCache(Clock& clock) : clock_(clock) {}

  // `key` tells equal requests of `service` apart from others. `fetch` makes the
  // call; it runs on this thread, without a lock. If the call ended while waiting
  // for another's fetch: that status.
  Result<Answer> Get(const std::string& service, const std::string& key, Duration max_age,
                     const CallContext& context, const std::function<Response()>& fetch);

  // Before and after each write to `service`.
  void Drop(const std::string& service);

 private:
  struct Flight {
    MonoTime started;
    std::uint64_t generation = 0;
    int followers = 0;
    bool done = false;
    std::shared_ptr<const Response> response;  // null: nothing to share
  };
  struct Entry {
    std::string service;
    MonoTime fetched;
    std::shared_ptr<const Response> response;
  };

  Answer Fetch(const std::string& service, const std::string& key,
               const std::function<Response()>& fetch, std::unique_lock<std::mutex>& lock);
  void StoreLocked(const std::string& service, const std::string& key, MonoTime fetched,
                   std::shared_ptr<const Response> response);
  void EraseLocked(std::map<std::string, Entry>::iterator entry);

  Clock& clock_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::uint64_t> generations_;  // by service
  std::map<std::string, Entry> entries_;
  std::map<std::string, std::shared_ptr<Flight>> flights_;
  std::size_t bytes_ = 0;
};

}  // namespace otc::host::cloud

#endif  // OTC_HOST_CLOUD_RESPONSE_CACHE_H_
