#include "host/kube/work_queue.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "host/base/fake_clock.h"
#include "host/kube/token_bucket.h"

namespace otc::host::kube {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class WorkQueueTest : public ::testing::Test {
 protected:
  WorkQueueTest()
      : queue_("node", MakeExponentialLimiter(milliseconds(5), seconds(1000)), clock_, metrics_) {
    context_.clock = &clock_;
    context_.cancellation = Cancellation::Create();
  }

  // What Get would hand out now, without waiting.
  std::optional<std::string> Now() {
    CallContext now = context_;
    now.deadline = clock_.Now();
    return queue_.Get(now);
  }

  FakeClock clock_;
  Metrics metrics_;
  WorkQueue queue_;
  CallContext context_;
};

TEST_F(WorkQueueTest, Q01_ThreeAddsAreOneItemAndAddWhileProcessingComesOnceMore) {
  queue_.Add("a");
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_EQ(queue_.Length(), 1u);
  ASSERT_EQ(Now(), "a");
  queue_.Add("a");
  queue_.Add("a");
  EXPECT_EQ(Now(), std::nullopt) << "must not be handled in parallel";
  queue_.Done("a");
  EXPECT_EQ(Now(), "a");
  queue_.Done("a");
  EXPECT_EQ(Now(), std::nullopt);
  EXPECT_EQ(metrics_.Sum("workqueue_adds_total", {{"name", "node"}}), 2);
}

TEST_F(WorkQueueTest, Q02_TheEarlierDelayCounts) {
  queue_.AddAfter("a", seconds(10));
  queue_.AddAfter("a", seconds(2));
  queue_.AddAfter("b", seconds(2));
  queue_.AddAfter("b", seconds(10));
  clock_.Advance(milliseconds(1999));
  EXPECT_EQ(Now(), std::nullopt);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Now(), "a");
  EXPECT_EQ(Now(), "b");
  queue_.Done("a");
  queue_.Done("b");
  clock_.Advance(seconds(60));
  EXPECT_EQ(Now(), std::nullopt) << "fired twice";
}

TEST_F(WorkQueueTest, DelayedKeyWakesAWorkerThatWaits) {
  std::atomic<bool> got = false;
  std::thread worker([&] { got = queue_.Get(context_) == "a"; });
  queue_.AddAfter("a", seconds(5));
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  clock_.Advance(seconds(5));
  worker.join();
  EXPECT_TRUE(got);
}

TEST(RateLimiter, Q03_DefaultSequenceDoublesFrom5MsTo1000SAndForgetResets) {
  FakeClock clock;
  auto limiter = MakeDefaultLimiter(clock);
  Duration expected = milliseconds(5);
  for (int i = 0; i < 25; ++i) {
    EXPECT_EQ(limiter->When("a"), std::min<Duration>(expected, seconds(1000))) << i;
    if (expected < seconds(1000)) expected *= 2;
  }
  EXPECT_EQ(limiter->Retries("a"), 25);
  limiter->Forget("a");
  EXPECT_EQ(limiter->Retries("a"), 0);
  EXPECT_EQ(limiter->When("a"), milliseconds(5));
}

TEST(RateLimiter, ServiceSequenceIsFiveToThreeHundredSeconds) {
  auto limiter = MakeExponentialLimiter(seconds(5), seconds(300));
  std::vector<int> waits;
  for (int i = 0; i < 8; ++i) {
    waits.push_back(
        static_cast<int>(std::chrono::duration_cast<seconds>(limiter->When("a")).count()));
  }
  EXPECT_EQ(waits, (std::vector<int>{5, 10, 20, 40, 80, 160, 300, 300}));
}

TEST(RateLimiter, Q04_BucketLetsAHundredThroughThenTenASecond) {
  FakeClock clock;
  auto limiter = MakeDefaultLimiter(clock);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(limiter->When(std::to_string(i)), milliseconds(5)) << i;
  }
  for (int i = 100; i < 300; ++i) {
    const double wait = std::chrono::duration<double>(limiter->When(std::to_string(i))).count();
    EXPECT_NEAR(wait, (i - 99) * 0.1, 1e-6) << i;
  }
}

TEST(TokenBucket, TakesNothingItDoesNotHave) {
  FakeClock clock;
  TokenBucket bucket(clock, 1.0 / 300, 25);
  for (int i = 0; i < 25; ++i) EXPECT_TRUE(bucket.TryTake());
  EXPECT_FALSE(bucket.TryTake());
  clock.Advance(seconds(299));
  EXPECT_FALSE(bucket.TryTake());
  clock.Advance(seconds(1));
  EXPECT_TRUE(bucket.TryTake());
  EXPECT_FALSE(bucket.TryTake());
}

TEST_F(WorkQueueTest, RetriesWaitForTheLimiter) {
  queue_.AddRateLimited("a");
  EXPECT_EQ(queue_.Delayed(), 1u);
  clock_.Advance(milliseconds(5));
  ASSERT_EQ(Now(), "a");
  queue_.AddRateLimited("a");
  queue_.Done("a");
  clock_.Advance(milliseconds(9));
  EXPECT_EQ(Now(), std::nullopt);
  clock_.Advance(milliseconds(1));
  EXPECT_EQ(Now(), "a");
  EXPECT_EQ(metrics_.Sum("workqueue_retries_total", {{"name", "node"}}), 2);
}

TEST_F(WorkQueueTest, Q05_ShutDownDrainsWhatIsQueuedAndIgnoresLaterAdds) {
  queue_.Add("a");
  queue_.AddAfter("later", seconds(1));
  queue_.ShutDown();
  queue_.Add("b");
  clock_.Advance(seconds(2));
  EXPECT_EQ(queue_.Get(context_), "a");
  queue_.Done("a");
  EXPECT_EQ(queue_.Get(context_), std::nullopt);
  EXPECT_TRUE(queue_.ShuttingDown());
}

TEST_F(WorkQueueTest, Q05_ShutDownWakesWaitingWorkers) {
  std::thread worker([&] { EXPECT_EQ(queue_.Get(context_), std::nullopt); });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  queue_.ShutDown();
  worker.join();
}

TEST_F(WorkQueueTest, DrainWaitsForWorkInProgress) {
  queue_.Add("a");
  ASSERT_EQ(Now(), "a");
  std::atomic<bool> drained = false;
  std::thread stopper([&] {
    EXPECT_TRUE(queue_.ShutDownWithDrain(context_).ok());
    drained = true;
  });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  EXPECT_FALSE(drained);
  queue_.Done("a");
  stopper.join();
  EXPECT_TRUE(drained);
}

TEST_F(WorkQueueTest, DrainGivesUpAtItsDeadline) {
  queue_.Add("a");
  ASSERT_EQ(Now(), "a");
  CallContext now = context_;
  now.deadline = clock_.Now();
  EXPECT_EQ(queue_.ShutDownWithDrain(now).code(), Code::kDeadlineExceeded);
}

TEST_F(WorkQueueTest, CancellationEndsAWait) {
  std::thread worker([&] { EXPECT_EQ(queue_.Get(context_), std::nullopt); });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  context_.cancellation->Cancel("Quiescing");
  worker.join();
}

TEST_F(WorkQueueTest, MetricsShowDepthAndRunningWork) {
  queue_.Add("a");
  queue_.Add("b");
  EXPECT_EQ(metrics_.Sum("workqueue_depth"), 2);
  ASSERT_EQ(Now(), "a");
  EXPECT_EQ(metrics_.Sum("workqueue_depth"), 1);
  clock_.Advance(seconds(7));
  queue_.RefreshMetrics();
  EXPECT_EQ(metrics_.Sum("workqueue_unfinished_work_seconds"), 7);
  EXPECT_EQ(metrics_.Sum("workqueue_longest_running_processor_seconds"), 7);
  queue_.Done("a");
  EXPECT_EQ(metrics_.Sum("workqueue_unfinished_work_seconds"), 0);
}

TEST(WorkQueueRace, Q06_EightProducersEightWorkersNoKeyInParallelNoneLost) {
  constexpr int kThreads = 8;
  constexpr int kKeys = 100'000;
  SystemClock clock;
  Metrics metrics;
  WorkQueue queue("race", MakeDefaultLimiter(clock), clock, metrics);
  CallContext context;
  context.clock = &clock;
  std::vector<std::atomic<int>> running(kKeys);
  std::vector<std::atomic<int>> handled(kKeys);
  std::atomic<int> parallel = 0;

  std::vector<std::thread> workers;
  for (int i = 0; i < kThreads; ++i) {
    workers.emplace_back([&] {
      while (auto key = queue.Get(context)) {
        const auto index = static_cast<std::size_t>(std::stoi(*key));
        if (running[index]++ != 0) ++parallel;
        ++handled[index];
        --running[index];
        queue.Done(*key);
      }
    });
  }
  std::vector<std::thread> producers;
  for (int i = 0; i < kThreads; ++i) {
    producers.emplace_back([&, i] {
      // Every key is added by two producers, so some adds meet running work.
      for (int key = i; key < kKeys; key += kThreads / 2) queue.Add(std::to_string(key));
    });
  }
  for (auto& producer : producers) producer.join();
  queue.ShutDown();
  for (auto& worker : workers) worker.join();

  EXPECT_EQ(parallel, 0);
  int lost = 0;
  for (auto& count : handled) lost += count == 0 ? 1 : 0;
  EXPECT_EQ(lost, 0);
}

}  // namespace
}  // namespace otc::host::kube
