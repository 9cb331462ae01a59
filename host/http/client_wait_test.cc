// Where a call may hang: DNS, connect, writing, reading; and what ends it. The
// clock is a fake one that stands still unless a test moves it, so a call that
// ends was ended by what the test did.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "host/http/client.h"
#include "host/http/testing/fixture.h"

namespace otc::host::http {
namespace {

using testing::Answering;
using testing::BlackHole;
using testing::ClientTest;
using testing::OkAnswer;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::SeenRequest;
using testing::ServerOptions;

class ClientWaitTest : public ClientTest {
 protected:
  // Runs `send` on this thread while `meanwhile` runs on another.
  template <typename Meanwhile>
  Outcome SendWhile(const Request& request, const CallContext& context, Meanwhile meanwhile) {
    client();
    std::thread thread(meanwhile);
    Outcome outcome = client().Send(request, context);
    thread.join();
    return outcome;
  }

  static Request To(const std::string& host, std::uint16_t port) {
    Request request;
    request.method = "GET";
    request.origin = {false, host, port};
    request.target = "/";
    return request;
  }

  // Waits until connections are being tried: SYNs cannot be seen from here, so
  // this only makes the interesting order likely; either order must pass.
  static void LetItHang() { std::this_thread::sleep_for(std::chrono::milliseconds(30)); }
};

TEST_F(ClientWaitTest, ACallThatIsOverBeforeItStartsSendsNothing) {
  ScriptedServer server({}, Answering([](const SeenRequest&) { return OkAnswer(""); }));
  EXPECT_EQ(client().Send(Get(server), context(Duration(0))).error.code(), Code::kDeadlineExceeded);
  cancellation().Cancel("Quiescing");
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.error.reason(), "Quiescing");
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
  EXPECT_EQ(server.connections(), 0);
}

TEST_F(ClientWaitTest, CancellingAConnectEndsIt) {
  const BlackHole hole;
  const Outcome outcome = SendWhile(To("127.0.0.1", hole.port()), context(), [&] {
    LetItHang();
    cancellation().Cancel("LeaseLost");
  });
  EXPECT_EQ(outcome.error.reason(), "LeaseLost") << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
}

TEST_F(ClientWaitTest, AConnectEndsAtTheDeadlineAndNamesTheAddress) {
  const BlackHole hole;
  const Outcome outcome =
      SendWhile(To("127.0.0.1", hole.port()), context(std::chrono::seconds(3)), [&] {
        LetItHang();
        clock().Advance(std::chrono::seconds(3));
      });
  EXPECT_EQ(outcome.error.code(), Code::kDeadlineExceeded) << outcome.error.ToString();
  EXPECT_NE(outcome.error.message().find("127.0.0.1:" + std::to_string(hole.port())),
            std::string::npos);
}

TEST_F(ClientWaitTest, ALookUpThatHangsIsAbandoned) {
  // Shared: the look-up outlives the client, and by a little this test.
  struct Shared {
    std::atomic<bool> release{false};
    std::atomic<int> entered{0};
  };
  const auto shared = std::make_shared<Shared>();
  SetLookup([shared](const std::string&) -> Result<std::vector<Address>> {
    ++shared->entered;
    while (!shared->release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return ParseIpLiteral("127.0.0.1");
  });
  const Outcome late = SendWhile(To("slow.example", 1), context(std::chrono::seconds(3)), [&] {
    while (shared->entered == 0) std::this_thread::yield();
    clock().Advance(std::chrono::seconds(3));
  });
  EXPECT_EQ(late.error.code(), Code::kDeadlineExceeded) << late.error.ToString();
  EXPECT_EQ(late.delivery, Delivery::kNotSent);
  const Outcome cancelled = SendWhile(To("slow.example", 1), context(), [&] {
    LetItHang();
    cancellation().Cancel("Quiescing");
  });
  EXPECT_EQ(cancelled.error.reason(), "Quiescing");
  EXPECT_EQ(shared->entered, 1) << "the second call joined the first look-up";
  ResetClient();  // while the look-up still runs
  shared->release = true;
}

TEST_F(ClientWaitTest, NamesThatDoNotResolveAreNotSent) {
  SetLookup([](const std::string& host) -> Result<std::vector<Address>> {
    return Status(Code::kUnavailable, "DnsFailed", "look up " + host + ": no such name");
  });
  const Outcome outcome = client().Send(To("nowhere.example", 443), context());
  EXPECT_EQ(outcome.error.reason(), "DnsFailed");
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
  EXPECT_NE(outcome.error.message().find("nowhere.example"), std::string::npos);
}

TEST_F(ClientWaitTest, C12_ADrippingBodyEndsAtTheDeadline) {
  std::atomic<int> drops{0};
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
    while (connection.Write(".")) {
      ++drops;
      clock().Advance(std::chrono::milliseconds(200));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const Outcome outcome = client().Send(Get(server), context(std::chrono::seconds(5)));
  EXPECT_EQ(outcome.error.code(), Code::kDeadlineExceeded) << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
  EXPECT_GE(drops, 20) << "every byte came in time, all of them together did not";
}

TEST_F(ClientWaitTest, CancellingAReadIsUnclear) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Hold();
  });
  const Outcome outcome = SendWhile(Get(server), context(), [&] {
    ASSERT_TRUE(server.AwaitRequests(1));
    cancellation().Cancel("ClientGone");
  });
  EXPECT_EQ(outcome.error.code(), Code::kCancelled);
  EXPECT_EQ(outcome.error.reason(), "ClientGone");
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
  ASSERT_TRUE(server.AwaitIdle()) << "the connection is closed, not pooled";
}

TEST_F(ClientWaitTest, AServerThatDoesNotReadEndsAtTheDeadline) {
  ScriptedServer server({}, [](ScriptedConnection& connection) { connection.HoldUnread(); });
  auto request = Get(server);
  request.method = "PUT";
  request.body = std::string(32u << 20, 'x');
  const Outcome outcome = SendWhile(request, context(std::chrono::seconds(5)), [&] {
    ASSERT_TRUE(server.AwaitConnections(1));
    LetItHang();
    clock().Advance(std::chrono::seconds(5));
  });
  EXPECT_EQ(outcome.error.code(), Code::kDeadlineExceeded) << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
}

TEST_F(ClientWaitTest, TheSecondAddressIsTriedWhenTheFirstRefuses) {
  ServerOptions second;
  second.address = "127.0.0.2";
  ScriptedServer server(second, Answering([](const SeenRequest&) { return OkAnswer("two"); }));
  SetLookup([](const std::string&) -> Result<std::vector<Address>> {
    return std::vector<Address>{ParseIpLiteral("127.0.0.1")[0], ParseIpLiteral("127.0.0.2")[0]};
  });
  const Outcome outcome = client().Send(To("two.example", server.port()), context());
  EXPECT_EQ(outcome.response.body, "two") << outcome.error.ToString();
  EXPECT_EQ(server.requests().at(0).Find("host"), "two.example:" + std::to_string(server.port()));
}

TEST_F(ClientWaitTest, TheSecondAddressStartsAfterTheHeadStartOfASilentOne) {
  const BlackHole hole("127.0.0.3");
  ServerOptions second;
  second.address = "127.0.0.2";
  second.port = hole.port();
  ScriptedServer server(second, Answering([](const SeenRequest&) { return OkAnswer("two"); }));
  SetLookup([](const std::string&) -> Result<std::vector<Address>> {
    return std::vector<Address>{ParseIpLiteral("127.0.0.3")[0], ParseIpLiteral("127.0.0.2")[0]};
  });
  int before = -1;
  const Outcome outcome = SendWhile(To("two.example", hole.port()), context(), [&] {
    LetItHang();
    before = server.connections();
    // A step at a time: the head start counts from when the dial began.
    for (int i = 0; i < 100 && server.connections() == 0; ++i) {
      clock().Advance(std::chrono::milliseconds(50));
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
  });
  EXPECT_EQ(outcome.response.body, "two") << outcome.error.ToString();
  EXPECT_EQ(before, 0) << "the first address had no head start";
}

TEST_F(ClientWaitTest, EveryAddressThatFailedIsNamed) {
  std::uint16_t port = 0;
  {
    ScriptedServer server({}, [](ScriptedConnection&) {});
    port = server.port();
  }
  int lookups = 0;
  SetLookup([&](const std::string&) -> Result<std::vector<Address>> {
    ++lookups;
    return std::vector<Address>{ParseIpLiteral("127.0.0.1")[0], ParseIpLiteral("::1")[0]};
  });
  const Outcome outcome = client().Send(To("two.example", port), context());
  EXPECT_EQ(outcome.error.reason(), "ConnectFailed");
  const std::string text = std::to_string(port);
  EXPECT_NE(outcome.error.message().find("127.0.0.1:" + text), std::string::npos);
  EXPECT_NE(outcome.error.message().find("[::1]:" + text), std::string::npos);
  client().Send(To("two.example", port), context());
  EXPECT_EQ(lookups, 2) << "addresses that cannot be reached are not kept";
}

TEST_F(ClientWaitTest, NamesAreKeptForThirtySeconds) {
  ScriptedServer server(
      {}, Answering([](const SeenRequest&) { return OkAnswer("", 200, "Connection: close\r\n"); }));
  std::atomic<int> lookups{0};
  SetLookup([&](const std::string&) -> Result<std::vector<Address>> {
    ++lookups;
    return ParseIpLiteral("127.0.0.1");
  });
  for (int i = 0; i < 3; ++i) client().Send(To("a.example", server.port()), context());
  EXPECT_EQ(lookups, 1);
  clock().Advance(std::chrono::seconds(30));
  client().Send(To("a.example", server.port()), context());
  EXPECT_EQ(lookups, 2);
}

TEST_F(ClientWaitTest, LookUpsUseAtMostFourThreads) {
  std::atomic<bool> release{false};
  std::atomic<int> running{0};
  std::atomic<int> most{0};
  SetLookup([&](const std::string&) -> Result<std::vector<Address>> {
    const int now = ++running;
    for (int seen = most; seen < now && !most.compare_exchange_weak(seen, now);) {
    }
    while (!release) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    --running;
    return Status(Code::kUnavailable, "DnsFailed", "none");
  });
  Client& shared = client();
  std::vector<std::thread> callers;
  for (int i = 0; i < 8; ++i) {
    callers.emplace_back([&, i] {
      const auto outcome = shared.Send(To("h" + std::to_string(i), 1), context());
      EXPECT_EQ(outcome.error.reason(), "DnsFailed") << outcome.error.ToString();
    });
  }
  while (running < 4) std::this_thread::yield();
  LetItHang();
  release = true;
  for (auto& caller : callers) caller.join();
  EXPECT_EQ(most, 4);
}

}  // namespace
}  // namespace otc::host::http
