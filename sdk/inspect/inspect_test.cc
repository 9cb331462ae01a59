// The static rules against the bad plugins of sdk/testdata/bad (built beside this
// test) and against damaged bytes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "sdk/inspect/elf.h"
#include "sdk/inspect/file.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::inspect {
namespace {

const char kFolder[] = OTC_BAD_PLUGIN_DIR;

std::vector<std::uint8_t> ReadAll(const std::string& path) {
  auto bytes = ReadPluginFile(path);
  EXPECT_TRUE(bytes.ok()) << bytes.status().ToString();
  return bytes.ok() ? std::move(bytes).value() : std::vector<std::uint8_t>();
}

const ServiceSizes& Services() {
  static const ServiceSizes kServices = {{"otc.host.log/1", 24}, {"otc.host.cloud/1", 16}};
  return kServices;
}

ManifestExpectations Expect(const std::string& id) {
  ManifestExpectations expected;
  expected.file_id = id;
  expected.services = &Services();
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  expected.allow_debug = id != "debug-build";  // the plugins are instrumented too
#endif
  return expected;
}

std::string Describe(const std::vector<Violation>& violations) {
  std::string out;
  for (const Violation& violation : violations) out += violation.ToString() + "\n";
  return out;
}

TEST(Rules, TheGoodPluginPassesAll) {
  const auto file = ReadAll(std::string(kFolder) + "/good.so");
  ElfInfo elf;
  Manifest manifest;
  const auto violations = CheckPluginFile(file, Expect("good"), &elf, &manifest);
  EXPECT_TRUE(violations.empty()) << Describe(violations);
  EXPECT_TRUE(CheckExports(elf).empty()) << Describe(CheckExports(elf));
  EXPECT_TRUE(CheckLinkFlags(elf).empty()) << Describe(CheckLinkFlags(elf));
  EXPECT_TRUE(CheckSymbolVersions(elf).empty()) << Describe(CheckSymbolVersions(elf));
  EXPECT_EQ(manifest.id, "good");
  EXPECT_EQ(manifest.version, "1.0.0");
  EXPECT_EQ(elf.machine, ThisMachine());
}

// Every bad plugin whose fault shows in the file is caught by the rule that
// expected.txt names; the others pass the loader's static part.
TEST(Rules, EachStaticallyBadPluginIsCaughtByItsRule) {
  std::ifstream expected(std::string(kFolder) + "/expected.txt");
  std::string name, rule, stage;
  int caught = 0, passed = 0;
  while (expected >> name >> rule >> stage) {
    SCOPED_TRACE(name);
    const auto file = ReadAll(std::string(kFolder) + "/" + name + ".so");
    const auto violations = CheckPluginFile(file, Expect(name), nullptr, nullptr);
    if (stage != "static") {
      EXPECT_TRUE(violations.empty()) << Describe(violations);
      ++passed;
      continue;
    }
    EXPECT_TRUE(std::any_of(violations.begin(), violations.end(),
                            [&](const Violation& v) { return v.rule == rule; }))
        << "wanted " << rule << ", got:\n"
        << Describe(violations);
    for (const Violation& violation : violations) {
      EXPECT_FALSE(violation.found.empty());
      EXPECT_FALSE(violation.wanted.empty());
      EXPECT_FALSE(violation.advice.empty());
    }
    ++caught;
  }
  EXPECT_GE(caught, 20);
  EXPECT_GE(passed, 20);
}

TEST(Rules, ExportsLinkFlagsAndVersionsAreJudgedForTheTool) {
  const auto check = [](const char* name, auto&& rule) {
    const auto elf = ReadElf(ReadAll(std::string(kFolder) + "/" + name + ".so"));
    EXPECT_TRUE(elf.ok()) << name;
    return Describe(rule(*elf));
  };
  EXPECT_NE(check("extra-exports", CheckExports).find("helper_of_bad_plugin"), std::string::npos);
  EXPECT_NE(check("gnu-unique", CheckExports).find("shared_by_all_plugins"), std::string::npos);
  EXPECT_NE(check("lazy", CheckLinkFlags).find("-z,now"), std::string::npos);
  EXPECT_NE(check("no-relro", CheckLinkFlags).find("-z,relro"), std::string::npos);
  EXPECT_NE(check("deletable", CheckLinkFlags).find("-z,nodelete"), std::string::npos);
  EXPECT_NE(check("newer-symbol", CheckSymbolVersions).find("from_the_future@GLIBC_2.99"),
            std::string::npos);
}

TEST(Elf, SeesBuildIdNeededAndVersionsOfARealLibrary) {
  const auto elf = ReadElf(ReadAll(std::string(kFolder) + "/extra-needed.so"));
  ASSERT_TRUE(elf.ok()) << elf.status().ToString();
  EXPECT_NE(std::find(elf->needed.begin(), elf->needed.end(), "libcrypto.so.3"), elf->needed.end());
  EXPECT_EQ(elf->build_id.size(), 40u);
  EXPECT_TRUE(elf->IsSharedObject());
}

TEST(File, ReadsRegularFilesOnly) {
  EXPECT_EQ(ReadPluginFile("/nonexistent").status().reason(), "NoFile");
  EXPECT_EQ(ReadPluginFile("/tmp").status().reason(), "NotAFile");
  EXPECT_EQ(ReadPluginFile("/dev/null").status().reason(), "NotAFile");
}

TEST(Elf, SaysWhatIsWrong) {
  const auto message = [](const std::vector<std::uint8_t>& bytes) {
    const auto elf = ReadElf(bytes);
    return elf.ok() ? "ok" : elf.status().reason() + ": " + elf.status().message();
  };
  EXPECT_EQ(message({}), "NotElf: not an ELF file");
  EXPECT_EQ(message({'h', 'i'}), "NotElf: not an ELF file");
  auto good = ReadAll(std::string(kFolder) + "/good.so");
  good.resize(good.size() / 3);
  EXPECT_EQ(message(good).substr(0, 17), "BadElf: truncated");
}

// Any prefix and any damage gives an answer, not a crash (run under ASan too).
TEST(Elf, SurvivesTruncationAndDamage) {
  const auto good = ReadAll(std::string(kFolder) + "/good.so");
  const auto judge = [](const std::vector<std::uint8_t>& bytes) {
    ElfInfo elf;
    Manifest manifest;
    CheckPluginFile(bytes, Expect("good"), &elf, &manifest);
    CheckExports(elf);
    CheckSymbolVersions(elf);
  };
  for (std::size_t size = 0; size < good.size(); size += size < 1024 ? 1 : 97) {
    judge({good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size)});
  }
  // The headers byte by byte, the rest with a fixed pseudo-random walk.
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < 6000; ++i) {
    auto bytes = good;
    state = state * 1664525u + 1013904223u;
    const std::size_t at = i < 1500 ? i : (state >> 8) % bytes.size();
    bytes[at] = i % 3 == 0 ? 0xFF : static_cast<std::uint8_t>(state >> 24);
    judge(bytes);
  }
}

std::string Note(const std::string& text) { return text + std::string(1, '\0'); }

TEST(ManifestText, ReadsEveryKey) {
  const auto result = ParseManifestNote(
      Note("manifest=1\nid=com.example.thing\nversion=1.2.3-rc.1+b\nabi=1.0\n"
           "provides=otc.instances-v2/1 com.example.thing/draft-2\n"
           "needs=otc.host.cloud/1>=16 otc.host.time/1\nuses=otc.host.metrics/1\n"
           "cloud=ecs evs\nexec=mkfs.ext4 blkid\nkube=get list /v1/nodes\n"
           "kube=patch apps/v1/deployments/status\nthreads=own\nbuild=release\nx-later=1\n"));
  ASSERT_TRUE(result.ok()) << result.ErrorText();
  const Manifest& m = result.manifest;
  EXPECT_EQ(m.id, "com.example.thing");
  EXPECT_EQ(m.abi_major, 1);
  EXPECT_EQ(m.provides.size(), 2u);
  ASSERT_EQ(m.needs.size(), 2u);
  EXPECT_EQ(m.needs[0].min_size, 16u);
  EXPECT_TRUE(m.Names("otc.host.metrics/1"));
  EXPECT_TRUE(m.Names("otc.host.time/1"));
  EXPECT_FALSE(m.Names("otc.host.kube/1"));
  EXPECT_EQ(m.cloud, (std::vector<std::string>{"ecs", "evs"}));
  EXPECT_EQ(m.exec, (std::vector<std::string>{"mkfs.ext4", "blkid"}));
  ASSERT_EQ(m.kube.size(), 2u);
  EXPECT_EQ(m.kube[0].group, "");
  EXPECT_EQ(m.kube[0].verbs, (std::vector<std::string>{"get", "list"}));
  EXPECT_EQ(m.kube[1].resource, "deployments/status");
  EXPECT_TRUE(m.own_threads);
  EXPECT_EQ(m.unknown_keys, std::vector<std::string>{"x-later"});
}

TEST(ManifestText, ReportsAllErrorsWithTheirLines) {
  const auto result = ParseManifestNote(
      Note("id=UPPER\nversion=1\nabi=1\nprovides=a  b/1\nneeds=x otc.host.log/1>=q\nthreads=some\n"
           "build=fast\nid=again\nkube=get\nkube=get nodes\njunk\nuses=otc.host.log/1 "));
  std::vector<int> lines;
  for (const ManifestError& error : result.errors) lines.push_back(error.line);
  for (const int line : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}) {
    EXPECT_NE(std::find(lines.begin(), lines.end(), line), lines.end())
        << "line " << line << " in: " << result.ErrorText();
  }
  EXPECT_NE(result.ErrorText().find("key \"manifest\" is missing"), std::string::npos);
}

TEST(ManifestText, HoldsItsLimits) {
  EXPECT_FALSE(ParseManifestNote("").ok());
  EXPECT_FALSE(ParseManifestNote("manifest=1").ok());  // no NUL
  EXPECT_FALSE(ParseManifestNote(Note("manifest=2\nid=a\nversion=1.0.0\nabi=1.0\nprovides=\n"
                                      "build=release\n"))
                   .ok());
  const std::string base = "manifest=1\nid=a\nversion=1.0.0\nabi=1.0\nprovides=\nbuild=release\n";
  const auto padded = [&](std::size_t total) {
    return Note(base + "x=" + std::string(total - base.size() - 3, 'y'));
  };
  EXPECT_TRUE(ParseManifestNote(padded(4096)).ok());
  EXPECT_FALSE(ParseManifestNote(padded(4097)).ok());
  EXPECT_FALSE(ParseManifestNote(Note(base + "x=\xC3\xA4")).ok());
  EXPECT_FALSE(ParseManifestNote(Note(base + std::string(1, '\0'))).ok());
}

TEST(ManifestText, IdsAndVersions) {
  EXPECT_TRUE(IsPluginId("a"));
  EXPECT_TRUE(IsPluginId("com.example.my-thing2"));
  EXPECT_TRUE(IsPluginId(std::string(63, 'a')));
  for (const char* bad : {"", "-a", "a-", ".a", "A", "a/b", "a_b", "..", "a b"}) {
    EXPECT_FALSE(IsPluginId(bad)) << bad;
  }
  EXPECT_FALSE(IsPluginId(std::string(64, 'a')));
  EXPECT_TRUE(IsInterfaceId("otc.load-balancer/1"));
  EXPECT_TRUE(IsInterfaceId("otc.load-balancer/draft-1"));
  for (const char* bad : {"otc.x", "otc.x/", "otc.x/01", "/1", "otc.x/1/2", "otc.x/draft-"}) {
    EXPECT_FALSE(IsInterfaceId(bad)) << bad;
  }
  for (const char* good : {"0.0.0", "1.2.3", "1.0.0-alpha.1", "1.0.0+build", "1.0.0-a+b.c"}) {
    EXPECT_TRUE(IsSemanticVersion(good)) << good;
  }
  for (const char* bad : {"", "1", "1.2", "1.2.3.4", "01.0.0", "1.0.0-", "1.0.0+", "1.0.0-a..b",
                          "v1.0.0", "1.0.0 "}) {
    EXPECT_FALSE(IsSemanticVersion(bad)) << bad;
  }
}

}  // namespace
}  // namespace otc::inspect
