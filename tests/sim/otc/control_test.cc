// The start-up document, YAML, the command line and the control API.
#include <fstream>

#include "tests/sim/otc/command_line.h"
#include "tests/sim/otc/document.h"
#include "tests/sim/otc/sim_test_base.h"
#include "tests/sim/otc/yaml_document.h"

namespace otc::sim {
namespace {

class ControlTest : public SimTest {
 protected:
  std::string FirstId(const Answer& answer) {
    const std::string quoted = answer.At("ids.0");
    return quoted.substr(1, quoted.size() - 2);
  }
};

TEST_F(ControlTest, ServerLifeThroughTheApi) {
  const Answer made = Control("POST", "servers",
                              R"({"name":"node-1","flavor":"s3.large.4","ips":["10.9.0.4"],)"
                              R"("public_ip":"80.158.1.9","tags":["a=b"],"metadata":{"k":"v"}})");
  ASSERT_EQ(made.status, 200) << made.body;
  const std::string id = FirstId(made);
  EXPECT_EQ(Control("GET", "servers/" + id).At("name"), "\"node-1\"");
  EXPECT_EQ(Control("GET", "servers").SizeOf("servers"), 1U);
  EXPECT_EQ(client_.Get(Vpc("/publicips")).At("publicips.0.public_ip_address"), "\"80.158.1.9\"");
  ASSERT_EQ(
      Control("PATCH", "servers/" + id, R"({"status":"SHUTOFF","flavor":"s3.xlarge.4"})").status,
      200);
  const Answer seen = client_.Get(Ecs("/cloudservers/" + id));
  EXPECT_EQ(seen.At("server.status"), "\"SHUTOFF\"");
  EXPECT_EQ(seen.At("server.flavor.vcpus"), "\"4\"");
  EXPECT_EQ(seen.At("server.tags.0"), "\"a=b\"");
  EXPECT_EQ(seen.At("server.metadata.k"), "\"v\"");
  EXPECT_EQ(Control("DELETE", "servers/" + id).status, 200);
  EXPECT_EQ(Control("DELETE", "servers/" + id).status, 404);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id)).status, 404);
}

TEST_F(ControlTest, ManyServersOfOnePattern) {
  const Answer made = Control("POST", "servers", R"({"name":"n-%03d","count":3})");
  EXPECT_EQ(made.SizeOf("ids"), 3U);
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail"))), "n-000 n-001 n-002");
  EXPECT_EQ(Control("POST", "servers", R"({"name":"n","count":3})").status, 400);
}

TEST_F(ControlTest, EveryMistakeAtOnceAndNothingApplied) {
  const Answer answer =
      Control("POST", "load",
              R"({"servers":[{"name":"good"},{"nam":"x","status":"FLYING","flavor":"none"}],)"
              R"("faults":[{"kind":"lag"}],"options":{"signatures":"loose"},"extra":1})");
  EXPECT_EQ(answer.status, 400);
  for (const char* words :
       {"servers[1].nam: unknown; did you mean 'name'", "servers[1].status: 'FLYING'",
        "servers[1].flavor: 'none'", "faults[0].kind: lag needs", "options.signatures: 'loose'",
        "extra: unknown"}) {
    EXPECT_NE(answer.body.find(words), std::string::npos) << words << " in " << answer.body;
  }
  EXPECT_EQ(Control("GET", "servers").SizeOf("servers"), 0U);
}

TEST_F(ControlTest, PatchWithAMistakeChangesNothing) {
  const std::string id = AddServer("node");
  EXPECT_EQ(Control("PATCH", "servers/" + id, R"({"status":"SHUTOFF","flavor":"none"})").status,
            400);
  EXPECT_EQ(sim_.world().FindServer(id)->status, "ACTIVE");
  EXPECT_EQ(Control("PATCH", "servers/nobody", "{}").status, 404);
}

TEST_F(ControlTest, PublicIps) {
  const std::string id = FirstId(Control("POST", "publicips", R"({"address":"80.158.3.3"})"));
  EXPECT_EQ(Control("PATCH", "publicips/" + id, R"({"status":"ELB"})").status, 200);
  EXPECT_EQ(client_.Get(Vpc("/publicips/" + id)).At("publicip.status"), "\"ELB\"");
  EXPECT_EQ(Control("POST", "publicips", R"({"status":"GREEN"})").status, 400);
  EXPECT_EQ(Control("DELETE", "publicips/" + id).status, 200);
  EXPECT_EQ(client_.Get(Vpc("/publicips/" + id)).status, 404);
}

TEST_F(ControlTest, OptionsClockCallsCountersReset) {
  EXPECT_EQ(Control("PATCH", "options", R"({"lock_after":2,"defects":["no-date"]})").status, 200);
  EXPECT_EQ(Control("GET", "options").At("lock_after"), "2");
  EXPECT_EQ(Control("PATCH", "options", R"({"defects":["nothing"]})").status, 400);
  EXPECT_EQ(Control("PATCH", "clock", R"({"skew_ms":-3600000})").status, 200);
  EXPECT_EQ(Control("GET", "clock").At("skew_ms"), "-3600000");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
  EXPECT_EQ(Control("GET", "counters").At("ecs.servers.list 401"), "(absent)");  // dots in keys
  EXPECT_NE(Control("GET", "counters").body.find("\"ecs.servers.list 401\":1"), std::string::npos);
  EXPECT_NE(Control("GET", "calls?operation=ecs.servers.list").body.find("\"status\":401"),
            std::string::npos);
  EXPECT_EQ(Control("GET", "calls?after=99").body, "");
  EXPECT_EQ(Control("GET", "calls?after=x").status, 400);
  EXPECT_EQ(Control("DELETE", "calls").status, 200);
  EXPECT_EQ(Control("GET", "counters").body, "{}");
  EXPECT_EQ(Control("POST", "reset").status, 200);
  EXPECT_EQ(Control("GET", "options").At("lock_after"), "5");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

TEST_F(ControlTest, FaultsThroughTheApi) {
  const Answer made = Control("POST", "faults", R"({"id":"f","kind":"status","status":500})");
  EXPECT_EQ(FirstId(made), "f");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 500);
  EXPECT_EQ(Control("GET", "faults").At("0.fired"), "1");
  EXPECT_EQ(Control("DELETE", "faults/f").status, 200);
  EXPECT_EQ(Control("DELETE", "faults/f").status, 404);
  EXPECT_EQ(Control("DELETE", "faults").status, 200);
}

TEST_F(ControlTest, UnknownCallsSaySo) {
  EXPECT_EQ(Control("GET", "nothing").status, 404);
  EXPECT_EQ(Control("POST", "servers", "[]").status, 400);
  EXPECT_EQ(Control("GET", "health").status, 200);
  EXPECT_NE(Control("GET", "ports").At("urls.ecs"), "(absent)");
}

TEST_F(ControlTest, OwnAccountInsteadOfTheStandardOne) {
  const auto loaded = sim_.Load(
      R"({"standard_account":false,"domains":[{"id":"dd","name":"D"}],)"
      R"("projects":[{"id":"pp","name":"eu-de","domain_id":"dd"}],)"
      R"("users":[{"id":"uu","name":"u","password":"p","domain_id":"dd"}],)"
      R"("access_keys":[{"access":"AK2","secret":"SK2","user_id":"uu","domain_id":"dd"}]})");
  ASSERT_TRUE(loaded.ok()) << loaded.status().ToString();
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).status, 401);
  client_.credentials = {"AK2", "SK2", ""};
  client_.project_id.clear();
  EXPECT_EQ(client_.Get(Iam("/v3/projects?name=eu-de")).At("projects.0.id"), "\"pp\"");
}

TEST(YamlTest, BecomesTheSameJson) {
  const auto json = YamlToJson(
      "# servers\nservers:\n  - name: 'node-1'\n    count: 3\n    tags: [a=b, \"5\"]\n"
      "    locked: true\n    task_state: ~\noptions: {lock_ms: 10}\n");
  ASSERT_TRUE(json.ok()) << json.status().ToString();
  EXPECT_EQ(*json, R"({"servers":[{"name":"node-1","count":3,"tags":["a=b","5"],"locked":true,)"
                   R"("task_state":null}],"options":{"lock_ms":10}})");
  EXPECT_EQ(*YamlToJson(R"({"a": [1, 2.5, "x"]})"), R"({"a":[1,2.5,"x"]})");
}

TEST(YamlTest, MistakesNameTheLine) {
  const auto message = [](const char* text) { return YamlToJson(text).status().message(); };
  EXPECT_EQ(message("a: 1\na: 2\n"), "line 2: 'a' stands twice");
  EXPECT_EQ(message("a: &x 1\nb: *x\n"), "line 1: anchors are not allowed");
  EXPECT_EQ(message("[1]: 2\n"), "line 1: a key must be a plain word");
  EXPECT_EQ(message(""), "the file is empty");
  EXPECT_EQ(message("a: 1\n---\nb: 2\n"), "only one document is allowed");
  EXPECT_NE(message("a: [1\n").find("line 2"), std::string::npos);
  EXPECT_NE(message((std::string(100, '[') + std::string(100, ']')).c_str()).find("deeply"),
            std::string::npos);
}

TEST(CommandLineTest, ReadsEverything) {
  const auto line = ParseCommandLine({"--port", "ecs=4000", "--port=iam=4001", "--bind", "0.0.0.0",
                                      "--seed=9", "--signatures", "compat", "--latency-ms=5",
                                      "--defect", "no-date", "--die-with-parent"});
  ASSERT_TRUE(line.ok()) << line.status().ToString();
  EXPECT_EQ(line->options.ports.at("ecs"), 4000);
  EXPECT_EQ(line->options.ports.at("iam"), 4001);
  EXPECT_EQ(line->options.bind_address, "0.0.0.0");
  EXPECT_EQ(line->options.seed, 9U);
  EXPECT_EQ(line->options.behaviour.signatures, SignatureMode::kCompat);
  EXPECT_EQ(line->options.behaviour.LatencyOf("ecs").ms, 5);
  EXPECT_TRUE(line->options.behaviour.Defect("no-date"));
  EXPECT_TRUE(line->die_with_parent);
}

TEST(CommandLineTest, AllMistakesAtOnce) {
  const auto line = ParseCommandLine({"--prot", "ecs=1", "--port", "s3=1", "--port", "ecs=99999",
                                      "--signatures", "loose", "--defect", "x", "--seed"});
  ASSERT_FALSE(line.ok());
  for (const char* words :
       {"'--prot' is unknown; did you mean --port?", "'s3=1' must be", "'99999' must be",
        "'loose' is not", "'x' does not exist", "--seed needs a value"}) {
    EXPECT_NE(line.status().message().find(words), std::string::npos) << line.status().message();
  }
  EXPECT_FALSE(ParseCommandLine({"--config", "/does/not/exist"}).ok());
  EXPECT_FALSE(ParseCommandLine({"--tls-cert", "a"}).ok());
  EXPECT_FALSE(ParseCommandLine({"--help=yes"}).ok());
}

TEST(CommandLineTest, ConfigFileIsReadAsYaml) {
  const std::string path = testing::TempDir() + "otc-sim-config.yaml";
  std::ofstream(path) << "servers:\n  - name: a\n";
  const auto line = ParseCommandLine({"--config", path});
  ASSERT_TRUE(line.ok());
  EXPECT_EQ(line->document, R"({"servers":[{"name":"a"}]})");
  EXPECT_NE(ParseCommandLine({"--list-defects"})->text_to_print.find("flavor-numbers:"),
            std::string::npos);
}

}  // namespace
}  // namespace otc::sim
