#include "host/base/cancellation.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>
#include <utility>

namespace otc::host {

std::shared_ptr<Cancellation> Cancellation::Create(const std::shared_ptr<Cancellation>& parent) {
  std::shared_ptr<Cancellation> self(new Cancellation(parent));
  if (parent) {
    std::weak_ptr<Cancellation> weak = self;
    self->parent_registration_ = parent->OnCancel([weak, raw = parent.get()] {
      if (auto child = weak.lock()) {
        const Status status = raw->status();
        child->Cancel(status.reason(), status.message());
      }
    });
  }
  return self;
}

Cancellation::Cancellation(std::shared_ptr<Cancellation> parent)
    : event_fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), parent_(std::move(parent)) {
  if (event_fd_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

Cancellation::~Cancellation() {
  if (parent_) parent_->Remove(parent_registration_);
  close(event_fd_);
}

void Cancellation::Cancel(std::string reason, std::string message) {
  std::map<std::uint64_t, std::function<void()>> callbacks;
  if (cancelled()) return;  // also a callback that raises the flag once more
  // Before mutex_: callbacks take their owners' locks, and owners ask for the
  // status under those.
  std::lock_guard running(running_);
  {
    std::lock_guard lock(mutex_);
    if (cancelled_.load(std::memory_order_relaxed)) return;
    reason_ = std::move(reason);
    message_ = std::move(message);
    cancelled_.store(true, std::memory_order_release);
    const std::uint64_t one = 1;
    if (write(event_fd_, &one, sizeof(one)) != sizeof(one)) {
      // The counter cannot overflow: it is written once.
    }
    callbacks.swap(callbacks_);
  }
  runner_.store(std::this_thread::get_id(), std::memory_order_release);
  for (auto& [id, callback] : callbacks) callback();
  runner_.store(std::thread::id(), std::memory_order_release);
}

Status Cancellation::status() const {
  if (!cancelled()) return Status::Ok();
  std::lock_guard lock(mutex_);
  return Status(Code::kCancelled, reason_, message_.empty() ? "cancelled" : message_);
}

std::uint64_t Cancellation::OnCancel(std::function<void()> callback) {
  {
    std::lock_guard lock(mutex_);
    if (!cancelled_.load(std::memory_order_relaxed)) {
      const std::uint64_t id = next_id_++;
      callbacks_.emplace(id, std::move(callback));
      return id;
    }
  }
  callback();
  return 0;
}

void Cancellation::Remove(std::uint64_t id) {
  {
    std::lock_guard lock(mutex_);
    if (callbacks_.erase(id) != 0 || id == 0) return;
  }
  // Already taken for running: wait until that round is over, unless this very
  // thread runs it (a callback that drops the last reference of a child).
  if (runner_.load(std::memory_order_acquire) == std::this_thread::get_id()) return;
  std::lock_guard wait(running_);
}

Status CallContext::Check() const {
  if (cancellation && cancellation->cancelled()) return cancellation->status();
  if (deadline != MonoTime::max() && clock->Now() >= deadline) {
    return Status(Code::kDeadlineExceeded, "DeadlineExceeded", "the deadline has passed");
  }
  return Status::Ok();
}

CallContext CallContext::WithTimeout(Duration timeout) const {
  CallContext child = *this;
  child.deadline = std::min(deadline, clock->Now() + timeout);
  return child;
}

Status CallContext::SleepUntil(MonoTime until) const {
  // Shared with the callback: the callback may still run while this returns.
  struct Waiter {
    std::mutex mutex;
    std::condition_variable cv;
  };
  auto waiter = std::make_shared<Waiter>();
  std::uint64_t registration = 0;
  if (cancellation) {
    registration = cancellation->OnCancel([waiter] {
      std::lock_guard lock(waiter->mutex);
      waiter->cv.notify_all();
    });
  }
  {
    std::unique_lock lock(waiter->mutex);
    while (Check().ok() && clock->Now() < until) {
      clock->WaitUntil(waiter->cv, lock, std::min(until, deadline));
    }
  }
  if (cancellation) cancellation->Remove(registration);
  return Check();
}

}  // namespace otc::host
