#include "host/plugin/loader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/plugin/crash_handler.h"
#include "host/plugin/interfaces.h"
#include "host/plugin/library.h"
#include "host/plugin/probe.h"
#include "host/plugin/probe_verdict.h"
#include "host/plugin/service_hub.h"
#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

namespace fs = std::filesystem;

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct LoaderFixture : testing::Test {
  SafeDir dir;
  SystemClock clock;
  VerifyOptions verify{dir.path(), OfferedServices(Role::kControllers, true), AllowDebugPlugins()};
  LoadOptions load{ProbeCommand(), std::chrono::seconds(10)};

  static PluginConfig Config(const std::string& id) {
    PluginConfig config;
    config.id = id;
    return config;
  }
  // OK, or why not, for a file that is in place.
  Status TryLoad(const PluginConfig& config) {
    const auto verified = VerifyPlugin(config, verify, nullptr);
    if (!verified.ok()) return verified.status();
    return LoadPlugin(*verified, load, clock).status();
  }
  Status LoadTest(const std::string& id) {
    InstallTestPlugin(id, dir.path());
    return TryLoad(Config(id));
  }
};

using Loader = LoaderFixture;

TEST_F(Loader, AGoodPluginIsVerifiedAndLoaded) {
  InstallTestPlugin("scripted", dir.path());
  const auto verified = VerifyPlugin(Config("scripted"), verify, nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  EXPECT_EQ(verified->manifest.version, "1.2.3");
  EXPECT_EQ(verified->sha256.size(), 64u);
  EXPECT_TRUE(verified->file.bytes.empty()) << "the bytes are not kept";
  // Its content is not kept: with a large plugin that is memory for ever.
  EXPECT_EQ(verified->file.bytes.capacity(), 0u);
  const auto loaded = LoadPlugin(*verified, load, clock);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(ToView((*loaded)->id), "scripted");
  EXPECT_NE(FindTable(**loaded, kInstancesId), nullptr);
  EXPECT_EQ(
      DescribePluginAddress(reinterpret_cast<void*>((*loaded)->create)).rfind("scripted 1.2.3 ", 0),
      0u);
}

TEST_F(Loader, TheDescriptorStaysOpenAt900OrAbove) {
  ASSERT_TRUE(LoadTest("scripted").ok());
  const std::string path = fs::canonical(dir.File("scripted.so"));
  bool found = false;
  for (const auto& entry : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(entry.path(), gone) != path) continue;
    EXPECT_GE(std::stoi(entry.path().filename()), 900);
    found = true;
  }
  EXPECT_TRUE(found);
}

// Every plugin of sdk/testdata/bad that a host must refuse, by the rule that it
// breaks; the others behave badly only when their slots are called.
struct BadPlugin {
  std::string name, rule, stage;
};
std::vector<BadPlugin> BadPlugins() {
  std::vector<BadPlugin> all;
  std::ifstream list(std::string(OTC_BAD_PLUGIN_DIR) + "/expected.txt");
  BadPlugin plugin;
  while (list >> plugin.name >> plugin.rule >> plugin.stage) all.push_back(plugin);
  return all;
}

TEST_F(Loader, BadPluginsAreRefusedByTheRuleThatTheyBreak) {
  int refused = 0;
  load.probe_timeout = std::chrono::seconds(2);  // one of them hangs
  for (const BadPlugin& plugin : BadPlugins()) {
    if (plugin.stage == "run") continue;
    // Sanitized builds carry another kind of build on purpose.
    if (plugin.name == "debug-build" && AllowDebugPlugins()) continue;
    InstallBadPlugin(plugin.name, dir.path());
    const Status status = TryLoad(Config(plugin.name));
    EXPECT_EQ(status.reason(), "Refused") << plugin.name;
    // What only shows when it is loaded shows in the probe, with its own rule.
    const std::string rule = plugin.rule == "ABI-R04" ? "LOAD-9" : plugin.rule;
    EXPECT_TRUE(Has(status.message(), plugin.name == "null-entry" ? "LOAD-10" : rule))
        << plugin.name << ": " << status.message();
    EXPECT_TRUE(Has(status.message(), dir.File(plugin.name + ".so"))) << status.message();
    EXPECT_TRUE(Has(status.message(), "; wanted ") && Has(status.message(), "; do: "))
        << status.message();
    ++refused;
  }
  EXPECT_GE(refused, 35);
}

TEST_F(Loader, TheCounterpartWithoutAFaultIsAccepted) {
  InstallBadPlugin("good", dir.path());
  const Status status = TryLoad(Config("good"));
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Loader, APinnedFileMustHaveTheDigest) {
  InstallTestPlugin("scripted", dir.path());
  PluginConfig config = Config("scripted");
  config.sha256 = std::string(64, '0');
  const Status status = TryLoad(config);
  EXPECT_TRUE(Has(status.message(), "LOAD-5: found SHA-256 ")) << status.message();
  VerifiedPlugin partial;
  EXPECT_FALSE(VerifyPlugin(config, verify, &partial).ok());
  EXPECT_EQ(partial.manifest.version, "1.2.3") << "a list still shows what it is";
  config.sha256 = partial.sha256;
  EXPECT_TRUE(TryLoad(config).ok());
}

TEST_F(Loader, AllViolationsOfAFileAreNamedAtOnce) {
  InstallBadPlugin("needs-unknown", dir.path());
  PluginConfig config = Config("needs-unknown");
  config.sha256 = std::string(64, '0');
  const std::string message = TryLoad(config).message();
  EXPECT_TRUE(Has(message, "LOAD-5")) << message;
  EXPECT_TRUE(Has(message, "LOAD-6")) << message;
}

TEST_F(Loader, InterfacesOfHostYamlMustBeProvided) {
  InstallTestPlugin("scripted", dir.path());
  PluginConfig config = Config("scripted");
  config.interfaces = {"otc.load-balancer/1"};
  EXPECT_TRUE(Has(TryLoad(config).message(), "otc.load-balancer/1, which host.yaml lists"));
}

TEST_F(Loader, ADraftInterfaceCannotBeRequired) {
  InstallBadPlugin("write-without-plan", dir.path());  // provides a draft
  PluginConfig config = Config("write-without-plan");
  config.required = true;
  EXPECT_TRUE(Has(TryLoad(config).message(), "ABI-R38: found required: true"));
}

TEST_F(Loader, AServiceThatTheRoleLacksIsRefusedBeforeAnyCodeRuns) {
  InstallBadPlugin("service-in-put", dir.path());  // needs the cloud
  verify.services = OfferedServices(Role::kControllers, false);
  EXPECT_TRUE(Has(TryLoad(Config("service-in-put")).message(), "LOAD-6"));
}

TEST_F(Loader, OneFileIsLoadedOnceUnderWhateverName) {
  ASSERT_TRUE(LoadTest("scripted").ok());
  const auto again = VerifyPlugin(Config("scripted"), verify, nullptr);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(LoadedAs(again->file.device, again->file.inode), "scripted");
  const Status status = LoadPlugin(*again, load, clock).status();
  EXPECT_TRUE(Has(status.message(), "LOAD-7: found a file that is already loaded as scripted"));
  EXPECT_FALSE(ClaimFile(again->file.device, again->file.inode, "other", UniqueFd()));
}

TEST_F(Loader, AnotherFileUnderAReusedDescriptorNumberIsAnotherPlugin) {
  // The linker remembers /proc/self/fd/N; had N been closed, the second load
  // would return the first plugin.
  ASSERT_TRUE(LoadTest("scripted").ok());
  InstallTestPlugin("rival", dir.path());
  const auto verified = VerifyPlugin(Config("rival"), verify, nullptr);
  ASSERT_TRUE(verified.ok());
  const auto loaded = LoadPlugin(*verified, load, clock);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  EXPECT_EQ(ToView((*loaded)->id), "rival");
}

TEST_F(Loader, TheVerifiedContentIsLoadedEvenIfTheFileIsReplacedMeanwhile) {
  InstallTestPlugin("scripted", dir.path());
  const auto verified = VerifyPlugin(Config("scripted"), verify, nullptr);
  ASSERT_TRUE(verified.ok());
  fs::remove(dir.File("scripted.so"));
  InstallBadPlugin("crash-constructor", dir.path());
  fs::rename(dir.File("crash-constructor.so"), dir.File("scripted.so"));
  EXPECT_TRUE(LoadPlugin(*verified, load, clock).ok());
}

TEST_F(Loader, ASealedMemoryFileLoadsToo) {
  InstallTestPlugin("scripted", dir.path());
  auto verified = VerifyPlugin(Config("scripted"), verify, nullptr);
  ASSERT_TRUE(verified.ok());
  const auto file = OpenPluginFile(dir.path(), "scripted");
  auto copy = MakeSealedCopy("otc-plugin:scripted", file->bytes);
  ASSERT_TRUE(copy.ok());
  verified->file.in_memory = true;
  verified->file.disk = std::exchange(verified->file.fd, std::move(copy).value());
  const Status status = LoadPlugin(*verified, load, clock).status();
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Loader, ProbeSurvivesAFloodOnEveryStream) {
  const Status status = LoadTest("flood");
  EXPECT_TRUE(Has(status.message(), "LOAD-8")) << status.message();
  EXPECT_LT(status.message().size(), 2000u) << "the noise is not repeated";
}

TEST_F(Loader, ProbeIsNotFooledByAForgedVerdictAndExitZero) {
  const Status status = LoadTest("forge");
  EXPECT_TRUE(Has(status.message(), "LOAD-8: found loading it ended the process with exit code 0"))
      << status.message();
}

TEST_F(Loader, ProbeShowsWhatAbortSaid) {
  const Status status = LoadTest("aborts");
  EXPECT_TRUE(Has(status.message(), "crashed with signal 6")) << status.message();
  EXPECT_TRUE(Has(status.message(), "it printed: rude: invariant broken")) << status.message();
}

TEST_F(Loader, ProbeDoesNotWaitForAGrandchildThatKeepsThePipes) {
  InstallTestPlugin("forks", dir.path());
  const auto verified = VerifyPlugin(Config("forks"), verify, nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  // The child answers; its grandchild is killed with the group.
  EXPECT_TRUE(ProbePlugin(*verified, ProbeCommand(), std::chrono::seconds(10), clock).ok());
}

TEST_F(Loader, ProbeRunsNoDestructors) {
  InstallTestPlugin("destructor", dir.path());
  const auto verified = VerifyPlugin(Config("destructor"), verify, nullptr);
  ASSERT_TRUE(verified.ok()) << verified.status().message();
  const Status status = ProbePlugin(*verified, ProbeCommand(), std::chrono::seconds(10), clock);
  EXPECT_TRUE(status.ok()) << status.message();
}

TEST_F(Loader, AProbeThatCannotStartRefuses) {
  load.probe_command = {"/nonexistent/otc-host", "probe"};
  const Status status = LoadTest("scripted");
  EXPECT_TRUE(Has(status.message(), "LOAD-8: found the probe did not start")) << status.message();
}

TEST_F(Loader, AProbeThatSaysNothingRefuses) {
  load.probe_command = {"/bin/true"};
  EXPECT_TRUE(Has(LoadTest("scripted").message(), "exit code 0"));
}

TEST(ProbeVerdict, OnlyAWholeAnswerWithTheNonceCounts) {
  std::vector<Refusal> refusals;
  EXPECT_TRUE(ParseVerdict(FormatVerdict({}, "n1"), "n1", &refusals));
  EXPECT_TRUE(ParseVerdict("noise" + FormatVerdict({}, "n1"), "n1", &refusals));
  EXPECT_TRUE(refusals.empty());
  EXPECT_FALSE(ParseVerdict(FormatVerdict({}, "n2"), "n1", &refusals));
  EXPECT_FALSE(ParseVerdict("", "n1", &refusals));
  EXPECT_FALSE(ParseVerdict("otc-probe n1 OK", "n1", &refusals)) << "cut";
  EXPECT_FALSE(ParseVerdict("otc-probe n1 R\x1fx\n", "n1", &refusals)) << "fields missing";
  ASSERT_TRUE(ParseVerdict(FormatVerdict({{"R", "a\nb", "c", "d"}, {"S", "", "", ""}}, "n1"), "n1",
                           &refusals));
  ASSERT_EQ(refusals.size(), 2u);
  EXPECT_EQ(refusals[0].found, "a b");
  EXPECT_EQ(refusals[1].rule, "S");
}

TEST(ProbeMain, WrongArgumentsAreWrongUse) {
  EXPECT_EQ(ProbeMain({}), 2);
  EXPECT_EQ(ProbeMain({"--fd", "x", "--nonce", "n"}), 2);
  EXPECT_EQ(ProbeMain({"--help"}), 2);
}

}  // namespace
}  // namespace otc::host::plugin_host
