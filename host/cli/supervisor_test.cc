#include "host/cli/supervisor.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <thread>

namespace otc::host::cli {
namespace {

using std::chrono::milliseconds;

TEST(Supervisor, SignalsAndNoticesArriveOneByOne) {
  Supervisor supervisor;
  EXPECT_FALSE(supervisor.Wait(milliseconds(0)).has_value());
  // To this thread: the test runner's others have not blocked it.
  pthread_kill(pthread_self(), SIGHUP);
  supervisor.Post({Notice::Kind::kFatal, Status(Code::kUnavailable, "A", "b"), 3});
  const auto first = supervisor.Wait(milliseconds(1000));
  const auto second = supervisor.Wait(milliseconds(1000));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kind, Notice::Kind::kReload);
  EXPECT_EQ(second->kind, Notice::Kind::kFatal);
  EXPECT_EQ(second->exit_code, 3);
  EXPECT_EQ(second->status.reason(), "A");
  EXPECT_FALSE(supervisor.Wait(milliseconds(0)).has_value());
}

TEST(Supervisor, P10_TermAndIntAskForTheEnd) {
  Supervisor supervisor;
  for (const int number : {SIGTERM, SIGINT}) {
    pthread_kill(pthread_self(), number);
    const auto notice = supervisor.Wait(milliseconds(1000));
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->kind, Notice::Kind::kTerminate);
  }
}

TEST(Supervisor, APostWakesTheWaiter) {
  Supervisor supervisor;
  std::thread poster([&] { supervisor.Post({Notice::Kind::kLeading, Status(), 0}); });
  const auto notice = supervisor.Wait(std::chrono::seconds(10));
  poster.join();
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->kind, Notice::Kind::kLeading);
}

TEST(TerminationMessage, IsWrittenOnlyWhereTheKubeletMadeTheFile) {
  char path[] = "/tmp/otc-termination-XXXXXX";
  const int fd = mkstemp(path);
  ASSERT_GE(fd, 0);
  close(fd);
  WriteTerminationMessage(path, std::string(5000, 'x'));
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str().size(), 4096u);
  unlink(path);
  WriteTerminationMessage(path, "again");
  EXPECT_NE(access(path, F_OK), 0);
}

}  // namespace
}  // namespace otc::host::cli
