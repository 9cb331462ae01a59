// Candidates for one Lease, on a fake API server and a fake clock.
#ifndef OTC_HOST_ELECTION_TESTING_ELECTION_FIXTURE_H_
#define OTC_HOST_ELECTION_TESTING_ELECTION_FIXTURE_H_

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "host/base/fake_clock.h"
#include "host/election/leader_elector.h"
#include "host/kube/testing/fake_event_recorder.h"
#include "host/kube/testing/fake_kube_api.h"
#include "host/kube/testing/forwarding_kube_api.h"

namespace otc::host {

inline constexpr char kElectionNamespace[] = "kube-system";
inline constexpr char kElectionLease[] = "cloud-controller-manager";

// One candidate with all it needs but the API server and the clock.
class Candidate {
 public:
  Candidate(kube::KubeApi& api, FakeClock& clock, const std::string& identity,
            ElectionOptions options = {})
      : clock_(clock) {
    options.identity = identity;
    ElectionCallbacks callbacks;
    callbacks.on_started_leading = [this] { ++started_; };
    callbacks.on_lost = [this](const Status& why) {
      lost_at_ = clock_.Now().time_since_epoch();
      {
        std::lock_guard lock(mutex_);
        why_ = why;
      }
      ++lost_;
    };
    elector_ = std::make_unique<LeaderElector>(
        ElectionDeps{api, events_, clock, random_, log_, metrics_}, options, callbacks);
  }

  LeaderElector& operator*() { return *elector_; }
  LeaderElector* operator->() { return elector_.get(); }
  bool Leads() { return elector_->IsLeader(); }
  double MasterStatus() {
    return metrics_.Sum("leader_election_master_status", {{"name", kElectionLease}});
  }
  Status Why() {
    std::lock_guard lock(mutex_);
    return why_;
  }
  MonoTime LostAt() const { return MonoTime(lost_at_.load()); }

  std::atomic<int> started_{0};
  std::atomic<int> lost_{0};
  kube::FakeEventRecorder events_;
  Metrics metrics_;

 private:
  FakeClock& clock_;
  FixedRandom random_;
  MemoryLog log_;
  std::atomic<Duration> lost_at_{Duration::zero()};
  std::mutex mutex_;
  Status why_;
  std::unique_ptr<LeaderElector> elector_;
};

class ElectionFixture : public ::testing::Test {
 protected:
  CallContext Context() {
    CallContext context;
    context.clock = &clock_;
    return context;
  }
  kube::Lease Stored() {
    return api_.GetLease(kElectionNamespace, kElectionLease, Context()).value();
  }
  // A Lease of somebody who renews it no more.
  void PutForeignLease(std::int32_t duration_seconds, Duration clock_offset = Duration::zero()) {
    kube::Lease lease;
    lease.meta.namespace_ = kElectionNamespace;
    lease.meta.name = kElectionLease;
    lease.holder = "somebody";
    lease.duration_seconds = duration_seconds;
    lease.acquire_time = lease.renew_time = FormatMicroTime(clock_.Wall() + clock_offset);
    lease.transitions = 7;
    ASSERT_TRUE(api_.CreateLease(lease, Context()).ok());
  }
  bool RunUntil(const std::function<bool()>& condition, Duration step) {
    for (int i = 0; i < 5'000; ++i) {
      if (condition()) return true;
      clock_.Advance(step);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  }
  // Lets `time` pass in steps in which the threads keep up.
  void Run(Duration time, Duration step = std::chrono::milliseconds(250)) {
    for (Duration passed{}; passed < time; passed += step) {
      clock_.Advance(step);
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  }
  bool Lead(Candidate& candidate) {
    EXPECT_TRUE(candidate->Start().ok());
    return RunUntil([&] { return candidate.started_ == 1; }, std::chrono::milliseconds(100));
  }

  FakeClock clock_;
  kube::FakeKubeApi api_;
};

// Renewals that hang: until their context ends, or until the test says so.
class HangingApi final : public kube::ForwardingKubeApi {
 public:
  using ForwardingKubeApi::ForwardingKubeApi;

  Result<kube::Lease> UpdateLease(const kube::Lease& lease, const CallContext& context) override {
    if (deaf) {  // a thread that nothing wakes (SIGSTOP, a stuck kernel call)
      inside = true;
      while (deaf) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (hang.exchange(false)) {
      time_allowed = context.deadline - context.clock->Now();
      return context.SleepUntil(MonoTime::max());
    }
    return ForwardingKubeApi::UpdateLease(lease, context);
  }

  std::atomic<bool> hang{false};
  std::atomic<bool> deaf{false};
  std::atomic<bool> inside{false};
  std::atomic<Duration> time_allowed{Duration::zero()};
};

// Processes that die release nothing.
inline ElectionOptions Mortal() {
  ElectionOptions options;
  options.release_on_exit = false;
  return options;
}

}  // namespace otc::host

#endif  // OTC_HOST_ELECTION_TESTING_ELECTION_FIXTURE_H_
