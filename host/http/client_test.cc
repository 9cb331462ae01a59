// The client against a scripted server: sending, framing, reuse, delivery.
#include "host/http/client.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

#include "host/http/testing/fixture.h"

namespace otc::host::http {
namespace {

using testing::Answering;
using testing::ClientTest;
using testing::OkAnswer;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::SeenRequest;

TEST_F(ClientTest, GetAndPostArriveAsWritten) {
  ScriptedServer server({}, Answering([](const SeenRequest&) {
                          return OkAnswer("hello", 200, "X-Request-Id: abc\r\n");
                        }));
  auto request = Get(server, "/a//b/../c%2fd?x=%7e&y=[z]");
  request.headers = {{"X-Sdk-Date", "20261130T000000Z"}};
  const Outcome get = client().Send(request, context());
  ASSERT_EQ(get.delivery, Delivery::kAnswered) << get.error.ToString();
  EXPECT_TRUE(get.error.ok());
  EXPECT_EQ(get.response.status, 200);
  EXPECT_EQ(get.response.body, "hello");
  EXPECT_EQ(get.response.Find("x-request-id"), "abc");
  EXPECT_EQ(get.response.Find("absent"), "");

  request.method = "POST";
  request.body = std::string(100'000, 'x');
  request.host_header = "ecs.eu-de.example";
  const Outcome post = client().Send(request, context());
  ASSERT_EQ(post.delivery, Delivery::kAnswered) << post.error.ToString();

  const auto seen = server.requests();
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].method, "GET");
  EXPECT_EQ(seen[0].target, "/a//b/../c%2fd?x=%7e&y=[z]");
  EXPECT_EQ(seen[0].Find("content-length"), "0");
  EXPECT_EQ(seen[0].Find("host"), server.origin().HostHeader());
  EXPECT_EQ(seen[0].Find("user-agent"), "otc-host/test");
  EXPECT_EQ(seen[0].Find("x-sdk-date"), "20261130T000000Z");
  EXPECT_EQ(seen[1].Find("host"), "ecs.eu-de.example");
  EXPECT_EQ(seen[1].Count("host"), 1);
  EXPECT_EQ(seen[1].Count("content-length"), 1);
  EXPECT_EQ(seen[1].body, request.body);
}

TEST_F(ClientTest, C34_ConnectionsAreReusedOnlyWhileTheyAreGood) {
  ScriptedServer server({}, Answering([](const SeenRequest& request) {
                          return OkAnswer(
                              "x", 200, request.target == "/close" ? "Connection: close\r\n" : "");
                        }));
  EXPECT_FALSE(client().Send(Get(server), context()).reused_connection);
  EXPECT_TRUE(client().Send(Get(server), context()).reused_connection);
  EXPECT_EQ(server.connections(), 1);

  // "Connection: close" is honoured, the next request opens a new one.
  EXPECT_TRUE(client().Send(Get(server, "/close"), context()).reused_connection);
  EXPECT_FALSE(client().Send(Get(server), context()).reused_connection);
  EXPECT_EQ(server.connections(), 2);

  clock().Advance(std::chrono::seconds(31));
  EXPECT_FALSE(client().Send(Get(server), context()).reused_connection) << "idle for too long";
  client().CloseIdle();
  EXPECT_FALSE(client().Send(Get(server), context()).reused_connection);
  EXPECT_EQ(server.connections(), 4);
}

TEST_F(ClientTest, AConnectionClosedOrTalkingWhileIdleIsThrownAway) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    if (!connection.ReadRequest()) return;
    if (connection.index() == 0) {
      connection.Write(OkAnswer("a"));
      return;  // closes
    }
    // Left-over bytes would become the start of the next answer.
    connection.Write(OkAnswer("b") + (connection.index() == 1 ? "HTTP/1.1 500 X\r\n" : ""));
    connection.Hold();
  });
  EXPECT_EQ(client().Send(Get(server), context()).response.body, "a");
  ASSERT_TRUE(server.AwaitIdle());
  const Outcome second = client().Send(Get(server), context());
  EXPECT_EQ(second.response.body, "b");
  EXPECT_FALSE(second.reused_connection);
  const Outcome third = client().Send(Get(server), context());
  EXPECT_EQ(third.response.status, 200);
  EXPECT_FALSE(third.reused_connection);
  EXPECT_EQ(server.connections(), 3);
}

TEST_F(ClientTest, C35_AResetAfterTheRequestIsUnclearAndNeverSentAgain) {
  for (const bool answer_first : {false, true}) {
    ScriptedServer server({}, [&](ScriptedConnection& connection) {
      if (answer_first) {
        connection.ReadRequest();
        connection.Write(OkAnswer("first"));
      }
      connection.ReadRequest();
      connection.ResetOnClose();
    });
    auto put = Get(server);
    put.method = "PUT";
    put.body = "{}";
    int sent = 1;
    if (answer_first) {
      EXPECT_EQ(client().Send(put, context()).response.body, "first");
      ++sent;
    }
    const Outcome outcome = client().Send(put, context());
    EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
    EXPECT_EQ(outcome.reused_connection, answer_first);
    EXPECT_EQ(outcome.error.reason(), "ConnectionLost") << outcome.error.ToString();
    EXPECT_EQ(server.requests().size(), static_cast<std::size_t>(sent)) << "sent twice";
    EXPECT_EQ(server.connections(), 1);
  }
}

TEST_F(ClientTest, CloseWithoutAnAnswerIsUnclear) {
  ScriptedServer server({}, [](ScriptedConnection& connection) { connection.ReadRequest(); });
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
  EXPECT_EQ(outcome.error.reason(), "ConnectionLost");
  EXPECT_NE(outcome.error.message().find(server.origin().ToString()), std::string::npos);
}

struct Cut {
  const char* name;
  std::string bytes;
};

TEST_F(ClientTest, TruncatedBodiesAreErrors) {
  const std::vector<Cut> cuts = {
      {"in the status line", "HTTP/1.1 20"},
      {"in a header", "HTTP/1.1 200 OK\r\nContent-Le"},
      {"before the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"},
      {"in the body", "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n123456789"},
      {"between chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n"},
      {"in a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nabc"},
      {"in a chunk header", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1"},
      {"before the last empty line",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"},
      {"after an interim answer", "HTTP/1.1 103 Early Hints\r\n\r\n"},
  };
  for (const Cut& cut : cuts) {
    SCOPED_TRACE(cut.name);
    ScriptedServer server({}, [&](ScriptedConnection& connection) {
      connection.ReadRequest();
      connection.Write(cut.bytes);
    });
    const Outcome outcome = client().Send(Get(server), context());
    EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
    EXPECT_EQ(outcome.error.reason(), "TruncatedAnswer") << outcome.error.ToString();
    EXPECT_EQ(outcome.error.code(), Code::kUnavailable);
  }
}

TEST_F(ClientTest, C39_ChunkedWithTrailersByteByByteThenTheNextAnswer) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.WriteByteByByte(
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
        "4;ext=1\r\nWiki\r\n5\r\npedia\r\n0\r\nX-Sum: 99\r\nX-More: 1\r\n\r\n");
    connection.ReadRequest();
    connection.Write(OkAnswer("next"));
    connection.Hold();
  });
  const Outcome first = client().Send(Get(server), context());
  ASSERT_EQ(first.delivery, Delivery::kAnswered) << first.error.ToString();
  EXPECT_EQ(first.response.body, "Wikipedia");
  EXPECT_EQ(first.response.Find("x-sum"), "") << "a trailer is no header";
  const Outcome second = client().Send(Get(server), context());
  EXPECT_TRUE(second.reused_connection);
  EXPECT_EQ(second.response.body, "next");
}

TEST_F(ClientTest, InterimAnswersAreSkipped) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" +
                     OkAnswer("final", 202));
    connection.ReadRequest();
    connection.Write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n");
    connection.Hold();
  });
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.response.status, 202) << outcome.error.ToString();
  EXPECT_EQ(outcome.response.body, "final");
  EXPECT_EQ(outcome.response.Find("link"), "");
  const Outcome upgrade = client().Send(Get(server), context());
  EXPECT_EQ(upgrade.error.reason(), "BadAnswer");
}

TEST_F(ClientTest, InterimAnswersWithoutEndAreRefused) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadRequest();
    while (connection.Write("HTTP/1.1 100 Continue\r\n\r\n")) {
    }
  });
  const Outcome outcome = client().Send(Get(server), context());
  EXPECT_EQ(outcome.error.reason(), "BadAnswer") << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
}

TEST_F(ClientTest, AnswersWithoutABodyEndAtTheirHead) {
  ScriptedServer server({}, Answering([](const SeenRequest& request) -> std::string {
                          if (request.method == "HEAD")
                            return "HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n";
                          if (request.target == "/304") {
                            return "HTTP/1.1 304 Not Modified\r\nContent-Length: 500\r\n\r\n";
                          }
                          return "HTTP/1.1 204 No Content\r\n\r\n";
                        }));
  auto head = Get(server);
  head.method = "HEAD";
  EXPECT_EQ(client().Send(head, context()).response.status, 200);
  EXPECT_EQ(client().Send(Get(server, "/304"), context()).response.status, 304);
  const Outcome last = client().Send(Get(server), context());
  EXPECT_EQ(last.response.status, 204);
  EXPECT_TRUE(last.reused_connection) << last.error.ToString();
}

TEST_F(ClientTest, C39_GzipHtmlAndEmptyAnswersAreHandedOnByTheirCode) {
  ScriptedServer server({}, Answering([](const SeenRequest& request) -> std::string {
                          if (request.target == "/gzip") {
                            return OkAnswer("\x1f\x8b\x08", 200, "Content-Encoding: gzip\r\n");
                          }
                          if (request.target == "/html") {
                            return OkAnswer("<html>Bad Gateway</html>", 502,
                                            "Content-Type: text/html\r\n");
                          }
                          return OkAnswer("");
                        }));
  const Outcome gzip = client().Send(Get(server, "/gzip"), context());
  EXPECT_EQ(gzip.response.Find("content-encoding"), "gzip");
  EXPECT_EQ(gzip.response.body, "\x1f\x8b\x08");
  const Outcome html = client().Send(Get(server, "/html"), context());
  EXPECT_EQ(html.delivery, Delivery::kAnswered);
  EXPECT_EQ(html.response.status, 502);
  const Outcome empty = client().Send(Get(server, "/empty"), context());
  EXPECT_EQ(empty.delivery, Delivery::kAnswered);
  EXPECT_EQ(empty.response.body, "");
  EXPECT_EQ(server.requests()[0].Find("accept-encoding"), "");
}

TEST_F(ClientTest, RedirectsAreAnswers) {
  ScriptedServer server({}, Answering([](const SeenRequest&) {
                          return OkAnswer("", 302, "Location: http://127.0.0.1:1/\r\n");
                        }));
  EXPECT_EQ(client().Send(Get(server), context()).response.status, 302);
  EXPECT_EQ(server.requests().size(), 1u);
}

TEST_F(ClientTest, AnAnswerBeforeTheRequestWasReadIsStillAnAnswer) {
  ScriptedServer server({}, [](ScriptedConnection& connection) {
    connection.ReadSome(100);
    connection.Write(OkAnswer("too large", 413));
    connection.HoldUnread();
  });
  auto request = Get(server);
  request.method = "PUT";
  request.body = std::string(32u << 20, 'x');  // more than any socket buffer holds
  const Outcome outcome = client().Send(request, context());
  EXPECT_EQ(outcome.response.status, 413) << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kAnswered);
  EXPECT_FALSE(client().Send(Get(server), context()).reused_connection);
}

TEST_F(ClientTest, NothingListensIsNotSent) {
  std::uint16_t port = 0;
  {
    ScriptedServer server({}, [](ScriptedConnection&) {});
    port = server.port();
  }
  Request request;
  request.method = "POST";
  request.origin = {false, "127.0.0.1", port};
  request.target = "/";
  const Outcome outcome = client().Send(request, context());
  EXPECT_EQ(outcome.delivery, Delivery::kNotSent);
  EXPECT_EQ(outcome.error.reason(), "ConnectFailed");
  EXPECT_NE(outcome.error.message().find("127.0.0.1:" + std::to_string(port)), std::string::npos);
}

TEST_F(ClientTest, ThePoolIsBounded) {
  std::atomic<int> waiting{0};
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    ++waiting;
    while (waiting < 12) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    connection.Write(OkAnswer("x"));
    connection.Hold();
  });
  Client& shared = client();
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) {
    threads.emplace_back(
        [&] { EXPECT_EQ(shared.Send(Get(server), context()).delivery, Delivery::kAnswered); });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(server.connections(), 12);
  EXPECT_EQ(OpenSockets(server.port()), 8) << "max_idle_per_origin";
}

TEST_F(ClientTest, C36_EncodedTargetsArriveUnchanged) {
  ScriptedServer server({}, Answering([](const SeenRequest&) { return OkAnswer(""); }));
  client().Send(Get(server, "/a%3A%2F%2B%20%25%C3%A4?q=%3A%2F%2B%20%25%C3%A4"), context());
  ASSERT_EQ(server.requests().size(), 1u);
  EXPECT_EQ(server.requests()[0].target, "/a%3A%2F%2B%20%25%C3%A4?q=%3A%2F%2B%20%25%C3%A4");
}

}  // namespace
}  // namespace otc::host::http
