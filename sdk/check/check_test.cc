// otc-plugin-check as its users run it: on good plugins, on every bad plugin, and
// with wrong usage.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "otc/cpp/json.h"
#include "sdk/check/wire.h"

namespace otc::check {
namespace {

struct Outcome {
  int exit_code = -1;
  std::string output;
};

Outcome Check(const std::string& arguments) {
  Outcome run;
  const std::string command = std::string(OTC_PLUGIN_CHECK) + " " + arguments + " 2>&1";
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return run;
  std::array<char, 4096> buffer;
  while (const std::size_t size = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    run.output.append(buffer.data(), size);
  }
  const int status = pclose(pipe);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return run;
}

std::string Bad(const std::string& name) {
  return std::string(OTC_BAD_PLUGIN_DIR) + "/" + name + ".so";
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
const std::string kDebug = "--allow-debug-plugins ";  // the plugins are instrumented too
#else
const std::string kDebug;
#endif

// Rule → verdict, from the JSON form.
std::map<std::string, std::string> Verdicts(const std::string& json_text) {
  std::map<std::string, std::string> out;
  const auto document = json::Parse(json_text);
  EXPECT_TRUE(document.ok()) << document.status().ToString() << "\n" << json_text;
  if (!document.ok()) return out;
  for (const json::Value rule : document->root().Array("rules", nullptr)) {
    out[rule.String("rule", nullptr)] = rule.String("verdict", nullptr);
  }
  return out;
}

TEST(PluginCheck, GoodPluginsKeepEveryRule) {
  for (const std::string& path :
       {Bad("good"), std::string(OTC_EXAMPLE_C), std::string(OTC_EXAMPLE_CPP)}) {
    const Outcome run = Check(kDebug + "-o json " + path);
    EXPECT_EQ(run.exit_code, 0) << run.output;
    for (const auto& [rule, verdict] : Verdicts(run.output)) {
      EXPECT_EQ(verdict, "ok") << path << " " << rule << "\n" << run.output;
    }
  }
}

// Each bad plugin breaks its rule, and no rule besides but those that follow.
TEST(PluginCheck, EachBadPluginIsCaughtByItsRule) {
  const std::map<std::string, std::set<std::string>> also = {
      {"other-machine", {"LOAD-6"}},  // its note is that of good.so
      {"executable", {"LOAD-6"}},          {"go-library", {"ABI-R01", "ABI-R02", "ABI-R05"}},
      {"newer-symbol", {"LOAD-8"}},  // dlopen cannot find the version either
      {"other-major", {"ABI-R01"}},        {"other-entry", {"ABI-R01"}},
      {"constructor-prints", {"ABI-R22"}}, {"write-without-plan", {"ABI-R26"}},
  };
  std::ifstream expected(std::string(OTC_BAD_PLUGIN_DIR) + "/expected.txt");
  std::string name, rule, stage;
  int count = 0;
  while (expected >> name >> rule >> stage) {
    SCOPED_TRACE(name);
    ++count;
    const std::string debug = name == "debug-build" ? "" : kDebug;
    // The default leaves a loaded machine its time; who hangs need not wait for it.
    const std::string timeout = name.rfind("hang", 0) == 0 ? "--timeout 3 " : "";
    const Outcome run = Check(debug + timeout + "-o json " + Bad(name));
    EXPECT_EQ(run.exit_code, 1) << run.output;
    std::set<std::string> failed;
    for (const auto& [id, verdict] : Verdicts(run.output)) {
      if (verdict == "failed") failed.insert(id);
    }
    EXPECT_EQ(failed.count(rule), 1u) << "wanted " << rule << " to fail\n" << run.output;
    failed.erase(rule);
    // A sanitizer's runtime is let through for builds that say so in their note.
    if (!kDebug.empty()) failed.erase("ABI-R03");
    const auto allowed = also.find(name);
    for (const std::string& other : failed) {
      EXPECT_TRUE(allowed != also.end() && allowed->second.count(other) == 1)
          << "unexpected: " << other << "\n"
          << run.output;
    }
  }
  EXPECT_GE(count, 60);
}

TEST(PluginCheck, SaysWhereAPluginDied) {
  EXPECT_NE(Check(kDebug + Bad("crash-constructor"))
                .output.find("loading (constructors): killed by signal 6"),
            std::string::npos);
  EXPECT_NE(Check(kDebug + Bad("exit-constructor"))
                .output.find("loading (constructors): ended the process with exit code 0"),
            std::string::npos);
  EXPECT_NE(Check(kDebug + "--timeout 1 " + Bad("hang-constructor"))
                .output.find("loading (constructors): did not come back"),
            std::string::npos);
}

TEST(PluginCheck, PrintsTheManifestAsYaml) {
  const Outcome run = Check("--manifest " + Bad("service-in-put"));
  EXPECT_EQ(run.exit_code, 0);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_EQ(run.output,
            "id: \"service-in-put\"\nversion: \"1.0.0\"\nabi: \"1.0\"\nprovides:\n"
            "- \"otc.instances-v2/1\"\nneeds:\n- id: \"otc.host.cloud/1\"\n  minSize: 0\n"
            "uses: []\ncloud:\n- \"ecs\"\nexec: []\nkube: []\nthreads: \"none\"\n"
            "build: \"release\"\n");
#endif
  EXPECT_EQ(Check("--manifest " + Bad("text-file")).exit_code, 1);
  EXPECT_NE(Check("--manifest " + Bad("bad-manifest")).output.find("line 2: id \"Bad Manifest\""),
            std::string::npos);
}

TEST(PluginCheck, WrongUsageIsTwo) {
  EXPECT_EQ(Check("").exit_code, 2);
  EXPECT_EQ(Check("--no-such-option x.so").exit_code, 2);
  EXPECT_EQ(Check("/nonexistent/x.so").exit_code, 2);
  EXPECT_EQ(Check("--timeout never x.so").exit_code, 2);
  EXPECT_EQ(Check("--role chief x.so").exit_code, 2);
  EXPECT_EQ(Check("--config /nonexistent x.so").exit_code, 2);
  EXPECT_EQ(Check("--help").exit_code, 0);
}

TEST(Wire, LinesSurviveTabsAndLineBreaks) {
  std::array<int, 2> fds;
  ASSERT_EQ(pipe(fds.data()), 0);
  Wire(fds[1]).Violation({"ABI-R01", "a\tb\nc\\d", "", "x"});
  close(fds[1]);
  std::array<char, 200> buffer;
  const ssize_t size = read(fds[0], buffer.data(), buffer.size());
  close(fds[0]);
  ASSERT_GT(size, 0);
  const std::string line(buffer.data(), static_cast<std::size_t>(size) - 1);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(ParseWireLine(line),
            (std::vector<std::string>{"violation", "ABI-R01", "a\tb\nc\\d", "", "x"}));
}

}  // namespace
}  // namespace otc::check
