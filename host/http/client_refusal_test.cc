// What the client refuses: answers that are no HTTP or too large, requests that
// would smuggle something.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "host/http/client.h"
#include "host/http/testing/fixture.h"

namespace otc::host::http {
namespace {

using testing::Answering;
using testing::ClientTest;
using testing::OkAnswer;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::SeenRequest;

class ClientRefusalTest : public ClientTest {};

TEST_F(ClientRefusalTest, MalformedAnswersAreRefused) {
  const std::vector<std::string> answers = {
      "SSH-2.0-OpenSSH_9\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      std::string("\0\0\0\0\r\n\r\n", 8),
  };
  for (const auto& answer : answers) {
    SCOPED_TRACE(answer);
    ScriptedServer server({}, [&](ScriptedConnection& connection) {
      connection.ReadRequest();
      connection.Write(answer);
      connection.Hold();
    });
    const Outcome outcome = client().Send(Get(server), context());
    EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
    EXPECT_EQ(outcome.error.reason(), "BadAnswer") << outcome.error.ToString();
  }
}

TEST_F(ClientRefusalTest, LimitsAreNamed) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    const auto request = connection.ReadRequest();
    if (!request) return;
    const std::string chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n";
    if (request->target == "/length") {
      connection.Write("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n");
    } else if (request->target == "/exact") {
      connection.Write(OkAnswer("0123456789", 200, "Connection: close\r\n"));
    } else if (request->target == "/chunks") {
      connection.Write(chunked + "\r\n8\r\n01234567\r\n8\r\n01234567\r\n0\r\n\r\n");
    } else if (request->target == "/header") {
      connection.Write("HTTP/1.1 200 OK\r\nX: " + std::string(70'000, 'x') + "\r\n\r\n");
    } else if (request->target == "/trailer") {
      connection.Write(chunked + "\r\n0\r\nX: " + std::string(200'000, 'x'));
    } else if (request->target == "/until-close") {
      connection.Write("HTTP/1.1 200 OK\r\n\r\n01234567890");
      return;
    }
    connection.Hold();
  });
  const auto send = [&](const std::string& target) {
    auto request = Get(server, target);
    request.max_response_bytes = 10;
    return client().Send(request, context());
  };
  EXPECT_EQ(send("/exact").response.body, "0123456789");
  for (const char* target : {"/length", "/chunks", "/header", "/trailer", "/until-close"}) {
    const Outcome outcome = send(target);
    EXPECT_EQ(outcome.error.reason(), "AnswerTooLarge") << target << outcome.error.ToString();
    EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
  }
  EXPECT_EQ(send("/length").response.status, 200) << "the status is known all the same";
}

TEST_F(ClientRefusalTest, HeaderInjectionIsRefusedBeforeConnecting) {
  ScriptedServer server({}, Answering([](const SeenRequest&) { return OkAnswer(""); }));
  const std::vector<std::function<void(Request&)>> faults = {
      [](Request& r) {
        r.headers = {{"X", "a\r\nY: b"}};
      },
      [](Request& r) {
        r.headers = {{"X", std::string("a\0b", 3)}};
      },
      [](Request& r) {
        r.headers = {{"X\n", "a"}};
      },
      [](Request& r) {
        r.headers = {{"", "a"}};
      },
      [](Request& r) {
        r.headers = {{"Content-Length", "3"}};
      },
      [](Request& r) {
        r.headers = {{"transfer-encoding", "chunked"}};
      },
      [](Request& r) { r.target = "/a b"; },
      [](Request& r) { r.target = "/a\r\nX: y"; },
      [](Request& r) { r.target = "no-slash"; },
      [](Request& r) { r.target = ""; },
      [](Request& r) { r.target = "/ä"; },
      [](Request& r) { r.method = "GET / HTTP/1.1\r\n"; },
      [](Request& r) { r.host_header = "a\nb"; },
  };
  for (std::size_t i = 0; i < faults.size(); ++i) {
    auto request = Get(server);
    faults[i](request);
    const Outcome outcome = client().Send(request, context());
    EXPECT_EQ(outcome.error.reason(), "BadRequest") << i;
    EXPECT_EQ(outcome.error.code(), Code::kInvalidArgument);
    EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
  }
  EXPECT_EQ(server.connections(), 0);

  // All mistakes at once, and never the value.
  auto request = Get(server);
  request.target = "x";
  request.headers = {{"Authorization", "secret\r\n"}, {"b d", "c"}};
  const std::string message = client().Send(request, context()).error.message();
  EXPECT_NE(message.find("target"), std::string::npos);
  EXPECT_NE(message.find("Authorization"), std::string::npos);
  EXPECT_NE(message.find("b d"), std::string::npos);
  EXPECT_EQ(message.find("secret"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::http
