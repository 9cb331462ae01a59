#include "host/election/leader_elector.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "host/base/fake_clock.h"
#include "host/kube/json_codec.h"
#include "host/kube/testing/fake_event_recorder.h"
#include "host/kube/testing/fake_kube_api.h"
#include "host/kube/testing/forwarding_kube_api.h"

namespace otc::host {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr char kNamespace[] = "kube-system";
constexpr char kName[] = "cloud-controller-manager";

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
  double Status1() { return metrics_.Sum("leader_election_master_status", {{"name", kName}}); }
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

class Election : public ::testing::Test {
 protected:
  CallContext Context() {
    CallContext context;
    context.clock = &clock_;
    return context;
  }
  kube::Lease Stored() { return api_.GetLease(kNamespace, kName, Context()).value(); }
  // A Lease of somebody who renews it no more.
  void PutForeignLease(std::int32_t duration_seconds, Duration clock_offset = Duration::zero()) {
    kube::Lease lease;
    lease.meta.namespace_ = kNamespace;
    lease.meta.name = kName;
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
      std::this_thread::sleep_for(milliseconds(1));
    }
    return condition();
  }
  // Lets `time` pass in steps in which the threads keep up.
  void Run(Duration time, Duration step = milliseconds(250)) {
    for (Duration passed{}; passed < time; passed += step) {
      clock_.Advance(step);
      std::this_thread::sleep_for(milliseconds(2));
    }
  }
  bool Lead(Candidate& candidate) {
    EXPECT_TRUE(candidate->Start().ok());
    return RunUntil([&] { return candidate.started_ == 1; }, milliseconds(100));
  }

  FakeClock clock_;
  kube::FakeKubeApi api_;
};

TEST_F(Election, E01_CreatesTheLeaseAndOnlyThenLeads) {
  Candidate a(api_, clock_, "me");
  bool led_before = false;
  api_.OnCall([&](const kube::RecordedCall& call) {
    if (call.method == "CreateLease") led_before = a.Leads() || a.started_ > 0;
  });
  EXPECT_FALSE(a->gate().Admit().ok());
  ASSERT_TRUE(Lead(a));
  EXPECT_FALSE(led_before);
  const auto creates = api_.Calls("CreateLease");
  ASSERT_EQ(creates.size(), 1U);
  const kube::Lease lease = kube::LeaseFromJson(creates[0].body).value();
  EXPECT_EQ(lease.holder, "me");
  EXPECT_EQ(lease.duration_seconds, 15);
  EXPECT_EQ(lease.acquire_time, lease.renew_time);
  EXPECT_EQ(lease.transitions, 0);
  EXPECT_TRUE(a->gate().Admit().ok());
}

TEST_F(Election, E02_TimesHaveExactlySixDigits) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  const kube::Lease lease = Stored();
  for (const std::string& time : {lease.acquire_time, lease.renew_time}) {
    ASSERT_EQ(time.size(), std::string("2026-01-01T00:00:00.000000Z").size()) << time;
    EXPECT_EQ(time[19], '.');
    EXPECT_EQ(time.back(), 'Z');
  }
}

TEST_F(Election, E03_SteadyStateIsOnePutEveryTwoSeconds) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  const kube::Lease before = Stored();
  api_.ClearCalls();
  Run(seconds(60));
  const auto puts = api_.Calls("UpdateLease").size();
  EXPECT_GE(puts, 27U);
  EXPECT_LE(puts, 30U);
  EXPECT_TRUE(api_.Calls("GetLease").empty());
  const kube::Lease after = Stored();
  EXPECT_EQ(after.acquire_time, before.acquire_time);
  EXPECT_EQ(after.transitions, before.transitions);
  EXPECT_NE(after.renew_time, before.renew_time);
}

TEST_F(Election, E04_ConflictReadsTheLeaseAndKeepsLeading) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  // Somebody annotates the Lease: its resourceVersion changes, not its holder.
  kube::Lease lease = Stored();
  ASSERT_TRUE(api_.UpdateLease(lease, Context()).ok());
  api_.ClearCalls();
  Run(seconds(30));
  EXPECT_EQ(a.lost_, 0);
  EXPECT_TRUE(a.Leads());
  EXPECT_EQ(api_.Calls("GetLease").size(), 1U);
  EXPECT_EQ(a.metrics_.Sum("leader_election_slowpath_total"), 1);
}

TEST_F(Election, E05_E07_AForeignLeaseMustRestForItsWholeDuration) {
  PutForeignLease(15, -hours(1));  // dead for an hour; we cannot know
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(a->Start().ok());
  ASSERT_TRUE(RunUntil([&] { return a->Holder() == "somebody"; }, Duration::zero()));
  const MonoTime seen = clock_.Now();
  ASSERT_TRUE(RunUntil([&] { return a.started_ == 1; }, milliseconds(100)));
  EXPECT_GE(clock_.Now() - seen, seconds(15));
  EXPECT_LE(clock_.Now() - seen, seconds(20));
  const kube::Lease lease = Stored();
  EXPECT_EQ(lease.holder, "me");
  EXPECT_EQ(lease.transitions, 8);
  EXPECT_EQ(lease.acquire_time, lease.renew_time);
}

TEST_F(Election, E05_AFreshLeaseIsLeftAlone) {
  PutForeignLease(15);
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(a->Start().ok());
  for (int i = 0; i < 20; ++i) {
    Run(seconds(5));
    kube::Lease lease = Stored();
    ASSERT_EQ(lease.holder, "somebody");
    lease.renew_time = FormatMicroTime(clock_.Wall());
    ASSERT_TRUE(api_.UpdateLease(lease, Context()).ok());
  }
  EXPECT_EQ(a.started_, 0);
  EXPECT_EQ(a.Status1(), 0);
  EXPECT_FALSE(a->gate().Admit().ok());
}

TEST_F(Election, E06_TheHoldersClockDoesNotMatter) {
  for (const Duration offset : {Duration(-minutes(10)), Duration(minutes(10))}) {
    kube::FakeKubeApi api;
    kube::Lease lease;
    lease.meta.namespace_ = kNamespace;
    lease.meta.name = kName;
    lease.holder = "somebody";
    lease.duration_seconds = 15;
    lease.acquire_time = lease.renew_time = FormatMicroTime(clock_.Wall() + offset);
    ASSERT_TRUE(api.CreateLease(lease, Context()).ok());
    Candidate a(api, clock_, "me");
    ASSERT_TRUE(a->Start().ok());
    ASSERT_TRUE(RunUntil([&] { return a->Holder() == "somebody"; }, Duration::zero()));
    const MonoTime seen = clock_.Now();
    ASSERT_TRUE(RunUntil([&] { return a.started_ == 1; }, milliseconds(100)));
    EXPECT_GE(clock_.Now() - seen, seconds(15));
    EXPECT_LE(clock_.Now() - seen, seconds(20));
  }
}

TEST_F(Election, E08_AnEmptyHolderIsTakenAtOnce) {
  PutForeignLease(15);
  kube::Lease lease = Stored();
  lease.holder.clear();
  ASSERT_TRUE(api_.UpdateLease(lease, Context()).ok());
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(a->Start().ok());
  EXPECT_TRUE(RunUntil([&] { return a.started_ == 1; }, Duration::zero()));
  EXPECT_EQ(Stored().transitions, 8);
}

TEST_F(Election, E09_TheDurationInTheRecordCounts) {
  PutForeignLease(60);
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(a->Start().ok());
  ASSERT_TRUE(RunUntil([&] { return a->Holder() == "somebody"; }, Duration::zero()));
  const MonoTime seen = clock_.Now();
  ASSERT_TRUE(RunUntil([&] { return a.started_ == 1; }, milliseconds(200)));
  EXPECT_GE(clock_.Now() - seen, seconds(60));
  EXPECT_LE(clock_.Now() - seen, seconds(66));
}

TEST_F(Election, E10_LeadershipEndsTwelveSecondsAfterTheLastSuccess) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  std::atomic<Duration> last_success{clock_.Now().time_since_epoch()};
  Run(seconds(20), milliseconds(100));
  last_success = clock_.Now().time_since_epoch();
  api_.FailNext("UpdateLease", Status(Code::kUnavailable, "InternalError", "500"), 1'000);
  api_.FailNext("GetLease", Status(Code::kDeadlineExceeded, "Timeout", "no answer"), 1'000);
  ASSERT_TRUE(RunUntil([&] { return a.lost_ > 0; }, milliseconds(50)));
  const Duration after = a.LostAt() - MonoTime(last_success.load());
  EXPECT_GE(after, seconds(9));  // the last success is up to 2.1 s older
  EXPECT_LE(after, seconds(12));
  EXPECT_FALSE(a->gate().Admit().ok());
  EXPECT_EQ(a->gate().Admit().status().reason(), "LeaseLost");
  EXPECT_EQ(a.Status1(), 0);
  EXPECT_FALSE(a.Leads());
  Run(seconds(30));
  EXPECT_EQ(a.lost_, 1) << "stepping down happens once";
}

// Renewals that hang: until their context ends, or until the test says so.
class HangingApi final : public kube::ForwardingKubeApi {
 public:
  using ForwardingKubeApi::ForwardingKubeApi;

  Result<kube::Lease> UpdateLease(const kube::Lease& lease, const CallContext& context) override {
    if (deaf) {  // a thread that nothing wakes (SIGSTOP, a stuck kernel call)
      inside = true;
      while (deaf) std::this_thread::sleep_for(milliseconds(1));
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

TEST_F(Election, E11_AHangingRequestIsAbortedAfterFiveSeconds) {
  HangingApi hanging(api_);
  Candidate a(hanging, clock_, "me");
  ASSERT_TRUE(Lead(a));
  hanging.hang = true;
  Run(seconds(60));
  EXPECT_FALSE(hanging.hang);
  EXPECT_EQ(hanging.time_allowed.load(), seconds(5));
  EXPECT_EQ(a.lost_, 0);
  EXPECT_TRUE(a.Leads());
}

// Processes that die release nothing.
ElectionOptions Mortal() {
  ElectionOptions options;
  options.release_on_exit = false;
  return options;
}

TEST_F(Election, E13_AnotherLeadsWithin25SecondsAfterAKill) {
  auto a = std::make_unique<Candidate>(api_, clock_, "a", Mortal());
  Candidate b(api_, clock_, "b");
  ASSERT_TRUE(Lead(*a));
  ASSERT_TRUE(b->Start().ok());
  Run(seconds(20));
  EXPECT_EQ(b.started_, 0);
  const MonoTime killed = clock_.Now();
  a.reset();
  EXPECT_EQ(Stored().holder, "a");
  ASSERT_TRUE(RunUntil([&] { return b.started_ == 1; }, milliseconds(100)));
  EXPECT_GE(clock_.Now() - killed, seconds(11));
  EXPECT_LE(clock_.Now() - killed, seconds(25));
  EXPECT_EQ(Stored().transitions, 1);
}

// Whatever fails and whoever dies: never may two write at the same time.
TEST_F(Election, E13_NeverTwoMayWriteUnderRandomFaults) {
  for (unsigned seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    kube::FakeKubeApi api;
    std::vector<std::unique_ptr<Candidate>> candidates(3);
    int started = 0;
    int wrote = 0;
    for (int step = 0; step < 600; ++step) {
      int may_write = 0;
      for (auto& candidate : candidates) {
        if (candidate && (*candidate)->gate().Admit().ok()) ++may_write;
      }
      ASSERT_LE(may_write, 1) << "step " << step;
      wrote += may_write;
      auto& chosen = candidates[random() % candidates.size()];
      switch (random() % 40) {
        case 0:
          chosen.reset();
          break;
        case 1:
        case 2:
          if (!chosen || chosen->lost_ > 0) {
            chosen = std::make_unique<Candidate>(api, clock_, "c" + std::to_string(++started),
                                                 random() % 2 == 0 ? Mortal() : ElectionOptions{});
            ASSERT_TRUE((*chosen)->Start().ok());
          }
          break;
        case 3:
          api.FailNext("UpdateLease", Status(Code::kUnavailable, "Reset", ""), 1 + random() % 8);
          break;
        case 4:
          api.LoseReplies("UpdateLease", Status(Code::kDeadlineExceeded, "Timeout", ""),
                          1 + random() % 3);
          break;
        case 5:
          api.FailNext("GetLease", Status(Code::kUnavailable, "Reset", ""), 1 + random() % 4);
          break;
        case 6:
          clock_.Advance(seconds(random() % 30));  // a suspended machine
          break;
        case 7:
          clock_.StepWall(seconds(static_cast<int>(random() % 7'200) - 3'600));
          break;
        default:
          clock_.Advance(milliseconds(random() % 1'000));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(300));
    }
    EXPECT_GT(wrote, 20) << "the test must have seen leaders";
  }
}

TEST_F(Election, E14_ReleasedLeaseIsTakenWithinFiveSeconds) {
  auto a = std::make_unique<Candidate>(api_, clock_, "a");
  Candidate b(api_, clock_, "b");
  ASSERT_TRUE(Lead(*a));
  ASSERT_TRUE(b->Start().ok());
  Run(seconds(20));
  const MonoTime stopped = clock_.Now();
  (*a)->Stop();
  const kube::Lease lease = Stored();
  EXPECT_EQ(lease.holder, "");
  EXPECT_EQ(lease.duration_seconds, 1);
  EXPECT_EQ(lease.transitions, 0);
  EXPECT_EQ(lease.acquire_time, lease.renew_time);
  EXPECT_EQ(a->lost_, 0) << "a clean stop is no loss";
  EXPECT_FALSE((*a)->gate().Admit().ok());
  ASSERT_TRUE(RunUntil([&] { return b.started_ == 1; }, milliseconds(100)));
  EXPECT_LE(clock_.Now() - stopped, seconds(5));
}

TEST_F(Election, E14_ReleaseIsRetriedAfterAConflictAndOnlyIfStillOurs) {
  Candidate a(api_, clock_, "a");
  ASSERT_TRUE(Lead(a));
  api_.FailNext("UpdateLease", Status(Code::kAborted, "Conflict", "409"), 2);
  a->Stop();
  EXPECT_EQ(Stored().holder, "");

  Candidate b(api_, clock_, "b");
  ASSERT_TRUE(Lead(b));
  kube::Lease taken = Stored();
  taken.holder = "thief";
  ASSERT_TRUE(api_.UpdateLease(taken, Context()).ok());
  b->Stop();
  EXPECT_EQ(Stored().holder, "thief");
}

TEST_F(Election, E15_ForbiddenLeasesLeaveAHealthyStandby) {
  api_.FailNext("GetLease", Status(Code::kPermissionDenied, "Forbidden", "may not get"), 10);
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(a->Start().ok());
  ASSERT_TRUE(RunUntil([&] { return api_.Calls("GetLease").size() >= 5; }, milliseconds(200)));
  EXPECT_EQ(a.started_, 0);
  EXPECT_EQ(a.lost_, 0);
  EXPECT_TRUE(a->Health().ok());
  EXPECT_TRUE(RunUntil([&] { return a.started_ == 1; }, milliseconds(200)));
}

TEST_F(Election, E16_HealthFailsOnlyForAHolderThatCannotSeeItsLease) {
  Candidate standby(api_, clock_, "standby");
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  ASSERT_TRUE(standby->Start().ok());
  ASSERT_TRUE(RunUntil([&] { return standby->Holder() == "me"; }, milliseconds(100)));
  Run(seconds(10));
  EXPECT_TRUE(a->Health().ok());
  const Status down(Code::kUnavailable, "Down", "no API server");
  for (const char* method : {"UpdateLease", "GetLease"}) api_.FailNext(method, down, 10'000);
  Run(seconds(33), milliseconds(500));
  EXPECT_TRUE(a->Health().ok());
  Run(seconds(10), milliseconds(500));
  EXPECT_FALSE(a->Health().ok());
  EXPECT_TRUE(standby->Health().ok());
}

TEST_F(Election, E17_EventsAndMetrics) {
  Candidate a(api_, clock_, "me");
  EXPECT_EQ(a.Status1(), 0);
  EXPECT_NE(a.metrics_.Render().find(
                "leader_election_master_status{name=\"cloud-controller-manager\"} 0"),
            std::string::npos);
  ASSERT_TRUE(Lead(a));
  EXPECT_EQ(a.Status1(), 1);
  a->Stop();
  EXPECT_EQ(a.Status1(), 0);
  const auto events = a.events_.Events();
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0].message, "me became leader");
  EXPECT_EQ(events[1].message, "me stopped leading");
  for (const auto& event : events) {
    EXPECT_EQ(event.reason, "LeaderElection");
    EXPECT_EQ(event.component, "cloud-controller-manager");
    EXPECT_EQ(event.type, kube::EventType::kNormal);
    EXPECT_EQ(event.about.kind, "Lease");
    EXPECT_EQ(event.about.api_version, "coordination.k8s.io/v1");
    EXPECT_EQ(event.about.namespace_, "kube-system");
    EXPECT_EQ(event.about.name, "cloud-controller-manager");
    EXPECT_EQ(event.about.uid, Stored().meta.uid);
  }
}

TEST_F(Election, E19_BadSettingsAreRefusedAllAtOnce) {
  ElectionOptions bad;
  bad.lease_duration = seconds(10);
  bad.renew_deadline = seconds(10);
  bad.retry_period = seconds(9);
  bad.resource_lock = "endpoints";
  Candidate a(api_, clock_, "me", bad);
  const Status status = a->Start();
  ASSERT_EQ(status.code(), Code::kInvalidArgument);
  for (const char* part :
       {"--leader-elect-lease-duration=10s must be longer than --leader-elect-renew-deadline=10s",
        "--leader-elect-renew-deadline=10s must be longer than 1.2 times",
        "--leader-elect-resource-lock=endpoints is not supported"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << part << "\n" << status.message();
  }
  EXPECT_TRUE(api_.Calls().empty());
}

TEST_F(Election, E20_AfterAPauseNothingIsWrittenAndLeadershipIsOver) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  Run(seconds(5));
  ASSERT_TRUE(a->gate().Admit().ok());
  api_.ClearCalls();
  clock_.Advance(seconds(30));  // stopped and continued
  EXPECT_FALSE(a->gate().Admit().ok());
  ASSERT_TRUE(RunUntil([&] { return a.lost_ == 1; }, Duration::zero()));
  EXPECT_TRUE(api_.Calls("UpdateLease").empty()) << "the lease is not taken back";
}

TEST_F(Election, E21_DeletedLeaseIsMadeAnewWithoutLosingLeadership) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  api_.RemoveLease(kNamespace, kName);
  Run(seconds(30));
  EXPECT_EQ(a.lost_, 0);
  EXPECT_TRUE(a.Leads());
  EXPECT_EQ(Stored().holder, "me");
}

TEST_F(Election, E22_TheWatchdogActsWhileTheElectorHangs) {
  HangingApi hanging(api_);
  Candidate a(hanging, clock_, "me");
  ASSERT_TRUE(Lead(a));
  hanging.deaf = true;
  ASSERT_TRUE(RunUntil([&] { return hanging.inside.load(); }, milliseconds(50)));
  const MonoTime sent = clock_.Now();
  ASSERT_TRUE(RunUntil([&] { return a.lost_ == 1; }, milliseconds(50)));
  EXPECT_GE(a.LostAt() - sent, seconds(9));
  EXPECT_LE(a.LostAt() - sent, seconds(12));
  EXPECT_FALSE(a->gate().Admit().ok());
  // The late success of the hanging request changes nothing.
  hanging.deaf = false;
  Run(seconds(20));
  EXPECT_EQ(a.lost_, 1);
  EXPECT_EQ(a.started_, 1);
  EXPECT_FALSE(a->gate().Admit().ok());
  EXPECT_FALSE(a.Leads());
}

TEST_F(Election, E23_StepsOfTheWallClockDoNotMatter) {
  Candidate a(api_, clock_, "a");
  Candidate b(api_, clock_, "b");
  ASSERT_TRUE(Lead(a));
  ASSERT_TRUE(b->Start().ok());
  for (const Duration step : {Duration(hours(1)), Duration(-hours(2)), Duration(hours(1))}) {
    clock_.StepWall(step);
    Run(seconds(20));
  }
  EXPECT_TRUE(a.Leads());
  EXPECT_EQ(a.lost_, 0);
  EXPECT_EQ(b.started_, 0);
  EXPECT_EQ(Stored().transitions, 0);
}

TEST_F(Election, LeaseTakenByForceEndsLeadershipAtOnce) {
  Candidate a(api_, clock_, "me");
  ASSERT_TRUE(Lead(a));
  kube::Lease lease = Stored();
  lease.holder = "thief";
  ASSERT_TRUE(api_.UpdateLease(lease, Context()).ok());
  const MonoTime taken = clock_.Now();
  ASSERT_TRUE(RunUntil([&] { return a.lost_ == 1; }, milliseconds(100)));
  EXPECT_LE(a.LostAt() - taken, seconds(3));
  EXPECT_NE(a.Why().message().find("thief"), std::string::npos);
}

TEST_F(Election, CandidatesKeepApartByJitter) {
  PutForeignLease(600);
  for (const double value : {0.0, 0.999}) {
    kube::FakeEventRecorder events;
    FixedRandom random(value);
    MemoryLog log;
    Metrics metrics;
    ElectionOptions options;
    options.identity = "me";
    std::vector<MonoTime> tries;
    std::mutex mutex;
    api_.OnCall([&](const kube::RecordedCall& call) {
      std::lock_guard lock(mutex);
      if (call.method == "GetLease") tries.push_back(clock_.Now());
    });
    {
      LeaderElector elector({api_, events, clock_, random, log, metrics}, options, {});
      ASSERT_TRUE(elector.Start().ok());
      ASSERT_TRUE(RunUntil(
          [&] {
            std::lock_guard lock(mutex);
            return tries.size() >= 4;
          },
          milliseconds(20)));
    }
    api_.OnCall(nullptr);
    for (std::size_t i = 1; i < tries.size(); ++i) {
      EXPECT_GE(tries[i] - tries[i - 1], value == 0.0 ? milliseconds(2'000) : milliseconds(4'390));
    }
  }
}

TEST(ElectionOptions, E19_Table) {
  ElectionOptions good;
  good.identity = "me";
  EXPECT_TRUE(Validate(good).empty());
  const auto errors = [&](auto change) {
    ElectionOptions options = good;
    change(options);
    return Validate(options).size();
  };
  EXPECT_EQ(errors([](auto& o) { o.lease_duration = seconds(9); }), 1U);
  EXPECT_EQ(errors([](auto& o) { o.renew_deadline = milliseconds(2'400); }), 1U);
  EXPECT_EQ(errors([](auto& o) { o.renew_deadline = milliseconds(2'401); }), 0U);
  EXPECT_GE(errors([](auto& o) { o.retry_period = Duration::zero(); }), 1U);
  EXPECT_GE(errors([](auto& o) { o.lease_duration = -seconds(1); }), 2U);
  EXPECT_EQ(errors([](auto& o) { o.resource_lock = "configmaps"; }), 1U);
  EXPECT_EQ(errors([](auto& o) { o.resource_name = ""; }), 1U);
  EXPECT_EQ(errors([](auto& o) { o.resource_namespace = ""; }), 1U);
  EXPECT_EQ(errors([](auto& o) { o.identity = ""; }), 1U);
}

TEST(ElectionOptions, IdentityIsUniqueInEveryProcessStart) {
  const std::string a = MakeElectionIdentity();
  EXPECT_NE(a, MakeElectionIdentity());
  EXPECT_GE(a.size(), 38U);  // host, '_', UUID
  EXPECT_EQ(a[a.size() - 37], '_');
}

TEST(LeaseWriteGate, E20_ClosedUntilHeldAndWithinFiveSecondsOfTheEnd) {
  FakeClock clock;
  LeaseWriteGate gate(clock, seconds(15));
  EXPECT_EQ(gate.Admit().status().reason(), "LeaseLost");
  gate.Extend(clock.Now() + seconds(15));
  EXPECT_EQ(*gate.Admit(), clock.Now() + seconds(15));
  clock.Advance(seconds(10));
  EXPECT_EQ(*gate.Admit(), clock.Now() + seconds(5));
  clock.Advance(milliseconds(1));
  EXPECT_EQ(gate.Admit().status().code(), Code::kFailedPrecondition);
  gate.Extend(clock.Now() + seconds(15));
  EXPECT_TRUE(gate.Admit().ok());
  gate.Extend(clock.Now());  // an older answer that comes late
  EXPECT_TRUE(gate.Admit().ok());
  gate.Close("test");
  gate.Extend(clock.Now() + hours(1));
  EXPECT_FALSE(gate.Admit().ok());
}

TEST(LeaseWriteGate, ShortLeasesKeepAThird) {
  FakeClock clock;
  LeaseWriteGate gate(clock, seconds(6));
  gate.Extend(clock.Now() + seconds(6));
  clock.Advance(seconds(4));
  EXPECT_TRUE(gate.Admit().ok());
  clock.Advance(milliseconds(1));
  EXPECT_FALSE(gate.Admit().ok());
}

}  // namespace
}  // namespace otc::host
