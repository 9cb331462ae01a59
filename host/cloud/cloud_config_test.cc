#include "host/cloud/cloud_config.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

constexpr char kAk[] = "AKMARKED000000000001";
constexpr char kSk[] = "SkMarkedSecret0123456789abcdefghijklmnop";

std::string Global(const std::string& more) {
  return std::string("[Global]\naccess-key = ") + kAk + "\nsecret-key = " + kSk + "\n" + more;
}

// The lines of the error that `text` gives; empty if it is accepted.
std::vector<std::string> Errors(const std::string& text) {
  const Result<CloudConfig> config = ParseCloudConfig(text, "cloud.conf");
  if (config.ok()) return {};
  EXPECT_EQ(config.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(config.status().reason(), "BadCloudConfig");
  EXPECT_EQ(config.status().message().find("Marked"), std::string::npos)
      << config.status().message();
  return Split(config.status().message(), '\n');
}

void ExpectOneError(const std::string& text, const std::string& begin, const std::string& part) {
  const std::vector<std::string> errors = Errors(text);
  ASSERT_EQ(errors.size(), 1u) << Join(errors, "\n");
  EXPECT_EQ(errors[0].substr(0, begin.size()), begin);
  EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
}

TEST(CloudConfigTest, SEED_21_AllDocumentedKeys) {
  const auto config = ParseCloudConfig(Global(R"(domain-name = OTC-EU-DE-0001
region = eu-de
project-name = eu-de_prod

[LoadBalancer]
subnet-id = 4f4b3dfa-eb70-47cf-a60a-998a53bd598a
network-id = a26887c6-c47b-4654-abb5-dfadf7d3f803
bandwidth-mbit = 300
cluster-name = blue
)"),
                                       "cloud.conf");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->credentials.access_key, kAk);
  EXPECT_EQ(config->credentials.secret_key, kSk);
  EXPECT_EQ(config->domain_name, "OTC-EU-DE-0001");
  EXPECT_EQ(config->region, "eu-de");
  EXPECT_EQ(config->project_name, "eu-de_prod");
  EXPECT_EQ(config->subnet_id, "4f4b3dfa-eb70-47cf-a60a-998a53bd598a");
  EXPECT_EQ(config->network_id, "a26887c6-c47b-4654-abb5-dfadf7d3f803");
  EXPECT_EQ(config->bandwidth_mbit, 300u);
  EXPECT_EQ(config->cluster_name, "blue");
  EXPECT_EQ(config->sign_form, SignForm::kCredential);
}

TEST(CloudConfigTest, SEED_21_DefaultsOfRegionAndProject) {
  const struct {
    const char *keys, *region, *project;
  } rows[] = {
      {"region = eu-de", "eu-de", "eu-de"},
      {"project-name = eu-nl", "eu-nl", "eu-nl"},
      {"project-name = eu-de_prod_2", "eu-de", "eu-de_prod_2"},
      {"region = eu-ch2\nproject-name = anything", "eu-ch2", "anything"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.keys);
    const auto config = ParseCloudConfig(Global(row.keys), "c");
    ASSERT_TRUE(config.ok()) << config.status().message();
    EXPECT_EQ(config->region, row.region);
    EXPECT_EQ(config->project_name, row.project);
    EXPECT_EQ(config->bandwidth_mbit, 100u);
    EXPECT_TRUE(config->subnet_id.empty());
  }
  ExpectOneError(Global(""), "cloud.conf:1: ", "region and project-name are both missing");
  ExpectOneError(Global("project-name = My Project"),
                 "cloud.conf:4: ", "does not begin with a region");
}

TEST(CloudConfigTest, SEED_05_NoSubnetMeansNoBalancers) {
  const auto config = ParseCloudConfig(Global("region = eu-de"), "c");
  ASSERT_TRUE(config.ok());
  EXPECT_TRUE(config->subnet_id.empty());
  EXPECT_TRUE(config->sections.empty());
}

TEST(CloudConfigTest, OptionalKeys) {
  const auto config = ParseCloudConfig(Global(R"(region=eu-de
security-token = gQtMarkedToken==
project-id = 0123456789abcdef0123456789abcdef
ca-file = /etc/otc/ca.pem
sign-form = access
[Endpoints]
all = https://sim.example:8443/otc
iam = http://127.0.0.1:9001
metadata = http://127.0.0.1:9002
[Budgets]
ecs-read = 20/30
default-write = 0.5 / 1
calls-per-hour-alarm = 1200
)"),
                                       "c");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->credentials.security_token, "gQtMarkedToken==");
  EXPECT_EQ(config->project_id, "0123456789abcdef0123456789abcdef");
  EXPECT_EQ(config->ca_file, "/etc/otc/ca.pem");
  EXPECT_EQ(config->sign_form, SignForm::kAccess);
  EXPECT_EQ(config->endpoints.at("all"), "https://sim.example:8443/otc");
  EXPECT_EQ(config->endpoints.at("iam"), "http://127.0.0.1:9001");
  EXPECT_EQ(config->budgets.at("ecs-read"), (BudgetRate{20, 30}));
  EXPECT_EQ(config->budgets.at("default-write"), (BudgetRate{0.5, 1}));
  EXPECT_EQ(config->calls_per_hour_alarm, 1200u);
}

TEST(CloudConfigTest, TheDialectThatPeopleWrite) {
  const std::string text =
      std::string("\xEF\xBB\xBF; comment\r\n# another\r\n[GLOBAL] ; here\r\n") +
      "Access-Key=" + kAk + "  # mine\r\n\tsecret-key\t=\t\"" + kSk +
      "\\n\" ; quoted, with a line break\r\n" +
      "domain-name = \"a \\\"b\\\" \\\\ ; c\"\r\nregion = eu-de\r\n";
  const auto config = ParseCloudConfig(text, "c");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->credentials.access_key, kAk);
  EXPECT_EQ(config->credentials.secret_key, kSk);  // the line break is trimmed
  EXPECT_EQ(config->domain_name, "a \"b\" \\ ; c");
}

TEST(CloudConfigTest, ACommentSignInsideAKeyIsKept) {
  const auto config =
      ParseCloudConfig("[Global]\naccess-key=ab#cd;ef\nsecret-key=x#y\nregion=eu-de", "c");
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->credentials.access_key, "ab#cd;ef");
  EXPECT_EQ(config->credentials.secret_key, "x#y");
}

TEST(CloudConfigTest, AllErrorsAtOnceInLineOrder) {
  const std::vector<std::string> errors = Errors(
      "stray = 1\n"
      "[Global]\n"
      "acces-key = AKMarked\n"
      "secret-key SkMarkedSecret\n"
      "region = EU DE\n"
      "[Loadbalancers]\n"
      "[LoadBalancer]\n"
      "bandwidth-mbit = 0\n"
      "subnet_id = abc\n"
      "[LoadBalancer]\n"
      "bandwidth-mbit = 5\n"
      "[Endpoints\n");
  const std::vector<std::string> expected = {
      "cloud.conf:1: key stray stands before the first section",
      "cloud.conf:2: access-key is missing",
      "cloud.conf:2: secret-key is missing",
      "cloud.conf:3: unknown key acces-key in [Global]",
      "cloud.conf:4: expected `key = value`",
      "cloud.conf:5: region has the value \"EU DE\"",
      "cloud.conf:6: unknown section [Loadbalancers]",
      "cloud.conf:8: bandwidth-mbit has the value \"0\"",
      "cloud.conf:9: unknown key subnet_id in [LoadBalancer]",
      "cloud.conf:10: section [LoadBalancer] is already on line 7",
      "cloud.conf:12: malformed section header",
  };
  ASSERT_EQ(errors.size(), expected.size()) << Join(errors, "\n");
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(errors[i].substr(0, expected[i].size()), expected[i]);
  }
  EXPECT_NE(errors[3].find("did you mean access-key?"), std::string::npos) << errors[3];
  EXPECT_NE(errors[6].find("did you mean LoadBalancer?"), std::string::npos) << errors[6];
  EXPECT_NE(errors[8].find("did you mean subnet-id?"), std::string::npos) << errors[8];
}

TEST(CloudConfigTest, OneMistakeOneLine) {
  const std::string region = "region = eu-de\n";
  const struct {
    std::string keys;
    std::string part;
  } rows[] = {
      {"region = eu-nl", "key region is already on line 4"},
      {"REGION = eu-nl", "key REGION is already on line 4"},
      {"project-id = eu-de", "32 lower-case hexadecimal digits"},
      {"project-name =", "project-name is empty"},
      {"sign-form = both", "allowed are credential (default) and access"},
      {"domain-name = \"open", "the closing quote is missing"},
      {"domain-name = \"a\" b", "text behind the closing quote"},
      {"domain-name = \"a\\q\"", "unknown escape"},
      {"domain-name = a\x01z", "control characters"},
      {"domain-name = \xff", "control characters"},
      {"nothing-like-it = 1", "known are access-key, secret-key"},
      {"[LoadBalancer]\nbandwidth-mbit = -1", "from 1 to 2000"},
      {"[LoadBalancer]\nbandwidth-mbit = 99999999999999999999", "from 1 to 2000"},
      {"[LoadBalancer]\nsubnet-id = a b", "letters, digits and '-'"},
      {"[Endpoints]\nesc = https://x", "known are all, as, "},
      {"[Budgets]\necs-raed = 1/1", "did you mean ecs-read?"},
      {"[Endpoints]\necs = ftp://x", "is no base URL"},
      {"[Endpoints]\necs = https://user@x", "is no base URL"},
      {"[Budgets]\necs-read = 10", "calls-per-second/burst"},
      {"[Budgets]\necs-read = 0/5", "calls-per-second/burst"},
      {"[Budgets]\necs-read = nan/5", "calls-per-second/burst"},
      {"[Budgets]\necs-read = 1/0.5", "calls-per-second/burst"},
      {"[Budgets]\ncalls-per-hour-alarm = many", "a number of calls"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.keys);
    ExpectOneError(Global(region + row.keys), "cloud.conf:", row.part);
  }
}

TEST(CloudConfigTest, SEED_50_ASecretIsNeverInAnError) {
  const std::string sk = kSk;
  for (const std::string& text : {
           "[Global]\nsecret-key " + sk,             // no '='
           "[Global]\n" + sk + " = secret-key",      // swapped
           "[Global]\n" + sk,                        // alone
           "[Global]\n" + sk + "==",                 // alone, padded
           "[Global]\nsecret-key = \"" + sk,         // quote not closed
           "[Global]\nsecret-key = " + sk + " x",    // garbled
           "[Global]\nsecret-key = " + sk + "\xc3",  // cut UTF-8
           "[Global]\nsecretkey = " + sk,            // unknown key
           "secret-key = " + sk,                     // no section
           "[" + sk + "]\nsecret-key = " + sk,       // as section
           "[" + sk + "]\n[" + sk + "]\n",           // twice
           Global("region = " + sk),                 // the secret as another value
           Global("region = eu-de\nsign-form = " + sk),
           "[Global]\nsecret-key = " + sk + " x\nregion = " + sk + " x",  // garbled, twice
           Global("region = eu-de\nproject-id = x" + sk + "x"),
           Global("region = eu-de\n[Endpoints]\necs = " + sk),
       }) {
    SCOPED_TRACE(text);
    const auto config = ParseCloudConfig(text, "cloud.conf");
    ASSERT_FALSE(config.ok());
    EXPECT_EQ(config.status().ToString().find(sk), std::string::npos) << config.status().message();
  }
}

TEST(CloudConfigTest, PluginsSeeEverySectionButGlobal) {
  const auto config = ParseCloudConfig(
      Global("region = eu-de\n[loadbalancer]\nSubnet-Id = abc\nbandwidth-mbit = 7\n"), "c");
  ASSERT_TRUE(config.ok()) << config.status().message();
  ASSERT_EQ(config->sections.size(), 1u);
  const auto& section = config->sections.at("LoadBalancer");
  EXPECT_EQ(section.size(), 2u);
  EXPECT_EQ(section.at("subnet-id"), "abc");
  EXPECT_EQ(section.at("bandwidth-mbit"), "7");
}

TEST(CloudConfigTest, SecretsAreRegistered) {
  const auto config = ParseCloudConfig(Global("region=eu-de\nsecurity-token=TokenMarked"), "c");
  ASSERT_TRUE(config.ok());
  SecretRedactor redactor;
  config->RegisterSecrets(redactor);
  EXPECT_EQ(redactor.Redact(std::string(kAk) + "," + kSk + ",TokenMarked"),
            "[redacted],[redacted],[redacted]");
}

TEST(CloudConfigTest, Files) {
  const std::string path =
      std::filesystem::temp_directory_path() / ("cloud_conf_" + std::to_string(getpid()));
  std::ofstream(path) << Global("region = eu-de");
  const auto config = LoadCloudConfig(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(config.ok()) << config.status().message();
  EXPECT_EQ(config->region, "eu-de");

  EXPECT_EQ(LoadCloudConfig(path).status().reason(), "NoCloudConfig");
  EXPECT_NE(LoadCloudConfig(path).status().message().find(path), std::string::npos);
  EXPECT_EQ(LoadCloudConfig("/").status().reason(), "NoCloudConfig");
  EXPECT_EQ(LoadCloudConfig("/dev/null").status().reason(), "BadCloudConfig");
}

TEST(CloudConfigTest, HugeInputIsRefused) {
  ExpectOneError(std::string(2 << 20, 'a'), "cloud.conf:1: ", "larger than 1 MiB");
}

}  // namespace
}  // namespace otc::host::cloud
