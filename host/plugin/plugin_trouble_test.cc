// Plugins that overrun, break the ABI, ignore their cancellation or are required
// and do not start (docs/reference/plugin-abi.md §6 and §12), on real plugins.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "host/plugin/plugin_manager.h"
#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kPatience{10};

TEST(PluginTrouble, AnOverrunDegradesAndFiveCleanMinutesHeal) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("describe", "hang=" + release));
  f.Start();
  Status status;
  std::thread caller([&] { status = Describe(f); });
  ASSERT_TRUE(Eventually([&] { return f.CountLines("INFO slot describe") == 1; }));
  f.clock.Advance(seconds(69));
  std::this_thread::sleep_for(milliseconds(100));
  EXPECT_EQ(f.State(), PluginState::kStarted) << "ten seconds of grace";
  f.clock.Advance(seconds(1));
  caller.join();
  EXPECT_EQ(status.reason(), "CallOverrun");
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kDegraded);
  EXPECT_EQ(f.Plugin().overruns, 1u);
  EXPECT_EQ(f.Plugin().message, "1 of at most 4 calls did not return");
  WriteFile(release, "");  // the lost worker comes back; calls flow as before
  EXPECT_TRUE(Describe(f).ok());
  f.clock.Advance(minutes(5));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginTrouble, TheFifthOverrunFailsThePlugin) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("describe", "hang=" + release)).required = true;
  f.Start();
  for (int i = 1; i <= 5; ++i) {
    std::thread caller([&] { EXPECT_EQ(Describe(f).reason(), "CallOverrun"); });
    ASSERT_TRUE(Eventually([&] { return f.CountLines("INFO slot describe") == i; })) << i;
    f.clock.Advance(seconds(70));
    caller.join();
    ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
    EXPECT_EQ(f.State(), i <= 4 ? PluginState::kDegraded : PluginState::kFailed) << i;
  }
  EXPECT_EQ(Describe(f).reason(), "NotStarted");
  ASSERT_EQ(f.fatal.size(), 1u) << "it is required";
  EXPECT_NE(f.fatal[0].message().find("required plugin scripted failed"), std::string::npos);
  WriteFile(release, "");
}

TEST(PluginTrouble, MoreThanHalfBugsOfTenCallsDegrade) {
  ManagerFixture f;
  f.Add("scripted", Script("describe", "raw=99"));
  f.Start();
  for (int i = 0; i < 9; ++i) EXPECT_EQ(Describe(f).reason(), "BadCode");
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kStarted) << "nine are not enough";
  EXPECT_FALSE(Describe(f).ok());
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kDegraded);
  EXPECT_EQ(f.Plugin().reason, "PluginBugs");
  EXPECT_EQ(f.Plugin().plugin_bugs, 10u);
  EXPECT_EQ(f.metrics.Sum("otc_plugin_bugs_total", {{"plugin", "scripted"}, {"reason", "BadCode"}}),
            10);
}

TEST(PluginTrouble, ErrorsThatAreNoBugsDoNotDegrade) {
  ManagerFixture f;
  f.Add("scripted", Script("describe", "fail=14:CloudAway:no"));
  f.Start();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Describe(f).reason(), "CloudAway");
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginTrouble, AnExceptionThatLeavesASlotIsAPluginBug) {
  ManagerFixture f;
  f.Add("throws");
  f.Start();
  const Status status = Describe(f);
  EXPECT_EQ(status.reason(), "PluginException");
  EXPECT_NE(status.message().find("no such thing"), std::string::npos);
  EXPECT_EQ(f.Plugin().plugin_bugs, 1u);
}

TEST(PluginTrouble, StopCancelsRunningCalls) {
  ManagerFixture f;
  f.Add("scripted", Script("describe", "untilcancel"));
  f.Start();
  Status status;
  std::thread caller([&] { status = Describe(f); });
  ASSERT_TRUE(Eventually([&] { return f.CountLines("INFO slot describe") == 1; }));
  EXPECT_TRUE(f.manager->Stop().empty());
  caller.join();
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(status.reason(), "Quiescing");
  EXPECT_EQ(f.State(), PluginState::kStopped);
}

TEST(PluginTrouble, ACallThatIgnoresCancellationLeadsToAbandonment) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("describe", "hang=" + release));
  f.Start();
  Status status;
  std::thread caller([&] { status = Describe(f); });
  ASSERT_TRUE(Eventually([&] { return f.CountLines("INFO slot describe") == 1; }));
  std::vector<std::string> abandoned;
  std::atomic<bool> stopped{false};
  std::thread stop([&] {
    abandoned = f.manager->Stop();
    stopped = true;
  });
  ASSERT_TRUE(AdvanceUntil(f, [&] { return stopped.load(); }));
  stop.join();
  caller.join();
  EXPECT_EQ(abandoned, std::vector<std::string>{"scripted"});
  EXPECT_EQ(f.State(), PluginState::kFailed);
  EXPECT_EQ(status.code(), Code::kCancelled);
  EXPECT_EQ(f.CountLines("slot quiesce"), 0);
  EXPECT_EQ(f.CountLines("slot destroy"), 0);
  WriteFile(release, "");
}

TEST(PluginTrouble, AQuiesceThatHangsLeadsToAbandonment) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("quiesce", "hang=" + release));
  f.Add("other");
  f.Start();
  std::vector<std::string> abandoned;
  std::atomic<bool> stopped{false};
  std::thread stop([&] {
    abandoned = f.manager->Stop();
    stopped = true;
  });
  ASSERT_TRUE(AdvanceUntil(f, [&] { return stopped.load(); }));
  stop.join();
  EXPECT_EQ(abandoned, std::vector<std::string>{"scripted"});
  EXPECT_EQ(f.State("scripted"), PluginState::kFailed);
  EXPECT_EQ(f.State("other"), PluginState::kStopped);
  WriteFile(release, "");
}

TEST(PluginTrouble, StopDuringStartCancelsIt) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "untilcancel"));
  f.Construct();
  f.manager->Start();
  ASSERT_TRUE(Eventually([&] { return f.CountLines("slot start") == 1; }));
  EXPECT_TRUE(f.manager->Stop().empty());
  EXPECT_EQ(f.State(), PluginState::kStopped);
  EXPECT_EQ(f.CountLines("slot destroy"), 1);
}

TEST(PluginTrouble, ARequiredPluginThatFailsIsFatalOnce) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "fail=7:Forbidden:no_rights")).required = true;
  f.Start();
  ASSERT_EQ(f.fatal.size(), 1u);
  EXPECT_EQ(f.fatal[0].message(), "required plugin scripted failed (failed, Forbidden): no_rights");
  f.clock.Advance(minutes(2));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.fatal.size(), 1u);
  EXPECT_EQ(f.manager->Ready().reason(), "PluginNotStarted");
}

TEST(PluginTrouble, ARequiredPluginHasSixtySecondsToStart) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "fail=14:CloudAway:no:50000")).required = true;
  f.Start();
  EXPECT_EQ(f.manager->Ready().code(), Code::kUnavailable);
  EXPECT_NE(f.manager->Ready().message().find("required plugin scripted is created: CloudAway"),
            std::string::npos)
      << f.manager->Ready().message();
  f.clock.Advance(seconds(59));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_TRUE(f.fatal.empty());
  f.clock.Advance(seconds(1));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  ASSERT_EQ(f.fatal.size(), 1u);
  EXPECT_NE(f.fatal[0].message().find("was not started within 60 s (created, CloudAway)"),
            std::string::npos)
      << f.fatal[0].message();
}

TEST(PluginTrouble, ASlowPluginBeforeItTakesNothingFromARequiredOne) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("other", Script("start", "hang=" + release)).deadlines["start"] = minutes(2);
  f.Add("scripted").required = true;
  f.Construct();
  f.manager->Start();
  ASSERT_TRUE(Eventually([&] { return f.CountLines("slot start") == 1; }));
  f.clock.Advance(seconds(90));
  WriteFile(release, "");
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State("scripted"), PluginState::kStarted);
  EXPECT_TRUE(f.fatal.empty());
}

TEST(PluginTrouble, ARequiredPluginThatIsNotConfiguredIsFatalAfterSixtySeconds) {
  ManagerFixture f;
  f.Add("scripted", Script("create", "fail=9:NotConfigured:subnet-id_is_missing")).required = true;
  f.Start();
  EXPECT_TRUE(f.fatal.empty());
  f.clock.Advance(seconds(60));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  ASSERT_EQ(f.fatal.size(), 1u);
  EXPECT_NE(f.fatal[0].message().find("subnet-id_is_missing"), std::string::npos);
}

TEST(PluginTrouble, SwitchingOffARequiredPluginIsTheOperatorsRight) {
  ManagerFixture f;
  f.Add("scripted").required = true;
  f.config.disable = {"*"};
  f.Start();
  f.clock.Advance(minutes(2));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_TRUE(f.fatal.empty());
  EXPECT_TRUE(f.manager->Ready().ok());
  EXPECT_EQ(f.CountLines("a required plugin is switched off"), 1);
}

TEST(PluginTrouble, AnOptionalPluginNeverTouchesReadiness) {
  ManagerFixture f;
  f.Add("scripted").required = true;
  f.Add("other", Script("start", "fail=7:Forbidden:no"));
  f.Start();
  EXPECT_EQ(f.State("other"), PluginState::kFailed);
  EXPECT_TRUE(f.manager->Ready().ok());
  f.clock.Advance(minutes(2));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_TRUE(f.fatal.empty());
}

}  // namespace
}  // namespace otc::host::plugin_host
