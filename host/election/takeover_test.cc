// When another process may lead, and that never two may write.
#include <random>

#include "host/election/testing/election_fixture.h"

namespace otc::host {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using Election = ElectionFixture;

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
  EXPECT_EQ(a.MasterStatus(), 0);
  EXPECT_FALSE(a->gate().Admit().ok());
}

TEST_F(Election, E06_TheHoldersClockDoesNotMatter) {
  for (const Duration offset : {Duration(-minutes(10)), Duration(minutes(10))}) {
    kube::FakeKubeApi api;
    kube::Lease lease;
    lease.meta.namespace_ = kElectionNamespace;
    lease.meta.name = kElectionLease;
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

}  // namespace
}  // namespace otc::host
