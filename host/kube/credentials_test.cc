#include "host/kube/credentials.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "host/kube/testing/kube_fixture.h"

namespace otc::host::kube {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class CredentialsTest : public KubeTest {
 protected:
  CredentialsTest() : directory_(::testing::TempDir() + "credentials." + std::to_string(getpid())) {
    std::filesystem::create_directories(directory_);
    options_.config.token.clear();
    script_->answer = [](const http::Request&, const CallContext&) {
      return Answered(200, R"({"metadata":{"name":"a"}})");
    };
  }
  ~CredentialsTest() override { std::filesystem::remove_all(directory_); }

  std::string Write(const std::string& name, const std::string& content) {
    const std::string path = directory_ + "/" + name;
    std::ofstream(path) << content;
    return path;
  }
  // The Authorization header of a call that is made now.
  std::string Authorization() {
    (void)client().GetNode("a", "", context_);
    return Header(script_->requests.back(), "Authorization");
  }

  const std::string directory_;
};

TEST_F(CredentialsTest, C25_AReplacedTokenIsInUseWithinAMinute) {
  options_.config.token_file = Write("token", "first\n");
  EXPECT_EQ(Authorization(), "Bearer first");
  Write("token", "second\n");
  clock_.Advance(seconds(50));
  EXPECT_EQ(Authorization(), "Bearer first") << "read at most once in 50 s";
  clock_.Advance(seconds(1));
  EXPECT_EQ(Authorization(), "Bearer second");
}

TEST_F(CredentialsTest, C26_A401ReadsTheTokenAgainForTheNextRequest) {
  options_.config.token_file = Write("token", "first");
  EXPECT_EQ(Authorization(), "Bearer first");
  Write("token", "second");
  script_->answer = [](const http::Request&, const CallContext&) { return Answered(401, ""); };
  clock_.Advance(seconds(1));
  const std::size_t before = script_->requests.size();
  EXPECT_EQ(Authorization(), "Bearer first");
  EXPECT_EQ(script_->requests.size(), before + 1) << "the refused request is not repeated";
  EXPECT_EQ(Authorization(), "Bearer second");
}

TEST_F(CredentialsTest, C26_AMissingOrEmptyFileLeavesTheOldTokenInUse) {
  options_.config.token_file = Write("token", "good");
  EXPECT_EQ(Authorization(), "Bearer good");
  Write("token", " \n");
  clock_.Advance(minutes(2));
  EXPECT_EQ(Authorization(), "Bearer good");
  std::filesystem::remove(options_.config.token_file);
  EXPECT_EQ(Authorization(), "Bearer good");
  Write("token", "new");
  EXPECT_EQ(Authorization(), "Bearer new") << "a failed reading is repeated at once";
  for (const std::string& line : log_.Lines()) EXPECT_EQ(line.find("good"), std::string::npos);
}

TEST_F(CredentialsTest, C27_ATokenOfEightKilobytesIsSentCompletelyAndTrimmed) {
  const std::string token(8192, 'x');
  options_.config.token_file = Write("token", token + "\n");
  EXPECT_EQ(Authorization(), "Bearer " + token);
}

TEST_F(CredentialsTest, ATokenFileThatNeverWasReadableIsAnErrorAtStart) {
  options_.config.token_file = directory_ + "/none";
  const auto made = KubeClient::Create(options_, gate_, clock_, log_, metrics_);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find(options_.config.token_file), std::string::npos);
}

TEST_F(CredentialsTest, ATokenGivenBesideTheFileHelpsOutWhileTheFileIsMissing) {
  options_.config.token = "given";
  options_.config.token_file = directory_ + "/late";
  EXPECT_EQ(Authorization(), "Bearer given");
  Write("late", "file");
  EXPECT_EQ(Authorization(), "Bearer file");
}

TEST_F(CredentialsTest, UserAndPasswordAreBasicAuthorization) {
  options_.config.username = "ada";
  options_.config.password = std::string(80, 'p');
  const std::string header = Authorization();
  EXPECT_EQ(header.rfind("Basic YWRhOnBwc", 0), 0u) << header;
  EXPECT_EQ(header.find('\n'), std::string::npos);
}

TEST_F(CredentialsTest, C28_AReplacedCaIsUsedForNewConnectionsAndABrokenOneIsNot) {
  options_.config.ca_file = Write("ca.crt", "CA one");
  client();
  EXPECT_EQ(script_->clients, 3);
  EXPECT_EQ(script_->options.back().tls.ca_pem, "CA one");
  Write("ca.crt", "CA two");
  clock_.Advance(minutes(4));
  (void)Authorization();
  EXPECT_EQ(script_->clients, 3) << "looked at every five minutes";
  clock_.Advance(minutes(1));
  (void)Authorization();
  EXPECT_EQ(script_->clients, 4);
  EXPECT_EQ(script_->options.back().tls.ca_pem, "CA two");
  EXPECT_EQ(script_->idle_closed, 1);
  for (const char* bad : {"broken", ""}) {
    Write("ca.crt", bad);
    clock_.Advance(minutes(5));
    EXPECT_EQ(Authorization(), "");
    EXPECT_EQ(script_->clients, 4) << "the old CA stays";
  }
  Write("ca.crt", "CA two");
  clock_.Advance(minutes(5));
  (void)Authorization();
  EXPECT_EQ(script_->clients, 4) << "nothing changed, nothing is made";
}

// Counts what a stream brings.
class NullConsumer final : public StreamConsumer {
 public:
  Status OnStart(Encoding) override { return Status::Ok(); }
  Status OnData(std::string_view) override { return Status::Ok(); }
};

TEST_F(CredentialsTest, C29_AReplacedClientCertificateEndsRunningStreams) {
  options_.config.client_cert_file = Write("tls.crt", "cert one");
  options_.config.client_key_file = Write("tls.key", "key one");
  script_->stream_answer = [](const http::Request&) {
    StreamScript script;
    script.headers = {{"content-type", "application/json"}};
    script.end = StreamScript::End::kSilent;
    return script;
  };
  client();
  StreamOutcome outcome;
  std::thread watcher([&] {
    NullConsumer consumer;
    outcome = client().Stream({"/api/v1/nodes?watch=true", false, minutes(10)}, context_, consumer);
  });
  ASSERT_TRUE(script_->AwaitStreams(1));
  ASSERT_TRUE(clock_.AwaitWaiters(1));
  Write("tls.crt", "cert two");
  Write("tls.key", "key two");
  clock_.Advance(minutes(5));
  (void)Authorization();
  watcher.join();
  EXPECT_EQ(outcome.status.reason(), "CredentialsChanged");
  EXPECT_EQ(script_->options.back().tls.client_cert_pem, "cert two");
  EXPECT_TRUE(context_.Check().ok()) << "the caller's own context goes on";
}

TEST_F(CredentialsTest, InlineCertificatesWinOverFiles) {
  options_.config.ca_pem = "inline";
  options_.config.ca_file = directory_ + "/none";
  client();
  EXPECT_EQ(script_->options.back().tls.ca_pem, "inline");
}

}  // namespace
}  // namespace otc::host::kube
