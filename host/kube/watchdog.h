// Watchdog: calls back once when it was not fed for a while. Has a thread of its
// own, from construction to destruction; for short phases only.
#ifndef OTC_HOST_KUBE_WATCHDOG_H_
#define OTC_HOST_KUBE_WATCHDOG_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "host/base/clock.h"

namespace otc::host::kube {

class Watchdog {
 public:
  // `bark` runs on the watchdog's thread.
  Watchdog(Clock& clock, Duration patience, std::function<void()> bark);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  void Feed();
  // No bark from now on, unless it already runs.
  void Disarm();
  bool barked() const;

 private:
  void Run();

  Clock& clock_;
  const Duration patience_;
  const std::function<void()> bark_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  MonoTime fed_;
  bool disarmed_ = false;
  bool barked_ = false;
  std::thread thread_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_WATCHDOG_H_
