// ClientTest: a client, a fake clock and the usual requests, for the tests of
// this folder.
#ifndef OTC_HOST_HTTP_TESTING_FIXTURE_H_
#define OTC_HOST_HTTP_TESTING_FIXTURE_H_

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <memory>
#include <string>

#include "host/base/fake_clock.h"
#include "host/http/client_impl.h"
#include "host/http/testing/scripted_server.h"

namespace otc::host::http::testing {

class ClientTest : public ::testing::Test {
 protected:
  ClientTest() {
    options_.user_agent = "otc-host/test";
    lookup_ = [](const std::string& host) { return SystemLookup(host); };
  }

  // Options and look-up may be changed until the first use of client(), which is
  // made by the test's own thread.
  ClientOptions& options() { return options_; }
  void SetLookup(Resolver::Lookup lookup) { lookup_ = std::move(lookup); }

  Client& client() {
    if (!client_) {
      auto made = MakeClientWithLookup(options_, clock_, lookup_);
      EXPECT_TRUE(made.ok()) << made.status().ToString();
      client_ = std::move(made).value();
    }
    return *client_;
  }
  void ResetClient() { client_.reset(); }

  FakeClock& clock() { return clock_; }

  CallContext context(Duration timeout = std::chrono::hours(1)) {
    CallContext context;
    context.clock = &clock_;
    context.deadline = clock_.Now() + timeout;
    context.cancellation = cancellation_;
    return context;
  }
  Cancellation& cancellation() { return *cancellation_; }

  static Request Get(const ScriptedServer& server, const std::string& target = "/") {
    Request request;
    request.method = "GET";
    request.origin = server.origin();
    request.target = target;
    return request;
  }

  // Sockets of this process that are connected to a loopback port.
  static int OpenSockets(std::uint16_t port) {
    int count = 0;
    for (int fd = 0; fd < 1024; ++fd) {
      sockaddr_in peer{};
      socklen_t length = sizeof(peer);
      if (getpeername(fd, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
          peer.sin_family == AF_INET && ntohs(peer.sin_port) == port) {
        ++count;
      }
    }
    return count;
  }

 private:
  FakeClock clock_;
  std::shared_ptr<Cancellation> cancellation_ = Cancellation::Create();
  ClientOptions options_;
  Resolver::Lookup lookup_;
  std::unique_ptr<Client> client_;
};

}  // namespace otc::host::http::testing

#endif  // OTC_HOST_HTTP_TESTING_FIXTURE_H_
