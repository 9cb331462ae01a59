#include "host/cli/cloud_check.h"

#include <gtest/gtest.h>

#include <atomic>

#include "host/base/fake_clock.h"

namespace otc::host::cli {
namespace {

class CloudCheckTest : public testing::Test {
 protected:
  // Answers what `answer_` says and counts.
  CloudCheck::Probe Probe() {
    return [this](const CallContext&) {
      std::lock_guard lock(mutex_);
      ++probes_;
      return answer_;
    };
  }
  void Answer(Status status) {
    std::lock_guard lock(mutex_);
    answer_ = std::move(status);
  }
  int Probes() {
    std::lock_guard lock(mutex_);
    return probes_;
  }

  FakeClock clock_;
  MemoryLog log_;

 private:
  std::mutex mutex_;
  Status answer_;
  int probes_ = 0;
};

TEST_F(CloudCheckTest, ReadyOnlyAfterAnAnswer) {
  CloudCheck check(Probe(), clock_, log_);
  EXPECT_EQ(check.Ready().reason(), "CloudNotChecked");
  check.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  EXPECT_TRUE(check.Ready().ok());
  EXPECT_EQ(Probes(), 1);
}

TEST_F(CloudCheckTest, AWrongKeyIsNotTriedAgainBeforeTheConfigurationChanged) {
  Answer(Status(Code::kUnauthenticated, "CredentialsRefused", "401"));
  CloudCheck check(Probe(), clock_, log_);
  check.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  for (int i = 0; i < 20; ++i) clock_.Advance(std::chrono::minutes(10));
  EXPECT_EQ(Probes(), 1);
  EXPECT_EQ(check.Ready().reason(), "CredentialsRefused");
  Answer(Status::Ok());
  check.Again();
  while (!check.Ready().ok()) std::this_thread::yield();
  EXPECT_EQ(Probes(), 2);
}

TEST_F(CloudCheckTest, AnUnreachableCloudIsTriedAgainWithGrowingPauses) {
  Answer(Status(Code::kUnavailable, "CloudUnreachable", "connect"));
  CloudCheck check(Probe(), clock_, log_);
  check.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  clock_.Advance(std::chrono::seconds(5));
  while (Probes() < 2) std::this_thread::yield();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  Answer(Status::Ok());
  clock_.Advance(std::chrono::seconds(10));
  while (!check.Ready().ok()) std::this_thread::yield();
  EXPECT_EQ(Probes(), 3);
}

TEST_F(CloudCheckTest, StopEndsAProbeThatHangs) {
  CloudCheck check(
      [](const CallContext& context) {
        return context.SleepUntil(context.clock->Now() + std::chrono::hours(1));
      },
      clock_, log_);
  check.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  check.Stop();
  EXPECT_FALSE(check.Ready().ok());
}

}  // namespace
}  // namespace otc::host::cli
