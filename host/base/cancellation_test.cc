#include "host/base/cancellation.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <thread>

#include "host/base/fake_clock.h"

namespace otc::host {
namespace {

bool Readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return poll(&entry, 1, 0) == 1;
}

TEST(Cancellation, FirstReasonWinsAndStays) {
  auto flag = Cancellation::Create();
  EXPECT_TRUE(flag->status().ok());
  EXPECT_FALSE(Readable(flag->fd()));
  flag->Cancel("LeaseLost", "renewal failed");
  flag->Cancel("Quiescing");
  EXPECT_EQ(flag->status().code(), Code::kCancelled);
  EXPECT_EQ(flag->status().reason(), "LeaseLost");
  EXPECT_TRUE(Readable(flag->fd()));
}

TEST(Cancellation, ChildFollowsParentNotTheOtherWay) {
  auto parent = Cancellation::Create();
  auto first = Cancellation::Create(parent);
  auto second = Cancellation::Create(parent);
  first->Cancel("ClientGone");
  EXPECT_FALSE(parent->cancelled());
  parent->Cancel("Quiescing");
  EXPECT_EQ(second->status().reason(), "Quiescing");
  EXPECT_EQ(first->status().reason(), "ClientGone");
}

TEST(Cancellation, ChildOfARaisedParentIsRaisedAtOnce) {
  auto parent = Cancellation::Create();
  parent->Cancel("Quiescing");
  EXPECT_TRUE(Cancellation::Create(parent)->cancelled());
}

TEST(Cancellation, ManyChildrenComeAndGoWhileTheParentIsRaised) {
  for (int round = 0; round < 50; ++round) {
    auto parent = Cancellation::Create();
    std::thread churn([&] {
      for (int i = 0; i < 100; ++i) Cancellation::Create(parent);
    });
    parent->Cancel("Quiescing");
    churn.join();
    EXPECT_TRUE(parent->cancelled());
  }
}

TEST(CallContext, DeadlineAndCancellationAreTold) {
  FakeClock clock;
  CallContext context{&clock, clock.Now() + std::chrono::seconds(5), Cancellation::Create(), "",
                      ""};
  EXPECT_TRUE(context.Check().ok());
  EXPECT_EQ(context.WithTimeout(std::chrono::seconds(9)).deadline, context.deadline);
  clock.Advance(std::chrono::seconds(5));
  EXPECT_EQ(context.Check().code(), Code::kDeadlineExceeded);
  context.cancellation->Cancel("Quiescing");
  EXPECT_EQ(context.Check().code(), Code::kCancelled);
}

TEST(CallContext, SleepEndsByTimeOrByCancellation) {
  FakeClock clock;
  CallContext context{&clock, MonoTime::max(), Cancellation::Create(), "", ""};
  Status slept(Code::kUnknown, "", "");
  std::thread sleeper([&] { slept = context.SleepUntil(clock.Now() + std::chrono::hours(1)); });
  ASSERT_TRUE(clock.AwaitWaiters(1));
  clock.Advance(std::chrono::hours(1));
  sleeper.join();
  EXPECT_TRUE(slept.ok());

  std::thread cancelled([&] { slept = context.SleepUntil(clock.Now() + std::chrono::hours(1)); });
  ASSERT_TRUE(clock.AwaitWaiters(1));
  context.cancellation->Cancel("Quiescing");
  cancelled.join();
  EXPECT_EQ(slept.code(), Code::kCancelled);
}

}  // namespace
}  // namespace otc::host
