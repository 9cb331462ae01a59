#include "host/cli/flag_set.h"

#include <gtest/gtest.h>

#include "host/cli/host_flags.h"

namespace otc::host::cli {
namespace {

std::vector<std::string> Parse(HostFlags* flags, const std::vector<std::string>& args) {
  FlagSet set;
  DefineHostFlags(flags, &set);
  return set.Parse(args);
}

TEST(FlagSet, TakesTheFormsOfTheStockController) {
  HostFlags flags;
  EXPECT_EQ(Parse(&flags, {"--cloud-config=/etc/cloud.conf", "--cluster-name", "prod",
                           "--leader-elect=false", "--node-monitor-period=1m30s",
                           "--controllers=*,-service", "--allow-debug-plugins"}),
            std::vector<std::string>());
  EXPECT_EQ(flags.cloud_config, "/etc/cloud.conf");
  EXPECT_EQ(flags.cluster_name, "prod");
  EXPECT_FALSE(flags.leader_elect);
  EXPECT_EQ(flags.node_monitor_period_ms, 90'000);
  EXPECT_EQ(flags.controllers, (std::vector<std::string>{"*", "-service"}));
  EXPECT_TRUE(flags.allow_debug_plugins);
}

TEST(FlagSet, P01_AllErrorsAtOnceWithTheNearestName) {
  HostFlags flags;
  const auto errors =
      Parse(&flags, {"--cluster-nmae=x", "--leader-elect=maybe", "--secure-port=70000",
                     "--node-monitor-period=5", "stray", "--cloud-provider=openstack"});
  ASSERT_EQ(errors.size(), 6u);
  EXPECT_EQ(errors[0], "unknown flag --cluster-nmae: did you mean --cluster-name?");
  EXPECT_EQ(errors[1], "flag --leader-elect=maybe: allowed are true and false");
  EXPECT_EQ(errors[2], "flag --secure-port=70000: a whole number from 0 to 65535 is needed");
  EXPECT_NE(errors[3].find("--node-monitor-period=5: a duration such as"), std::string::npos);
  EXPECT_EQ(errors[4], "argument \"stray\" is not a flag: flags begin with --");
  EXPECT_NE(errors[5].find("only provider is otc"), std::string::npos);
}

TEST(FlagSet, P01_EmptyCloudProviderIsRefusedAndTheDefaultIsOtc) {
  HostFlags flags;
  EXPECT_TRUE(Parse(&flags, {}).empty());
  EXPECT_EQ(flags.cloud_provider, "otc");
  EXPECT_EQ(Parse(&flags, {"--cloud-provider="}).size(), 1u);
}

TEST(FlagSet, SEED_04_R05_CloudRoutesGivenExplicitlyAreRefused) {
  HostFlags flags;
  EXPECT_TRUE(Parse(&flags, {"--configure-cloud-routes=false"}).empty());
  const auto errors = Parse(&flags, {"--configure-cloud-routes=true"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("network plugin"), std::string::npos);
}

TEST(FlagSet, P08_WebhookFlagsParseAndOpenNothing) {
  HostFlags flags;
  EXPECT_TRUE(Parse(&flags, {"--webhook-secure-port=10260", "--profiling"}).empty());
}

TEST(FlagSet, E19_OnlyLeasesAreALock) {
  HostFlags flags;
  EXPECT_EQ(Parse(&flags, {"--leader-elect-resource-lock=endpoints"}).size(), 1u);
}

TEST(FlagSet, HelpMarksWhatHasNoEffect) {
  HostFlags flags;
  FlagSet set;
  DefineHostFlags(&flags, &set);
  const std::string help = set.Help();
  const auto divider = help.find("Accepted for compatibility, without effect here:");
  ASSERT_NE(divider, std::string::npos);
  EXPECT_GT(help.find("--allocate-node-cidrs"), divider);
  EXPECT_LT(help.find("--cloud-config"), divider);
  EXPECT_NE(help.find("--node-monitor-period=<duration> (default 5s)"), std::string::npos);
}

TEST(FlagSet, AMissingValueIsNamed) {
  HostFlags flags;
  const auto errors = Parse(&flags, {"--cloud-config"});
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0], "flag --cloud-config needs a value: --cloud-config=<text>");
}

TEST(FlagSet, CertificateAndKeyGoTogether) {
  HostFlags flags;
  EXPECT_EQ(Parse(&flags, {"--tls-cert-file=/a"}).size(), 1u);
}

}  // namespace
}  // namespace otc::host::cli
