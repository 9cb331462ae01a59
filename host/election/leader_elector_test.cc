#include "host/election/leader_elector.h"

#include "host/election/testing/election_fixture.h"
#include "host/kube/json_codec.h"

namespace otc::host {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using Election = ElectionFixture;

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
  EXPECT_EQ(a.MasterStatus(), 0);
  EXPECT_FALSE(a.Leads());
  Run(seconds(30));
  EXPECT_EQ(a.lost_, 1) << "stepping down happens once";
}

// Renewals are answered four seconds late, until nothing is answered at all.
class SlowApi final : public kube::ForwardingKubeApi {
 public:
  SlowApi(kube::KubeApi& api, FakeClock& clock) : ForwardingKubeApi(api), clock_(clock) {}

  Result<kube::Lease> GetLease(const std::string& namespace_name, const std::string& name,
                               const CallContext& context) override {
    if (down) return Status(Code::kUnavailable, "Down", "no API server");
    return ForwardingKubeApi::GetLease(namespace_name, name, context);
  }
  Result<kube::Lease> UpdateLease(const kube::Lease& lease, const CallContext& context) override {
    if (down) return Status(Code::kUnavailable, "Down", "no API server");
    const MonoTime sent = clock_.Now();
    clock_.Advance(seconds(4));
    auto stored = ForwardingKubeApi::UpdateLease(lease, context);
    if (stored.ok()) last_sent = sent.time_since_epoch();
    return stored;
  }

  std::atomic<bool> down{false};
  std::atomic<Duration> last_sent{Duration::zero()};

 private:
  FakeClock& clock_;
};

// Time counts from when the last successful renewal was sent.
TEST_F(Election, E10_TimeRunsFromTheSendingOfTheLastRenewal) {
  SlowApi slow(api_, clock_);
  Candidate a(slow, clock_, "me");
  ASSERT_TRUE(Lead(a));
  Run(seconds(20), milliseconds(100));
  slow.down = true;
  std::this_thread::sleep_for(milliseconds(20));  // a renewal under way ends
  const MonoTime sent(slow.last_sent.load());
  MonoTime last_admitted{};
  ASSERT_TRUE(RunUntil(
      [&] {
        const auto until = a->gate().Admit();
        if (until.ok()) {
          last_admitted = clock_.Now();
          EXPECT_EQ(*until, sent + seconds(15));
        }
        return a.lost_ > 0;
      },
      milliseconds(50)));
  EXPECT_LE(last_admitted - sent, seconds(10));
  EXPECT_LE(a.LostAt() - sent, seconds(12) + milliseconds(200));
}

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
  EXPECT_EQ(a.MasterStatus(), 0);
  EXPECT_NE(a.metrics_.Render().find(
                "leader_election_master_status{name=\"cloud-controller-manager\"} 0"),
            std::string::npos);
  ASSERT_TRUE(Lead(a));
  EXPECT_EQ(a.MasterStatus(), 1);
  a->Stop();
  EXPECT_EQ(a.MasterStatus(), 0);
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
  api_.RemoveLease(kElectionNamespace, kElectionLease);
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

}  // namespace
}  // namespace otc::host
