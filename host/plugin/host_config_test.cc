#include "host/plugin/host_config.h"

#include <gtest/gtest.h>

#include <fstream>

namespace otc::host::plugin_host {
namespace {

using std::chrono::seconds;

std::string Errors(const std::string& text) {
  const auto parsed = ParseHostConfig(text, "h.yaml");
  return parsed.ok() ? "" : parsed.status().message();
}

TEST(HostConfig, ReadsEveryKey) {
  const auto parsed = ParseHostConfig(R"(role: csi-node
pluginDir: /opt/plugins
disable: ["com.example.*"]
plugins:
- id: loadbalancer
  enabled: false
  sha256: "AB01000000000000000000000000000000000000000000000000000000000000"
  interfaces: [otc.load-balancer/1]
  workers: 3
  endpoint: unix:///csi/csi.sock
  deadlines: {ensure: 90s, describe: 1m30s}
  execTools: {mkfs.ext4: /sbin/mkfs.ext4}
  defaults: {flavor: small}
  settings: {a: 1, b: [true, null, "yes", yes, 1.50], c: {}}
- id: node
  required: true
)",
                                      "h.yaml");
  ASSERT_TRUE(parsed.ok()) << parsed.status().message();
  EXPECT_EQ(parsed->role, Role::kCsiNode);
  EXPECT_EQ(parsed->plugin_dir, "/opt/plugins");
  ASSERT_EQ(parsed->plugins.size(), 2u);
  const PluginConfig& lb = parsed->plugins[0];
  EXPECT_EQ(lb.id, "loadbalancer");
  EXPECT_FALSE(lb.enabled);
  EXPECT_EQ(lb.sha256.substr(0, 4), "ab01");
  EXPECT_EQ(lb.interfaces, std::vector<std::string>{"otc.load-balancer/1"});
  EXPECT_EQ(lb.workers, 3);
  EXPECT_EQ(lb.endpoint, "unix:///csi/csi.sock");
  EXPECT_EQ(lb.deadlines.at("ensure"), seconds(90));
  EXPECT_EQ(lb.deadlines.at("describe"), seconds(90));
  EXPECT_EQ(lb.exec_tools.at("mkfs.ext4"), "/sbin/mkfs.ext4");
  EXPECT_EQ(lb.defaults.at("flavor"), "small");
  EXPECT_EQ(lb.settings_json, R"({"a":1,"b":[true,null,"yes","yes",1.50],"c":{}})");
  EXPECT_TRUE(parsed->plugins[1].required);
  EXPECT_EQ(parsed->plugins[1].workers, 8);
}

TEST(HostConfig, EmptyFileHasTheDocumentedDefaults) {
  for (const char* text : {"", "# only a comment\n", "---\n", "null\n"}) {
    const auto parsed = ParseHostConfig(text, "h.yaml");
    ASSERT_TRUE(parsed.ok()) << text << parsed.status().message();
    EXPECT_FALSE(parsed->role);
    EXPECT_EQ(parsed->plugin_dir, "/usr/lib/otc/plugins");
    EXPECT_TRUE(parsed->plugins.empty());
  }
}

TEST(HostConfig, WithoutAFileTheNodePluginIsRequiredWhereItHasWork) {
  for (const Role role : {Role::kControllers, Role::kAll}) {
    const HostConfig config = DefaultHostConfig(role);
    ASSERT_EQ(config.plugins.size(), 1u);
    EXPECT_EQ(config.plugins[0].id, "node");
    EXPECT_TRUE(config.plugins[0].required);
  }
  EXPECT_TRUE(DefaultHostConfig(Role::kCsiNode).plugins.empty());
  EXPECT_TRUE(DefaultHostConfig(Role::kCsiController).plugins.empty());
}

TEST(HostConfig, AllErrorsOfAFileAreReportedAtOnceWithTheirPlaces) {
  EXPECT_EQ(Errors("rol: all\nplugins:\n- id: Bad_Id\n  workers: 65\n  requierd: true\n"),
            "h.yaml:1:1: unknown key \"rol\" in the file; did you mean role? (allowed: role, "
            "pluginDir, disable, plugins)\n"
            "h.yaml:3:7: id is \"Bad_Id\"; wanted: 1 to 63 of a-z 0-9 . - that begin and end with "
            "a letter or digit, the name of the file without .so\n"
            "h.yaml:4:12: workers must be a number from 1 to 64, not a number (\"65\")\n"
            "h.yaml:5:3: unknown key \"requierd\" in an entry of plugins; did you mean required? "
            "(allowed: id, enabled, required, sha256, interfaces, workers, endpoint, deadlines, "
            "execTools, defaults, settings)");
}

struct BadCase {
  const char* text;
  const char* error;  // must be part of the message
};

class BadHostYaml : public testing::TestWithParam<BadCase> {};

TEST_P(BadHostYaml, IsRefusedWithTheReason) {
  const std::string errors = Errors(GetParam().text);
  EXPECT_NE(errors.find(GetParam().error), std::string::npos) << "got: " << errors;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHostYaml,
    testing::Values(
        BadCase{"role: both\n", "h.yaml:1:7: role is \"both\"; allowed are controllers,"},
        BadCase{"role: all\nrole: all\n", "h.yaml:2:1: key \"role\" is there twice"},
        BadCase{"a: &x 1\n", "h.yaml:1:4: an anchor (&name) is not allowed"},
        BadCase{"a: &x 1\nb: *x\n", "h.yaml:2:4: an alias (*name) is not allowed"},
        BadCase{"plugins:\n- id: a\n  settings: {<<: {}}\n", "a merge key (<<) is not allowed"},
        BadCase{"role: !!str all\n", "a tag (tag:yaml.org,2002:str) is not allowed"},
        BadCase{"role: all\n---\nrole: all\n", "a second document is not allowed"},
        BadCase{"? [a, b]\n: 1\n", "a key must be a simple value"},
        BadCase{"~: 1\n", "a key must not be empty or null"},
        BadCase{"role: [\n", "not valid YAML: "},
        BadCase{"role: all\xff\n", "h.yaml:1:1: this line is not valid UTF-8"},
        BadCase{"- a\n", "the file must be a mapping (key: value), not a list"},
        BadCase{"just text\n", "the file must be a mapping"},
        BadCase{"pluginDir: plugins\n", "it must be an absolute path"},
        BadCase{"pluginDir: /a/../b\n", "it must be an absolute path"},
        BadCase{"pluginDir: 12\n", "pluginDir must be a string, not a number (\"12\"); put it in"},
        BadCase{"disable: a\n", "disable must be a list, not a string"},
        BadCase{"disable: ['']\n", "a glob of disable must not be empty"},
        BadCase{"plugins: {}\n", "plugins must be a list, not a mapping"},
        BadCase{"plugins: [{}]\n", "id is \"\""},
        BadCase{"plugins: [{id: a}, {id: a}]\n", "plugin a is listed twice"},
        BadCase{"plugins: [{id: a, enabled: yes}]\n", "enabled must be true or false, not a"},
        BadCase{"plugins: [{id: a, enabled: 'true'}]\n", "enabled must be true or false"},
        BadCase{"plugins: [{id: a, enabled: false, required: true}]\n", "is required but not en"},
        BadCase{"plugins: [{id: a, workers: 0}]\n", "workers must be a number from 1 to 64"},
        BadCase{"plugins: [{id: a, workers: '4'}]\n", "workers must be a number from 1 to 64"},
        BadCase{"plugins: [{id: a, sha256: abc}]\n", "sha256 must be 64 hexadecimal digits"},
        BadCase{"plugins: [{id: a, endpoint: 'tcp://x'}]\n", "allowed is unix:///path"},
        BadCase{"plugins: [{id: a, interfaces: [x]}]\n", "\"x\" is not an interface id"},
        BadCase{"plugins: [{id: a, deadlines: {ensur: 1s}}]\n", "did you mean ensure?"},
        BadCase{"plugins: [{id: a, deadlines: {ensure: 5}}]\n", "deadlines.ensure must be a st"},
        BadCase{"plugins: [{id: a, deadlines: {ensure: 11m}}]\n", "from 100ms to 10m"},
        BadCase{"plugins: [{id: a, execTools: {mkfs: mkfs}}]\n", "must be an absolute path"},
        BadCase{"plugins: [{id: a, defaults: {x: 1}}]\n", "defaults.x must be a string"},
        BadCase{"plugins: [{id: a, settings: []}]\n", "settings must be a mapping"},
        BadCase{"plugins: [{id: a, settings: {x: .inf}}]\n", "a number that JSON cannot hold"},
        BadCase{"plugins: [{id: a, settings: {x: 0xfffffffffffffffff}}]\n", "fit into 64 bits"}));

TEST(HostConfig, DeepNestingAndHugeFilesAreRefused) {
  const auto nested = [](int depth) {
    return "plugins: [{id: a, settings: {x: " + std::string(depth, '[') + std::string(depth, ']') +
           "}}]\n";
  };
  EXPECT_EQ(Errors(nested(60)), "");
  EXPECT_NE(Errors(nested(61)).find("nested deeper than 64 levels"), std::string::npos);
  EXPECT_NE(Errors(nested(100'000)), "");
  EXPECT_NE(Errors(std::string((1u << 20) + 1, ' ')).find("larger than 1 MiB"), std::string::npos);
}

TEST(HostConfig, TwentyOnePluginsAreTooMany) {
  std::string text = "plugins:\n";
  for (int i = 0; i < 21; ++i) text += "- id: p" + std::to_string(i) + "\n";
  EXPECT_NE(Errors(text).find("plugins has more than 20 entries"), std::string::npos);
}

TEST(HostConfig, PlainScalarsFollowTheCoreSchemaOfYaml12) {
  const auto settings = [](const std::string& value) {
    const auto parsed =
        ParseHostConfig("plugins: [{id: a, settings: {x: " + value + "}}]\n", "h.yaml");
    return parsed.ok() ? parsed->plugins[0].settings_json : parsed.status().message();
  };
  const std::pair<const char*, const char*> cases[] = {
      {"010", "10"},
      {"0o10", "8"},
      {"0x1F", "31"},
      {"+5", "5"},
      {"-007", "-7"},
      {"1_000", "\"1_000\""},
      {".5", "0.5"},
      {"5.", "5"},
      {"1e3", "1e3"},
      {"-01.50E+2", "-1.50e+2"},
      {"True", "true"},
      {"FALSE", "false"},
      {"tRue", "\"tRue\""},
      {"on", "\"on\""},
      {"~", "null"},
      {"\"~\"", "\"~\""},
      {"'12'", "\"12\""},
      {"0b11", "\"0b11\""},
      {"1e", "\"1e\""},
      {".", "\".\""},
      {"12345678901234567890123", "12345678901234567890123"},
      {"! 12", "\"12\""},
      {"\"a\\n\\\"\"", "\"a\\n\\\"\""},
  };
  for (const auto& [yaml, json] : cases) {
    EXPECT_EQ(settings(yaml), "{\"x\":" + std::string(json) + "}") << yaml;
  }
}

TEST(HostConfig, DisableGlobsWinAndNameTheirText) {
  const auto parsed = ParseHostConfig("disable: ['com.example.*', 'l?']\n", "h.yaml");
  ASSERT_TRUE(parsed.ok());
  ASSERT_NE(parsed->DisabledBy("com.example.x"), nullptr);
  EXPECT_EQ(*parsed->DisabledBy("lb"), "l?");
  EXPECT_EQ(parsed->DisabledBy("node"), nullptr);
}

TEST(HostConfig, Globs) {
  EXPECT_TRUE(GlobMatches("*", ""));
  EXPECT_TRUE(GlobMatches("a*b*c", "axxbyyc"));
  EXPECT_FALSE(GlobMatches("a*b*c", "axxbyy"));
  EXPECT_TRUE(GlobMatches("a?c", "abc"));
  EXPECT_FALSE(GlobMatches("a?c", "ac"));
  EXPECT_FALSE(GlobMatches("", "a"));
  // Exponential matchers do not return from this one.
  EXPECT_FALSE(GlobMatches("a*a*a*a*a*a*a*a*a*a*b", std::string(200, 'a')));
}

TEST(HostConfig, AMissingFileIsNotFoundAndABadOneIsNot) {
  EXPECT_EQ(ReadHostConfig("/nonexistent/host.yaml").status().code(), Code::kNotFound);
  const std::string path = testing::TempDir() + "/host_config_test.yaml";
  std::ofstream(path) << "rol: all\n";
  const auto bad = ReadHostConfig(path);
  EXPECT_EQ(bad.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(bad.status().message().rfind(path + ":1:1: unknown key", 0), 0u)
      << bad.status().message();
  EXPECT_NE(ReadHostConfig("/").status().code(), Code::kNotFound);
}

}  // namespace
}  // namespace otc::host::plugin_host
