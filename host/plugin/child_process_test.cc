#include "host/plugin/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

using End = ChildResult::End;

ChildSpec Shell(const std::string& script) {
  ChildSpec spec;
  spec.argv = {"/bin/sh", "-c", script};
  spec.environment = {"PATH=/usr/bin:/bin"};
  return spec;
}

ChildResult RunIt(const ChildSpec& spec) {
  SystemClock clock;
  const auto result = RunChild(spec, clock);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : ChildResult{};
}

TEST(ChildProcess, ReportsCodeOutputAndChannelApart) {
  const ChildResult result = RunIt(Shell("echo out; echo err >&2; echo answer >&3; exit 7"));
  EXPECT_EQ(result.end, End::kExited);
  EXPECT_EQ(result.code, 7);
  EXPECT_EQ(result.output, "out\nerr\n");
  EXPECT_EQ(result.channel, "answer\n");
}

TEST(ChildProcess, ReportsTheSignal) {
  const ChildResult result = RunIt(Shell("kill -SEGV $$"));
  EXPECT_EQ(result.end, End::kSignalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(ChildProcess, AHangingChildIsKilledWithWhatItStarted) {
  const SafeDir dir;
  const std::string pid_file = dir.File("pid");
  ChildSpec spec =
      Shell("trap '' TERM; sleep 600 & echo $! > " + pid_file + "; while :; do :; done");
  spec.timeout = std::chrono::milliseconds(300);
  EXPECT_EQ(RunIt(spec).end, End::kTimedOut);
  pid_t grandchild = 0;
  std::ifstream(pid_file) >> grandchild;
  ASSERT_GT(grandchild, 1);
  // Gone, or a zombie that nobody reaped yet.
  EXPECT_TRUE(Eventually([&] {
    if (kill(grandchild, 0) != 0) return true;
    std::ifstream status("/proc/" + std::to_string(grandchild) + "/stat");
    std::string text((std::istreambuf_iterator<char>(status)), {});
    return text.find(") Z ") != std::string::npos;
  }));
}

TEST(ChildProcess, AGrandchildThatKeepsThePipesDoesNotHoldUsUp) {
  const auto before = std::chrono::steady_clock::now();
  const ChildResult result = RunIt(Shell("sleep 600 & echo done; exit 0"));
  EXPECT_EQ(result.output, "done\n");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
}

TEST(ChildProcess, OutputIsBounded) {
  ChildSpec spec = Shell("head -c 1000000 /dev/zero; echo end >&3");
  spec.max_output = 100;
  const ChildResult result = RunIt(spec);
  EXPECT_EQ(result.output.size(), 100u);
  EXPECT_TRUE(result.truncated);
  EXPECT_EQ(result.channel, "end\n");
}

TEST(ChildProcess, SignalsAreOpenAndHandlersDefault) {
  sigset_t block, before;
  sigemptyset(&block);
  sigaddset(&block, SIGPIPE);
  sigaddset(&block, SIGTERM);
  sigprocmask(SIG_BLOCK, &block, &before);
  ChildSpec spec;
  spec.argv = {"/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"};
  const ChildResult result = RunIt(spec);
  sigprocmask(SIG_SETMASK, &before, nullptr);
  // SIGPIPE is ignored in every test binary; the child sees neither. The C library
  // ignores its two internal signals (32, 33) in the child by itself.
  EXPECT_EQ(result.output, "SigBlk:\t0000000000000000\nSigIgn:\t0000000180000000\n");
}

TEST(ChildProcess, OnlyListedDescriptorsAndVariablesArePassedOn) {
  setenv("OTC_TEST_SECRET", "s3cret", 1);
  const int secret = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int listed = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int leaked = open("/dev/null", O_RDONLY);  // somebody forgot O_CLOEXEC
  ChildSpec spec;
  spec.argv = {"/bin/ls", "/proc/self/fd"};
  spec.descriptors = {{listed, 5}};
  const std::string descriptors = RunIt(spec).output;
  const std::string variables = RunIt(Shell("env")).output;
  for (const int fd : {secret, listed, leaked}) close(fd);
  unsetenv("OTC_TEST_SECRET");
  EXPECT_EQ(descriptors, "0\n1\n2\n3\n4\n5\n") << "4 is the directory that ls reads";
  EXPECT_EQ(variables.find("s3cret"), std::string::npos);
}

TEST(ChildProcess, AMissingProgramIsAnError) {
  SystemClock clock;
  ChildSpec spec;
  spec.argv = {"/nonexistent/program"};
  const auto result = RunChild(spec, clock);
  EXPECT_EQ(result.status().reason(), "SpawnFailed");
  EXPECT_NE(result.status().message().find("No such file"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::plugin_host
