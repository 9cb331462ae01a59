// The life cycle of docs/reference/plugin-abi.md §12, on real plugins.
#include "host/plugin/plugin_manager.h"

#include <gtest/gtest.h>

#include <thread>

#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kPatience{10};

TEST(PluginManager, APluginIsStartedAndStoppedInOrder) {
  ManagerFixture f;
  f.Add("scripted");
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kStarted);
  const PluginSnapshot plugin = f.Plugin();
  EXPECT_EQ(plugin.version, "1.2.3");
  EXPECT_EQ(plugin.abi, "1.0");
  ASSERT_EQ(plugin.interfaces.size(), 1u);
  EXPECT_TRUE(plugin.interfaces[0].known && plugin.interfaces[0].in_use);
  EXPECT_TRUE(f.manager->Stop().empty());
  EXPECT_EQ(f.State(), PluginState::kStopped);
  std::vector<std::string> slots;
  for (const std::string& line : f.log.Lines()) {
    const auto at = line.find("slot ");
    if (at != std::string::npos) slots.push_back(line.substr(at, line.find(' ', at + 5) - at));
  }
  EXPECT_EQ(slots, (std::vector<std::string>{"slot create", "slot start", "slot quiesce",
                                             "slot destroy"}));
}

TEST(PluginManager, EveryStateOnTheWayIsLoggedAndOneIsInTheMetric) {
  ManagerFixture f;
  f.Add("scripted");
  f.Start();
  for (const char* state : {"discovered", "verified", "loaded", "created", "started"}) {
    EXPECT_EQ(f.CountLines(std::string("plugin state changed plugin=scripted state=") + state), 1)
        << state;
  }
  EXPECT_EQ(f.metrics.Sum("otc_plugin_state", {{"plugin", "scripted"}}), 1);
  EXPECT_EQ(f.metrics.Sum("otc_plugin_state", {{"plugin", "scripted"}, {"state", "started"}}), 1);
  f.manager->Stop();
  EXPECT_EQ(f.metrics.Sum("otc_plugin_state", {{"plugin", "scripted"}, {"state", "stopped"}}), 1);
  EXPECT_EQ(f.metrics.Sum("otc_plugin_state", {{"plugin", "scripted"}}), 1);
}

TEST(PluginManager, StartsAsListedAndStopsInReverse) {
  ManagerFixture f;
  f.Add("other");
  f.Add("scripted");
  f.Start();
  f.manager->Stop();
  std::vector<std::string> steps;
  for (const std::string& line : f.log.Lines()) {
    for (const char* step : {"slot start", "slot quiesce"}) {
      if (line.find(step) == std::string::npos) continue;
      steps.push_back(std::string(step) +
                      (line.find("plugin=other") != std::string::npos ? " other" : " scripted"));
    }
  }
  EXPECT_EQ(steps, (std::vector<std::string>{"slot start other", "slot start scripted",
                                             "slot quiesce scripted", "slot quiesce other"}));
}

TEST(PluginManager, DisabledByKeyOrGlobNeverRuns) {
  ManagerFixture f;
  f.Add("scripted").enabled = false;
  f.Add("other");
  f.config.disable = {"oth*"};
  f.Start();
  EXPECT_EQ(f.State("scripted"), PluginState::kDisabled);
  EXPECT_EQ(f.Plugin("scripted").message, "enabled: false in host.yaml");
  EXPECT_EQ(f.State("other"), PluginState::kDisabled);
  EXPECT_EQ(f.Plugin("other").message, "disable: \"oth*\" in host.yaml");
  EXPECT_EQ(f.CountLines("slot "), 0);
  f.ReloadSettings("{\"a\":1}");
  EXPECT_EQ(f.State("scripted"), PluginState::kDisabled) << "only a restart enables it";
}

TEST(PluginManager, ARefusedPluginFailsAloneAndNamesTheRule) {
  ManagerFixture f;
  for (const char* bad : {"truncated", "text-file", "crash-constructor", "exit-constructor"}) {
    InstallBadPlugin(bad, f.dir.path());
    PluginConfig config;
    config.id = bad;
    f.config.plugins.push_back(config);
  }
  f.Add("scripted");
  f.Start();
  for (const char* bad : {"truncated", "text-file", "crash-constructor", "exit-constructor"}) {
    EXPECT_EQ(f.State(bad), PluginState::kFailed) << bad;
    EXPECT_EQ(f.Plugin(bad).reason, "Refused") << bad;
    EXPECT_NE(f.Plugin(bad).message.find("LOAD-"), std::string::npos) << f.Plugin(bad).message;
  }
  EXPECT_EQ(f.State("scripted"), PluginState::kStarted);
  EXPECT_TRUE(f.manager->Ready().ok()) << "none of them is required";
  EXPECT_TRUE(f.fatal.empty());
}

TEST(PluginManager, ARefusedFileStillShowsWhatItIs) {
  ManagerFixture f;
  f.Add("scripted").sha256 = std::string(64, '0');
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kFailed);
  EXPECT_EQ(f.Plugin().version, "1.2.3");
}

TEST(PluginManager, AnExclusiveInterfaceGoesToTheFirst) {
  ManagerFixture f;
  f.Add("scripted");
  f.Add("rival");
  f.Start();
  EXPECT_EQ(f.State("scripted"), PluginState::kStarted);
  EXPECT_EQ(f.State("rival"), PluginState::kFailed);
  EXPECT_NE(f.Plugin("rival").message.find(
                "interface otc.instances-v2/1, which plugin scripted provides already"),
            std::string::npos)
      << f.Plugin("rival").message;
  EXPECT_EQ(f.CountLines("slot create"), 1);
}

TEST(PluginManager, InstancesIsNullWithoutAPluginThatOffersThem) {
  ManagerFixture f;
  f.Add("other");
  f.Start();
  EXPECT_EQ(f.manager->Instances(), nullptr);
}

TEST(PluginManager, NotConfiguredDisablesAndAChangeTriesAgain) {
  ManagerFixture f;
  f.Add("scripted", Script("create", "fail=9:NotConfigured:subnet-id_is_missing"));
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kDisabled);
  EXPECT_EQ(f.Plugin().reason, "NotConfigured");
  EXPECT_EQ(f.Plugin().message, "subnet-id_is_missing");
  EXPECT_EQ(Describe(f).reason(), "NotStarted");
  f.ReloadSettings("{}");
  EXPECT_EQ(f.State(), PluginState::kStarted);
  EXPECT_EQ(f.CountLines("slot create"), 2);
  EXPECT_TRUE(Describe(f).ok());
}

TEST(PluginManager, CreateThatFailsIsFinal) {
  ManagerFixture f;
  f.Add("scripted", Script("create", "fail=3:BadSettings:flavour_is_unknown"));
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kFailed);
  EXPECT_EQ(f.Plugin().reason, "BadSettings");
  f.ReloadSettings("{}");
  EXPECT_EQ(f.State(), PluginState::kFailed);
  EXPECT_EQ(f.CountLines("slot create"), 1);
  EXPECT_EQ(f.CountLines("slot destroy"), 0);
}

TEST(PluginManager, UnavailableFromStartIsRetriedWithBackOff) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "before=4"));
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kCreated);
  EXPECT_EQ(f.Plugin().reason, "NotYet");
  EXPECT_EQ(Describe(f).code(), Code::kUnavailable);
  const auto starts = [&] { return f.CountLines("slot start"); };
  f.clock.Advance(milliseconds(999));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(starts(), 1);
  for (const int delay_s : {1, 2, 4}) {
    const int before = starts();
    f.clock.Advance(seconds(delay_s) - milliseconds(1));
    ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
    f.clock.Advance(milliseconds(1));
    ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
    EXPECT_EQ(starts(), before + 1) << delay_s;
  }
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginManager, RetryAfterOfStartReplacesTheBackOff) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "fail=14:CloudAway:no_answer:30000"));
  f.Start();
  f.clock.Advance(milliseconds(29'999));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.CountLines("slot start"), 1);
  f.clock.Advance(milliseconds(1));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.CountLines("slot start"), 2);
}

TEST(PluginManager, AnyOtherCodeFromStartFailsAndCleansUp) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "fail=7:Forbidden:no_rights"));
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kFailed);
  EXPECT_EQ(f.Plugin().reason, "Forbidden");
  EXPECT_EQ(f.CountLines("slot destroy"), 1);
}

TEST(PluginManager, ACreateThatHangsCostsThatPluginOnly) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("create", "hang=" + release));
  f.Add("other");
  f.Construct();
  f.manager->Start();
  ASSERT_TRUE(AdvanceUntil(f, [&] { return f.State("other") == PluginState::kStarted; }));
  EXPECT_EQ(f.State("scripted"), PluginState::kFailed);
  EXPECT_EQ(f.Plugin("scripted").reason, "CallOverrun");
  WriteFile(release, "");
}

TEST(PluginManager, AStartThatHangsIsAbandoned) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("start", "hang=" + release));
  f.Construct();
  f.manager->Start();
  ASSERT_TRUE(AdvanceUntil(f, [&] { return f.State() == PluginState::kFailed; }));
  EXPECT_EQ(f.CountLines("slot quiesce"), 0) << "no control slot while another runs";
  WriteFile(release, "");
}

TEST(PluginManager, ReconfigureGetsTheNewDocumentWhole) {
  ManagerFixture f;
  f.Add("scripted", "{}");
  f.Start();
  f.ReloadSettings(Script("reconfigure", "request"));
  EXPECT_EQ(f.CountLines("slot reconfigure"), 1);
  const std::string hex = f.LineWith("request ");
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  EXPECT_EQ(text, ConfigDocument(Script("reconfigure", "request"), f.inputs.cloud, f.inputs.cluster,
                                 Role::kControllers));
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginManager, WhatDoesNotChangeIsNotReconfigured) {
  ManagerFixture f;
  f.Add("scripted");
  f.Start();
  f.ReloadSettings("{}");
  EXPECT_EQ(f.CountLines("slot reconfigure"), 0);
  f.inputs.cloud->sections["LoadBalancer"]["subnet-id"] = "s";
  f.ReloadSettings("{}");
  EXPECT_EQ(f.CountLines("slot reconfigure"), 1) << "cloud.conf changed";
  f.config.plugins[0].defaults["a"] = "b";
  f.ReloadSettings("{}");
  EXPECT_EQ(f.CountLines("slot reconfigure"), 2) << "defaults changed";
}

TEST(PluginManager, ARefusedReconfigureLeavesTheOldAndDegrades) {
  ManagerFixture f;
  f.Add("scripted", Script("describe", "config"));
  f.Start();
  f.ReloadSettings(Script("reconfigure", "fail=3:BadSettings:no"));
  EXPECT_EQ(f.State(), PluginState::kDegraded);
  EXPECT_EQ(f.Plugin().reason, "BadSettings");
  EXPECT_NE(f.Plugin().message.find("the old one stays"), std::string::npos);
  EXPECT_TRUE(Describe(f).ok()) << "calls still flow";
  EXPECT_EQ(f.CountLines("config 0"), 1) << "with the old script";
  // It stays so, however long, until a configuration is accepted.
  f.clock.Advance(minutes(10));
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.State(), PluginState::kDegraded);
  f.ReloadSettings("{}");
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginManager, WithoutReconfigureThePluginIsRecreated) {
  ManagerFixture f;
  f.Add("recreated", "{}");
  f.Start();
  f.ReloadSettings("{\"a\":1}");
  EXPECT_EQ(f.State(), PluginState::kStarted);
  EXPECT_EQ(f.CountLines("slot create"), 2);
  EXPECT_EQ(f.CountLines("slot quiesce"), 1);
  EXPECT_EQ(f.CountLines("slot destroy"), 1);
  EXPECT_EQ(f.CountLines("slot start"), 2);
  for (const char* state : {"quiescing", "stopped"}) {
    EXPECT_EQ(f.CountLines(std::string("state=") + state), 1) << state;
  }
  EXPECT_TRUE(Describe(f).ok());
}

TEST(PluginManager, ARecreateThatIsRefusedLeavesTheOldInstance) {
  ManagerFixture f;
  f.Add("recreated", Script("describe", "log=old"));
  f.Start();
  f.ReloadSettings(Script("create", "fail=3:BadSettings:no"));
  EXPECT_EQ(f.State(), PluginState::kDegraded);
  EXPECT_EQ(f.CountLines("slot destroy"), 0);
  EXPECT_TRUE(Describe(f).ok());
  EXPECT_EQ(f.CountLines("INFO old"), 1);
}

TEST(PluginManager, ARecreateWithNotConfiguredDisables) {
  ManagerFixture f;
  f.Add("recreated");
  f.Start();
  f.ReloadSettings(Script("create", "fail=9:NotConfigured:gone"));
  EXPECT_EQ(f.State(), PluginState::kDisabled);
  EXPECT_EQ(f.CountLines("slot destroy"), 1);
  f.ReloadSettings("{}");
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginManager, ReconfigureWaitsForRunningCalls) {
  ManagerFixture f;
  const std::string release = f.dir.File("release");
  f.Add("scripted", Script("describe", "hang=" + release + " log=described"));
  f.Start();
  std::thread caller([&] { EXPECT_TRUE(Describe(f).ok()); });
  ASSERT_TRUE(Eventually([&] { return f.CountLines("INFO slot describe") == 1; }));
  f.config.plugins[0].settings_json = "{}";
  f.manager->Reload(f.config, f.inputs);
  EXPECT_FALSE(f.manager->AwaitIdle(milliseconds(100)));
  EXPECT_EQ(f.CountLines("slot reconfigure"), 0);
  WriteFile(release, "");
  caller.join();
  ASSERT_TRUE(f.manager->AwaitIdle(kPatience));
  EXPECT_EQ(f.CountLines("slot reconfigure"), 1);
}

TEST(PluginManager, ABackingOffPluginStartsAtOnceWithANewConfiguration) {
  ManagerFixture f;
  f.Add("scripted", Script("start", "fail=14:CloudAway:no"));
  f.Start();
  EXPECT_EQ(f.State(), PluginState::kCreated);
  f.ReloadSettings("{}");
  EXPECT_EQ(f.State(), PluginState::kStarted);
}

TEST(PluginManager, OtherChangesWaitForARestartAndAreShown) {
  ManagerFixture f;
  f.Add("scripted");
  f.Start();
  f.config.plugins[0].workers = 3;
  f.config.plugins[0].deadlines["describe"] = seconds(5);
  f.ReloadSettings("{}");
  EXPECT_EQ(f.Plugin().pending_change, "workers, deadlines");
  EXPECT_EQ(f.CountLines("slot reconfigure"), 0);
  f.config.plugins.clear();
  f.config.disable = {"x"};
  f.ReloadSettings("{}");
  EXPECT_EQ(f.Plugin().pending_change, "removed from host.yaml");
  EXPECT_EQ(f.State(), PluginState::kStarted);
  EXPECT_EQ(f.CountLines("take effect at the next start of the process changes=disable"), 1);
}

TEST(PluginManager, FilesThatNobodyNamesAreListedAsNotConfigured) {
  ManagerFixture f;
  f.Add("scripted");
  InstallTestPlugin("other", f.dir.path());
  f.Start();
  const auto all = f.manager->SnapshotWithUnconfigured();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].id, "other");
  EXPECT_EQ(all[1].state, PluginState::kNotConfigured);
  EXPECT_EQ(all[1].file, f.dir.File("other.so"));
}

TEST(PluginManager, InspectionRunsNoCode) {
  ManagerFixture f;
  f.Add("scripted");
  InstallBadPlugin("crash-constructor", f.dir.path());
  PluginConfig bad;
  bad.id = "crash-constructor";
  f.config.plugins.push_back(bad);
  PluginConfig missing;
  missing.id = "missing";
  f.config.plugins.push_back(missing);
  InstallTestPlugin("other", f.dir.path());
  const auto all = InspectPlugins(f.config, Role::kControllers, AllowDebugPlugins());
  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(all[0].state, PluginState::kVerified);
  EXPECT_EQ(all[0].version, "1.2.3");
  EXPECT_EQ(all[1].state, PluginState::kVerified) << "only loading it shows the crash";
  EXPECT_EQ(all[2].state, PluginState::kFailed);
  EXPECT_EQ(all[3].state, PluginState::kNotConfigured);
}

}  // namespace
}  // namespace otc::host::plugin_host
