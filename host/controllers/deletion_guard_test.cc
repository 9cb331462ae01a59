#include "host/controllers/deletion_guard.h"

#include <gtest/gtest.h>

#include <chrono>

namespace otc::host {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

const WallTime kWall = WallFromUnixMillis(1'767'225'600'000);
const MonoTime kStart{std::chrono::hours(1)};

kube::Node OldNode(const std::string& uid) {
  kube::Node node;
  node.meta.name = "n-" + uid;
  node.meta.uid = uid;
  node.meta.creation_unix_ms = UnixMillis(kWall - std::chrono::hours(24));
  node.provider_id = "otc:///" + uid;
  return node;
}

class Guard : public ::testing::Test {
 protected:
  // One proof each, `gap` apart; the verdict after the last.
  GuardVerdict AfterProofs(DeletionGuard* guard, const kube::Node& node, int proofs, Duration gap) {
    for (int i = 0; i < proofs; ++i) {
      if (i > 0) now_ += gap;
      guard->Absent(node, now_);
    }
    guard->UpdateStop(100, now_);
    return guard->Decide(node, now_, kWall).verdict;
  }

  MonoTime now_ = kStart;
};

TEST_F(Guard, P_D2_ThreeProofsOverAMinute) {
  struct Case {
    int proofs;
    Duration gap;
    GuardVerdict verdict;
  };
  for (const Case& c :
       {Case{1, seconds(0), GuardVerdict::kWait}, Case{2, seconds(600), GuardVerdict::kWait},
        Case{3, seconds(29), GuardVerdict::kWait}, Case{3, seconds(30), GuardVerdict::kDelete},
        Case{12, seconds(5), GuardVerdict::kWait}, Case{13, seconds(5), GuardVerdict::kDelete}}) {
    DeletionGuard guard{DeletionGuardOptions{}};
    EXPECT_EQ(AfterProofs(&guard, OldNode("a"), c.proofs, c.gap), c.verdict)
        << c.proofs << " proofs";
  }
}

TEST_F(Guard, P_D2_AnyOtherAnswerStartsAnew) {
  DeletionGuard guard{DeletionGuardOptions{}};
  const kube::Node node = OldNode("a");
  AfterProofs(&guard, node, 2, seconds(50));
  guard.NotAbsent("a");
  now_ += seconds(50);
  EXPECT_EQ(AfterProofs(&guard, node, 2, seconds(50)), GuardVerdict::kWait);
  now_ += seconds(10);
  EXPECT_EQ(AfterProofs(&guard, node, 1, seconds(0)), GuardVerdict::kDelete);
}

TEST_F(Guard, AsksAgainWhenTheNextProofIsUseful) {
  DeletionGuard guard{DeletionGuardOptions{}};
  const kube::Node node = OldNode("a");
  guard.Absent(node, now_);
  EXPECT_EQ(guard.Decide(node, now_, kWall).ask_again, now_ + seconds(30));
}

TEST_F(Guard, P_D3_YoungNodeIsKept) {
  DeletionGuard guard{DeletionGuardOptions{}};
  kube::Node node = OldNode("a");
  node.meta.creation_unix_ms = UnixMillis(kWall - seconds(119));
  EXPECT_EQ(AfterProofs(&guard, node, 3, seconds(30)), GuardVerdict::kWait);
  EXPECT_EQ(guard.Decide(node, now_, kWall).ask_again, now_ + seconds(1));
  EXPECT_EQ(guard.Decide(node, now_, kWall + seconds(1)).verdict, GuardVerdict::kDelete);
}

TEST_F(Guard, NodeFromTheFutureIsKept) {
  DeletionGuard guard{DeletionGuardOptions{}};
  kube::Node node = OldNode("a");
  node.meta.creation_unix_ms = UnixMillis(kWall + std::chrono::hours(1));
  EXPECT_EQ(AfterProofs(&guard, node, 3, seconds(30)), GuardVerdict::kWait);
}

TEST_F(Guard, L16_ForeignOrMissingProviderIdIsNeverDeleted) {
  for (const DeletionGuardOptions& options :
       {DeletionGuardOptions{}, DeletionGuardOptions::Stock()}) {
    for (const char* id : {"", "aws:///i-1", "openstack:///x", "otc:/x", "OTC:///x", "xotc:///x"}) {
      DeletionGuard guard{options};
      kube::Node node = OldNode("a");
      node.provider_id = id;
      EXPECT_EQ(AfterProofs(&guard, node, 5, minutes(1)), GuardVerdict::kNever) << id;
      EXPECT_EQ(guard.absent(), 0U);  // and it does not trip the stop either
    }
  }
}

TEST_F(Guard, L02_StockDeletesAtTheFirstProof) {
  DeletionGuard guard{DeletionGuardOptions::Stock()};
  EXPECT_EQ(AfterProofs(&guard, OldNode("a"), 1, seconds(0)), GuardVerdict::kDelete);
}

TEST_F(Guard, StockNeverStops) {
  DeletionGuard guard{DeletionGuardOptions::Stock()};
  for (int i = 0; i < 10; ++i) guard.Absent(OldNode(std::to_string(i)), now_);
  EXPECT_FALSE(guard.UpdateStop(10, now_));
}

struct StopCase {
  int absent;
  std::size_t nodes;
  bool stops;
};

TEST_F(Guard, P_D2_StopsWhenManyVanishAtOnce) {
  for (const StopCase& c :
       {StopCase{2, 2, false}, StopCase{3, 3, true}, StopCase{3, 14, true}, StopCase{3, 15, false},
        StopCase{20, 100, false}, StopCase{21, 100, true}}) {
    DeletionGuard guard{DeletionGuardOptions{}};
    for (int i = 0; i < c.absent; ++i) guard.Absent(OldNode(std::to_string(i)), now_);
    EXPECT_EQ(guard.UpdateStop(c.nodes, now_), c.stops) << c.absent << " of " << c.nodes;
    EXPECT_EQ(guard.stopped(), c.stops);
  }
}

TEST_F(Guard, P_D2_StopHoldsUntilNodesReturnAndTripsOnce) {
  DeletionGuard guard{DeletionGuardOptions{}};
  const auto pass = [&] {
    for (int i = 0; i < 4; ++i) guard.Absent(OldNode(std::to_string(i)), now_);
    return guard.UpdateStop(10, now_);
  };
  EXPECT_TRUE(pass());
  for (int i = 0; i < 100; ++i) {
    now_ += minutes(1);
    EXPECT_FALSE(pass());  // still stopped, but not tripped again
    ASSERT_TRUE(guard.stopped());
    const GuardVerdict wanted = i == 0 ? GuardVerdict::kWait : GuardVerdict::kStopped;
    ASSERT_EQ(guard.Decide(OldNode("0"), now_, kWall).verdict, wanted);
  }
  guard.Retain({"0", "1"});
  guard.UpdateStop(10, now_);
  EXPECT_FALSE(guard.stopped());
  EXPECT_EQ(guard.Decide(OldNode("0"), now_, kWall).verdict, GuardVerdict::kDelete);
}

TEST_F(Guard, P_D2_DeletionsOfTheLastTenMinutesCount) {
  DeletionGuard guard{DeletionGuardOptions{}};
  guard.Deleting("x", now_);
  guard.Deleting("y", now_);
  now_ += minutes(9);
  guard.Absent(OldNode("0"), now_);
  EXPECT_TRUE(guard.UpdateStop(8, now_));  // 3 of 10
  now_ += minutes(1);
  guard.UpdateStop(8, now_);
  EXPECT_FALSE(guard.stopped());
}

TEST_F(Guard, ADeletionThatFailedCountsOnce) {
  DeletionGuard guard{DeletionGuardOptions{}};
  for (const char* uid : {"0", "1"}) {
    guard.Absent(OldNode(uid), now_);
    guard.Deleting(uid, now_);
  }
  EXPECT_FALSE(guard.UpdateStop(10, now_));
}

TEST_F(Guard, MemoryIsBoundedByTheClusterAndTheWindow) {
  DeletionGuard guard{DeletionGuardOptions{}};
  for (int i = 0; i < 1'000; ++i) guard.Absent(OldNode(std::to_string(i)), now_);
  EXPECT_EQ(guard.absent(), 1'000U);
  guard.Retain({"1"});
  EXPECT_EQ(guard.absent(), 1U);
}

}  // namespace
}  // namespace otc::host
