// otc-sim as a program: start line, ports file, TLS, signals, the parent's death,
// bad usage. Each child is ended by its own pid.
#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequest.h>
#include <Poco/Net/HTTPResponse.h>
#include <Poco/Net/HTTPSClientSession.h>
#include <Poco/Net/SSLException.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "tests/sim/otc/test_client.h"

namespace otc::sim {
namespace {

// Every file name of this test process.
std::string Scratch(const std::string& name) {
  return testing::TempDir() + "otc-sim-process-" + std::to_string(getpid()) + "-" + name;
}

class Child {
 public:
  explicit Child(std::vector<std::string> arguments)
      : Child(OTC_SIM_BINARY, std::move(arguments)) {}
  Child(const std::string& program, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), program);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    int out[2], err[2];
    EXPECT_EQ(pipe2(out, O_CLOEXEC), 0);
    EXPECT_EQ(pipe2(err, O_CLOEXEC), 0);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, out[1], 1);
    posix_spawn_file_actions_adddup2(&actions, err[1], 2);
    EXPECT_EQ(posix_spawn(&pid_, program.c_str(), &actions, nullptr, argv.data(), environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    close(out[1]);
    close(err[1]);
    out_ = out[0];
    err_ = err[0];
  }
  ~Child() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    close(out_);
    close(err_);
  }

  // The next line of stdout, or what there is after 10 s; empty at the end.
  std::string Line() {
    std::string line;
    while (line.empty() || line.back() != '\n') {
      pollfd entry{out_, POLLIN, 0};
      char c = 0;
      if (poll(&entry, 1, 10'000) <= 0 || read(out_, &c, 1) != 1) break;
      line += c;
    }
    return line;
  }
  std::string Errors() {
    std::string text;
    char buffer[4096];
    for (ssize_t got = read(err_, buffer, sizeof buffer); got > 0;
         got = read(err_, buffer, sizeof buffer)) {
      text.append(buffer, static_cast<std::size_t>(got));
    }
    return text;
  }
  void Signal(int number) const { kill(pid_, number); }
  // The exit code; -signal if one killed it; -1000 if it does not end within 10 s.
  int Wait() {
    for (int i = 0; i < 1000; ++i) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return -1000;
  }

 private:
  pid_t pid_ = -1;
  int out_ = -1, err_ = -1;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Unquoted(const std::string& text) { return text.substr(1, text.size() - 2); }

TEST(ProcessTest, StartLinePortsFileConfigAndSigterm) {
  const std::string config = Scratch("config.yaml"), ports = Scratch("ports.json");
  std::ofstream(config) << "servers:\n- {name: node-1}\n";
  Child child({"--config", config, "--ports-file", ports});
  Answer start;
  start.body = child.Line();
  EXPECT_EQ(ReadFile(ports), start.body);
  TestClient client;
  EXPECT_EQ(
      client.Get(Unquoted(start.At("urls.ecs")) + "/v1/" + kProjectId + "/cloudservers/detail")
          .At("servers.0.name"),
      "\"node-1\"");
  child.Signal(SIGTERM);
  EXPECT_EQ(child.Wait(), 0);
  std::filesystem::remove(config);
  std::filesystem::remove(ports);
}

TEST(ProcessTest, BadUsageIsExit2WithTheReason) {
  Child child({"--prot", "ecs=1"});
  EXPECT_EQ(child.Wait(), 2);
  EXPECT_NE(child.Errors().find("did you mean --port?"), std::string::npos);
  const std::string config = Scratch("bad.yaml");
  std::ofstream(config) << "servers:\n- {nam: node-1}\n";
  Child bad_config({"--config", config});
  EXPECT_EQ(bad_config.Wait(), 2);
  EXPECT_NE(bad_config.Errors().find("servers[0].nam: unknown; did you mean 'name'?"),
            std::string::npos);
  std::filesystem::remove(config);
}

TEST(ProcessTest, HelpNamesEveryOption) {
  Child child({"--help"});
  EXPECT_NE(child.Line().find("otc-sim"), std::string::npos);
  EXPECT_EQ(child.Wait(), 0);
}

// The shell starts the simulator and ends; the simulator must end by itself,
// which the end of the pipe that both hold shows.
TEST(ProcessTest, DiesWithItsParent) {
  Child shell("/bin/sh",
              {"-c", std::string(OTC_SIM_BINARY) + " --die-with-parent & echo $!; sleep 0.5"});
  const int simulator = std::stoi(shell.Line());
  EXPECT_NE(shell.Line().find("\"urls\""), std::string::npos);
  EXPECT_EQ(shell.Wait(), 0);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(shell.Line(), "");
  const bool ended = std::chrono::steady_clock::now() - begin < std::chrono::seconds(9);
  EXPECT_TRUE(ended);
  if (!ended) kill(simulator, SIGKILL);
}

TEST(ProcessTest, TlsIsVerifiedAgainstTheMadeCa) {
  namespace net = Poco::Net;
  const std::string directory = Scratch("tls");
  Child child({"--tls-dir", directory});
  Answer start;
  start.body = child.Line();
  ASSERT_EQ(Unquoted(start.At("urls.iam")).substr(0, 8), "https://");
  EXPECT_EQ(Unquoted(start.At("urls.control")).substr(0, 7), "http://");
  const auto port = static_cast<std::uint16_t>(std::stoi(start.At("iam")));
  const auto get = [&](const std::string& ca) {
    net::Context::Params params;
    params.caLocation = ca;
    params.verificationMode = net::Context::VERIFY_STRICT;
    net::Context::Ptr context = new net::Context(net::Context::TLS_CLIENT_USE, params);
    net::HTTPSClientSession session("127.0.0.1", port, context);
    net::HTTPRequest request("GET", "/v3", "HTTP/1.1");
    session.sendRequest(request);
    net::HTTPResponse response;
    session.receiveResponse(response);
    return static_cast<int>(response.getStatus());
  };
  EXPECT_EQ(get(directory + "/ca.pem"), 200);
  EXPECT_THROW(get(""), net::SSLException);
  child.Signal(SIGTERM);
  EXPECT_EQ(child.Wait(), 0);
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace otc::sim
