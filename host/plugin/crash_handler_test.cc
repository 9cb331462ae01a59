#include "host/plugin/crash_handler.h"

#include <gtest/gtest.h>
#include <signal.h>

#include "host/plugin/child_process.h"
#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

ChildResult Die(const std::string& how) {
  ChildSpec spec;
  spec.argv = {OTC_TEST_CRASH, std::string(OTC_TEST_PLUGIN_DIR) + "/scripted.so", how};
  // A sanitizer would otherwise take the signals for itself.
  spec.environment = {"ASAN_OPTIONS=handle_segv=0:handle_abort=0:use_sigaltstack=0",
                      "TSAN_OPTIONS=handle_segv=0:handle_abort=0:use_sigaltstack=0"};
  SystemClock clock;
  auto result = RunChild(spec, clock);
  EXPECT_TRUE(result.ok());
  return *result;
}

TEST(CrashHandler, NamesThePluginAndDiesOfTheSameSignal) {
  const ChildResult result = Die("plugin");
  EXPECT_EQ(result.end, ChildResult::End::kSignalled);
  EXPECT_EQ(result.code, SIGABRT) << result.output;
  EXPECT_NE(result.output.find("otc-host: died of SIGABRT"), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("in plugin scripted 1.2.3 "), std::string::npos) << result.output;
}

TEST(CrashHandler, DoesNotBlameAPluginForTheHost) {
  const ChildResult result = Die("host");
  EXPECT_EQ(result.code, SIGABRT) << result.output;
  EXPECT_NE(result.output.find("died of SIGABRT"), std::string::npos) << result.output;
  EXPECT_EQ(result.output.find("in plugin"), std::string::npos) << result.output;
}

TEST(CrashHandler, AStackOverflowOnAPluginThreadIsReported) {
  const ChildResult result = Die("overflow");
  EXPECT_EQ(result.end, ChildResult::End::kSignalled);
  EXPECT_NE(result.output.find("died of SIGSEGV"), std::string::npos) << result.output;
}

TEST(CrashHandler, AddressesOutsidePluginsAreNotDescribed) {
  EXPECT_EQ(DescribePluginAddress(nullptr), "");
  EXPECT_FALSE(RecordPluginMapping(nullptr, "x", "1"));
}

}  // namespace
}  // namespace otc::host::plugin_host
