#include "host/base/clock.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"

namespace otc::host {
namespace {

TEST(Clock, E02_MicroTimeHasExactlySixDigitsAndZ) {
  EXPECT_EQ(FormatMicroTime(WallFromUnixMillis(1'767'225'600'000)), "2026-01-01T00:00:00.000000Z");
  EXPECT_EQ(FormatMicroTime(WallFromUnixMillis(1'767'225'600'045)), "2026-01-01T00:00:00.045000Z");
  EXPECT_EQ(FormatMicroTime(WallTime(std::chrono::nanoseconds(1'999))),
            "1970-01-01T00:00:00.000001Z");
}

TEST(Clock, TimeIsWholeSeconds) {
  EXPECT_EQ(FormatRfc3339(WallFromUnixMillis(1'767'225'600'999)), "2026-01-01T00:00:00Z");
}

TEST(Clock, SystemClockGoesForward) {
  SystemClock clock;
  const MonoTime before = clock.Now();
  EXPECT_GE(clock.Now(), before);
  EXPECT_EQ(clock.PollMillis(before), 0);
  EXPECT_GT(clock.PollMillis(clock.Now() + std::chrono::seconds(10)), 9'000);
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock;
  const MonoTime start = clock.Now();
  EXPECT_EQ(clock.Now(), start);
  clock.Advance(std::chrono::seconds(3));
  EXPECT_EQ(clock.Now() - start, std::chrono::seconds(3));
  const WallTime wall = clock.Wall();
  clock.StepWall(std::chrono::hours(-1));
  EXPECT_EQ(wall - clock.Wall(), std::chrono::hours(1));
  EXPECT_EQ(clock.Now() - start, std::chrono::seconds(3));
}

}  // namespace
}  // namespace otc::host
