#include "host/election/election_options.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"
#include "host/election/lease_write_gate.h"

namespace otc::host {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

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
