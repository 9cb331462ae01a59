#include "host/cloud/config_watcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "host/base/fake_clock.h"

namespace otc::host::cloud {
namespace {

using std::chrono::seconds;

class ConfigWatcherTest : public testing::Test {
 protected:
  ConfigWatcherTest() {
    char name[] = "/tmp/config_watcher_XXXXXX";
    directory_ = mkdtemp(name);
    path_ = directory_ + "/cloud.conf";
    Put("one");
  }
  ~ConfigWatcherTest() override { std::filesystem::remove_all(directory_); }
  void Put(const std::string& text) const { std::ofstream(path_) << text; }

  std::string directory_, path_;
  FakeClock clock_;
  MemoryLog log_;
  std::vector<std::string> seen_;
  Status answer_;
  ConfigWatcher::OnChange note_ = [this](const std::string& text, const CallContext&) {
    seen_.push_back(text);
    return answer_;
  };
};

TEST_F(ConfigWatcherTest, TellsEachChangeOnce) {
  ConfigWatcher watcher(clock_, log_, path_, "one", note_);
  EXPECT_FALSE(watcher.Poll());
  Put("two");
  EXPECT_TRUE(watcher.Poll());
  EXPECT_FALSE(watcher.Poll());
  std::filesystem::remove(path_);
  EXPECT_FALSE(watcher.Poll());
  EXPECT_FALSE(watcher.Poll());
  EXPECT_EQ(log_.Lines().size(), 1u);  // said once
  Put("two");
  EXPECT_FALSE(watcher.Poll());
  Put("one");
  EXPECT_TRUE(watcher.Poll());
  EXPECT_EQ(seen_, (std::vector<std::string>{"two", "one"}));
}

// A mounted Secret: the name is a link into a folder that is swapped as a whole.
TEST_F(ConfigWatcherTest, SeesASwappedLink) {
  std::filesystem::create_directory(directory_ + "/a");
  std::filesystem::create_directory(directory_ + "/b");
  std::ofstream(directory_ + "/a/cloud.conf") << "one";
  std::ofstream(directory_ + "/b/cloud.conf") << "two";
  std::filesystem::create_directory_symlink("a", directory_ + "/data");
  ConfigWatcher watcher(clock_, log_, directory_ + "/data/cloud.conf", "one", note_);
  EXPECT_FALSE(watcher.Poll());
  std::filesystem::create_directory_symlink("b", directory_ + "/data_new");
  std::filesystem::rename(directory_ + "/data_new", directory_ + "/data");
  EXPECT_TRUE(watcher.Poll());
  EXPECT_EQ(seen_, std::vector<std::string>{"two"});
}

TEST_F(ConfigWatcherTest, OnlyAnOutageIsTriedAgainAndEverMoreRarely) {
  ConfigWatcher watcher(clock_, log_, path_, "one", note_);
  answer_ = Status(Code::kUnauthenticated, "CredentialsRefused", "");
  Put("bad");
  int calls = 0;
  for (int i = 0; i < 100; ++i, clock_.Advance(seconds(4))) calls += watcher.Poll() ? 1 : 0;
  EXPECT_EQ(calls, 1);  // a refused key is not shown to the cloud again
  answer_ = Status(Code::kUnavailable, "CloudUnreachable", "");
  Put("good");
  calls = 0;
  for (int i = 0; i < 150; ++i, clock_.Advance(seconds(4))) calls += watcher.Poll() ? 1 : 0;
  EXPECT_GE(calls, 8);
  EXPECT_LE(calls, 15);
  answer_ = Status();
  calls = 0;
  for (int i = 0; i < 100; ++i, clock_.Advance(seconds(4))) calls += watcher.Poll() ? 1 : 0;
  EXPECT_EQ(calls, 1);
}

TEST_F(ConfigWatcherTest, P_I1_TheThreadSeesAChangeWithinTenSeconds) {
  std::atomic<int> calls{0};
  ConfigWatcher watcher(clock_, log_, path_, "one", [&](const std::string&, const CallContext&) {
    ++calls;
    return Status::Ok();
  });
  static_assert(ConfigWatcher::kInterval * 2 <= seconds(10));
  watcher.Start();
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  Put("two");
  clock_.Advance(ConfigWatcher::kInterval);
  for (int i = 0; i < 5000 && calls == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(calls, 1);
  watcher.Stop();
}

}  // namespace
}  // namespace otc::host::cloud
