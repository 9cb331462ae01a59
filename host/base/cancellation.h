// Cancellation and CallContext: how long a call may take and who may end it.
//
// A Cancellation is a flag that any thread may raise once; it never goes back.
// Whoever blocks waits on {its descriptor, fd()} with poll, so raising the flag
// wakes it without touching its socket. Children are raised with their parent,
// not the other way round.
//
// Thread-safe. Shared ownership: the caller, the call and everything started on
// its behalf hold it.
#ifndef OTC_HOST_BASE_CANCELLATION_H_
#define OTC_HOST_BASE_CANCELLATION_H_

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

class Cancellation : public std::enable_shared_from_this<Cancellation> {
 public:
  static std::shared_ptr<Cancellation> Create(
      const std::shared_ptr<Cancellation>& parent = nullptr);
  ~Cancellation();
  Cancellation(const Cancellation&) = delete;
  Cancellation& operator=(const Cancellation&) = delete;

  // Raises the flag; the first call wins. `reason` is a stable word such as
  // "Quiescing", "LeaseLost", "ClientGone".
  void Cancel(std::string reason, std::string message = "");

  bool cancelled() const { return cancelled_.load(std::memory_order_acquire); }
  // CANCELLED with the reason, or OK while not raised.
  Status status() const;
  // An eventfd that becomes readable when the flag is raised and stays so.
  int fd() const { return event_fd_; }

  // Runs `callback` once when the flag is raised (at once if it already is), on
  // the raising thread. The returned id ends the registration; after Remove
  // returned, the callback neither runs nor will run.
  std::uint64_t OnCancel(std::function<void()> callback);
  void Remove(std::uint64_t id);

 private:
  explicit Cancellation(std::shared_ptr<Cancellation> parent);

  std::atomic<bool> cancelled_{false};
  int event_fd_;
  std::shared_ptr<Cancellation> parent_;
  std::uint64_t parent_registration_ = 0;
  mutable std::mutex mutex_;  // guards all below
  std::mutex running_;        // held while callbacks run, by the thread runner_
  std::atomic<std::thread::id> runner_{};
  std::string reason_;
  std::string message_;
  std::uint64_t next_id_ = 1;
  std::map<std::uint64_t, std::function<void()>> callbacks_;
};

// What a blocking call is given. Cheap to copy.
struct CallContext {
  Clock* clock = nullptr;                      // never null in use
  MonoTime deadline = MonoTime::max();         // of `clock`
  std::shared_ptr<Cancellation> cancellation;  // may be null: not cancellable
  std::string request_id;                      // for logs; may be empty
  std::string traceparent;                     // W3C text or empty

  // OK, CANCELLED (with the cancellation's reason) or DEADLINE_EXCEEDED.
  Status Check() const;
  // The same call with an earlier deadline.
  CallContext WithTimeout(Duration timeout) const;
  // Sleeps until `until`, the deadline or the cancellation; what Check says then.
  Status SleepUntil(MonoTime until) const;
};

}  // namespace otc::host

#endif  // OTC_HOST_BASE_CANCELLATION_H_
