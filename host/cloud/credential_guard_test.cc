#include "host/cloud/credential_guard.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/base/fake_clock.h"

namespace otc::host::cloud {
namespace {

using Answer = CredentialGuard::Answer;

class CredentialGuardTest : public testing::Test {
 protected:
  CallContext Context() {
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + std::chrono::minutes(1);
    return context;
  }
  void Send(Answer answer) {
    ASSERT_TRUE(guard_.Admit(Context()).ok());
    guard_.Report(answer);
  }

  FakeClock clock_;
  CredentialGuard guard_;
};

TEST_F(CredentialGuardTest, StopsAfterTwoRefusals) {
  Send(Answer::kRefused);
  EXPECT_FALSE(guard_.stopped());
  Send(Answer::kRefused);
  EXPECT_TRUE(guard_.stopped());
  for (int i = 0; i < 100; ++i) {
    const Status status = guard_.Admit(Context());
    EXPECT_EQ(status.code(), Code::kUnauthenticated);
    EXPECT_EQ(status.reason(), "CredentialsRefused");
  }
}

TEST_F(CredentialGuardTest, AnAcceptedRequestForgivesAnEarlierRefusal) {
  for (int i = 0; i < 10; ++i) {
    Send(Answer::kRefused);
    Send(Answer::kNone);
    Send(Answer::kAccepted);
  }
  EXPECT_FALSE(guard_.stopped());
}

TEST_F(CredentialGuardTest, ALateSuccessDoesNotLiftTheStop) {
  Send(Answer::kAccepted);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(guard_.Admit(Context()).ok());
  guard_.Report(Answer::kRefused);
  guard_.Report(Answer::kRefused);
  guard_.Report(Answer::kAccepted);
  EXPECT_TRUE(guard_.stopped());
}

TEST_F(CredentialGuardTest, AnUnknownKeyIsTriedByOneRequestAtATime) {
  std::atomic<int> now{0}, most{0}, admitted{0}, refused{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      if (!guard_.Admit(Context()).ok()) {
        ++refused;
        return;
      }
      const int running = ++now;
      if (running > most) most = running;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++admitted;
      --now;
      guard_.Report(Answer::kRefused);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_EQ(admitted, 2);
  EXPECT_EQ(refused, 6);
}

TEST_F(CredentialGuardTest, AProvenKeyIsUsedInParallel) {
  Send(Answer::kAccepted);
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(guard_.Admit(Context()).ok());
  for (int i = 0; i < 5; ++i) guard_.Report(Answer::kAccepted);
}

TEST_F(CredentialGuardTest, CancellationWakesTheWaiter) {
  ASSERT_TRUE(guard_.Admit(Context()).ok());
  CallContext context = Context();
  context.cancellation = Cancellation::Create();
  Status status;
  std::thread waiter([&] { status = guard_.Admit(context); });
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  context.cancellation->Cancel("Quiescing");
  waiter.join();
  EXPECT_EQ(status.reason(), "Quiescing");
  guard_.Report(Answer::kNone);
  Send(Answer::kAccepted);
}

}  // namespace
}  // namespace otc::host::cloud
