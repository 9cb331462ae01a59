#include "host/cloud/budget.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "host/base/fake_clock.h"
#include "host/cloud/testing/stepping_clock.h"

namespace otc::host::cloud {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CallContext ContextOf(Clock& clock, Duration timeout = std::chrono::hours(1)) {
  CallContext context;
  context.clock = &clock;
  context.deadline = clock.Now() + timeout;
  return context;
}

TEST(BudgetTest, BurstThenTheRate) {
  SteppingClock clock;
  Budget budget(clock, {10, 15});
  const MonoTime start = clock.Now();
  for (int i = 0; i < 15; ++i) ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  EXPECT_EQ(clock.Now(), start);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  EXPECT_NEAR(std::chrono::duration<double>(clock.Now() - start).count(), 10.0, 0.01);
  clock.Advance(std::chrono::hours(1));  // saves up the burst and no more
  const MonoTime later = clock.Now();
  for (int i = 0; i < 16; ++i) ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  EXPECT_NEAR(std::chrono::duration<double>(clock.Now() - later).count(), 0.1, 0.01);
}

TEST(BudgetTest, TheDeadlineEndsTheWait) {
  SteppingClock clock;
  Budget budget(clock, {1, 1});
  ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  const MonoTime start = clock.Now();
  EXPECT_EQ(budget.Acquire("a", ContextOf(clock, milliseconds(300))).code(),
            Code::kDeadlineExceeded);
  EXPECT_EQ(clock.Now() - start, milliseconds(300));
  // Who left does not take a token with him.
  ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  EXPECT_NEAR(std::chrono::duration<double>(clock.Now() - start).count(), 1.0, 0.01);
}

TEST(BudgetTest, P_E4_RestsAfterThrottling) {
  SteppingClock clock;
  Budget budget(clock, {10, 10});
  const MonoTime start = clock.Now();
  budget.RestUntil(start + seconds(30));
  budget.RestUntil(start + seconds(20));  // a shorter pause does not cut the longer one
  const Status refused = budget.Acquire("a", ContextOf(clock, seconds(5)));
  EXPECT_EQ(refused.reason(), "Throttled");
  EXPECT_EQ(refused.code(), Code::kResourceExhausted);
  EXPECT_EQ(refused.retry_after_ms(), 30'000u);
  EXPECT_EQ(clock.Now(), start);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  // No burst after the pause.
  EXPECT_NEAR(std::chrono::duration<double>(clock.Now() - start).count(), 30.5, 0.01);
}

TEST(BudgetTest, CancellationWakesTheWaiter) {
  FakeClock clock;
  Budget budget(clock, {0.001, 1});
  ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  CallContext context = ContextOf(clock);
  context.cancellation = Cancellation::Create();
  Status status;
  std::thread waiter([&] { status = budget.Acquire("a", context); });
  ASSERT_TRUE(clock.AwaitWaiters(1));
  context.cancellation->Cancel("Quiescing");
  waiter.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(status.reason(), "Quiescing");
  // Cancelled before the call: refused too.
  EXPECT_EQ(budget.Acquire("a", context).code(), Code::kCancelled);
}

// Plugin a has 20 calls waiting; a call of b gets one of the next two tokens.
TEST(BudgetTest, P_E3_AnotherPluginWaitsForAtMostTwoTokens) {
  FakeClock clock;
  Budget budget(clock, {1, 1});
  ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  std::atomic<int> a_done{0};
  std::atomic<bool> b_done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 20; ++i) {
    threads.emplace_back([&] {
      if (budget.Acquire("a", ContextOf(clock)).ok()) ++a_done;
    });
  }
  ASSERT_TRUE(clock.AwaitWaiters(20));
  threads.emplace_back([&] {
    if (budget.Acquire("b", ContextOf(clock)).ok()) b_done = true;
  });
  ASSERT_TRUE(clock.AwaitWaiters(21));
  const auto await_total = [&](int total) {
    for (int i = 0; i < 2000 && a_done + (b_done ? 1 : 0) < total; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    return a_done + (b_done ? 1 : 0);
  };
  clock.Advance(milliseconds(1001));
  ASSERT_EQ(await_total(1), 1);
  clock.Advance(milliseconds(1001));
  ASSERT_EQ(await_total(2), 2);
  EXPECT_TRUE(b_done);
  EXPECT_EQ(a_done, 1);
  budget.SetRate({1000, 100});
  clock.Advance(seconds(1));
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(a_done, 20);
}

// Two plugins with many calls each get every second token.
TEST(BudgetTest, P_E3_TwoBusyPluginsShareEvenly) {
  FakeClock clock;
  Budget budget(clock, {1, 1});
  ASSERT_TRUE(budget.Acquire("a", ContextOf(clock)).ok());
  std::atomic<int> a_done{0}, b_done{0};
  std::vector<std::thread> threads;
  const auto start = [&](const char* plugin, std::atomic<int>& done, int waiting) {
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&budget, &clock, plugin, &done] {
        if (budget.Acquire(plugin, ContextOf(clock)).ok()) ++done;
      });
    }
    ASSERT_TRUE(clock.AwaitWaiters(waiting));
  };
  start("a", a_done, 8);
  start("b", b_done, 16);
  for (int token = 1; token <= 6; ++token) {
    clock.Advance(milliseconds(1001));
    for (int i = 0; i < 2000 && a_done + b_done < token; ++i) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    ASSERT_EQ(a_done + b_done, token);
  }
  EXPECT_EQ(a_done, 3);
  EXPECT_EQ(b_done, 3);
  budget.SetRate({1000, 100});
  clock.Advance(seconds(1));
  for (std::thread& thread : threads) thread.join();
}

TEST(BudgetsTest, RatesByServiceThenDefaultThenBuiltIn) {
  SteppingClock clock;
  CloudConfig config;
  config.budgets = {{"ecs-read", {1000, 100}}, {"default-write", {1, 7}}};
  Budgets budgets(clock, config);
  const auto burst = [&](const char* service, bool write) {
    const MonoTime start = clock.Now();
    int count = 0;
    while (clock.Now() == start) {
      EXPECT_TRUE(budgets.For(service, write).Acquire("p", ContextOf(clock)).ok());
      ++count;
    }
    return count - 1;
  };
  EXPECT_EQ(burst("ecs", false), 100);
  EXPECT_EQ(burst("ecs", true), 7);
  EXPECT_EQ(burst("vpc", false), 15);
  EXPECT_EQ(&budgets.For("vpc", false), &budgets.For("vpc", false));
  config.budgets["vpc-read"] = {1, 3};
  budgets.Configure(config);
  clock.Advance(seconds(100));
  EXPECT_EQ(burst("vpc", false), 3);
}

}  // namespace
}  // namespace otc::host::cloud
