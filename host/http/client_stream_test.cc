// Streams: pieces as they arrive, idle time-out, how they end.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

#include "host/http/client.h"
#include "host/http/testing/fixture.h"

namespace otc::host::http {
namespace {

using testing::ClientTest;
using testing::OkAnswer;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::ServerOptions;
using testing::TestCa;

constexpr Duration kIdle = std::chrono::seconds(60);

// Keeps what arrived; another thread may wait for it.
class Recorder final : public StreamHandler {
 public:
  bool OnHead(const Response& head) override {
    std::lock_guard lock(mutex_);
    status_ = head.status;
    return accept_head;
  }
  bool OnBody(std::string_view data) override {
    std::lock_guard lock(mutex_);
    body_ += data;
    ++pieces_;
    changed_.notify_all();
    return body_.size() < stop_after;
  }

  int status() const { return status_; }
  std::string body() const {
    std::lock_guard lock(mutex_);
    return body_;
  }
  int pieces() const { return pieces_; }
  bool AwaitSize(std::size_t size) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(10), [&] { return body_.size() >= size; });
  }

  bool accept_head = true;
  std::size_t stop_after = SIZE_MAX;

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  int status_ = 0;
  int pieces_ = 0;
  std::string body_;
};

const char kChunkedHead[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

class ClientStreamTest : public ClientTest {};

TEST_F(ClientStreamTest, C13_EveryChunkIsHandedOnBeforeTheNextIsSent) {
  Recorder recorder;
  // The server sends a chunk only when the one before has reached the handler: a
  // client that waits for more would never end.
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(kChunkedHead);
    const std::string chunks[] = {"5\r\nfirst\r\n", "3\r\ntwo\r\n", "1\r\n\xc3\r\n",
                                  "1\r\n\xa4\r\n"};
    const std::size_t sizes[] = {5, 8, 9, 10};
    for (int i = 0; i < 4; ++i) {
      connection.Write(chunks[i]);
      if (!recorder.AwaitSize(sizes[i])) return;
    }
    connection.Write("0\r\n\r\n");
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_EQ(outcome.delivery, Delivery::kAnswered) << outcome.error.ToString();
  EXPECT_TRUE(outcome.error.ok());
  EXPECT_EQ(outcome.response.status, 200);
  EXPECT_EQ(recorder.body(), "firsttwo\xc3\xa4");
  EXPECT_EQ(recorder.pieces(), 4);
  EXPECT_EQ(server.requests().at(0).Find("connection"), "close");
}

TEST_F(ClientStreamTest, C13_ByteByByteOverTls) {
  const TestCa ca;
  options().tls.ca_pem = ca.cert_pem();
  ServerOptions tls;
  tls.identity = ca.Issue();
  Recorder recorder;
  ScriptedServer server(tls, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.WriteByteByByte(std::string(kChunkedHead) + "a\r\n0123456789\r\n0\r\n\r\n");
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_EQ(outcome.delivery, Delivery::kAnswered) << outcome.error.ToString();
  EXPECT_EQ(recorder.body(), "0123456789");
}

TEST_F(ClientStreamTest, C15_ACutStreamGivesWhatCameAndAnError) {
  Recorder recorder;
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(std::string(kChunkedHead) + "64\r\n{\"half\":");
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_EQ(outcome.error.reason(), "TruncatedAnswer") << outcome.error.ToString();
  EXPECT_EQ(outcome.delivery, Delivery::kUnclear);
  EXPECT_EQ(outcome.response.status, 200);
  EXPECT_EQ(recorder.body(), "{\"half\":");
}

TEST_F(ClientStreamTest, ATlsPeerThatJustLeavesEndsABodyWithoutALength) {
  const TestCa ca;
  options().tls.ca_pem = ca.cert_pem();
  ServerOptions tls;
  tls.identity = ca.Issue();
  Recorder recorder;
  ScriptedServer server(tls, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.SetCloseNotify(false);
    connection.Write("HTTP/1.1 200 OK\r\n\r\n{}");
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_TRUE(outcome.error.ok()) << outcome.error.ToString();
  EXPECT_EQ(recorder.body(), "{}");
}

TEST_F(ClientStreamTest, C12_ASilentStreamEndsAfterTheIdleTimeOut) {
  Recorder recorder;
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(std::string(kChunkedHead) + "1\r\na\r\n");
    connection.Hold();
  });
  std::thread time([&] {
    ASSERT_TRUE(recorder.AwaitSize(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    clock().Advance(kIdle);
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  time.join();
  EXPECT_EQ(outcome.error.code(), Code::kUnavailable);
  EXPECT_EQ(outcome.error.reason(), "ConnectionLost") << outcome.error.ToString();
  EXPECT_NE(outcome.error.message().find("idle"), std::string::npos);
}

TEST_F(ClientStreamTest, EachByteStartsTheIdleTimeAgain) {
  Recorder recorder;
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(kChunkedHead);
    for (std::size_t i = 1; i <= 5; ++i) {
      connection.Write("1\r\nx\r\n");
      if (!recorder.AwaitSize(i)) return;
      // The client may not yet wait again: it then counts from the later time.
      std::this_thread::sleep_for(std::chrono::milliseconds(15));
      clock().Advance(std::chrono::seconds(40));
    }
    connection.Write("0\r\n\r\n");
  });
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_TRUE(outcome.error.ok()) << outcome.error.ToString();
  EXPECT_EQ(recorder.body(), "xxxxx");
}

TEST_F(ClientStreamTest, TheHandlerEndsTheCall) {
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(std::string(kChunkedHead) + "5\r\nhello\r\n");
    connection.Hold();
  });
  Recorder at_body;
  at_body.stop_after = 5;
  const Outcome body = client().Stream(Get(server), context(), kIdle, at_body);
  EXPECT_EQ(body.delivery, Delivery::kAnswered);
  EXPECT_TRUE(body.error.ok()) << body.error.ToString();
  Recorder at_head;
  at_head.accept_head = false;
  const Outcome head = client().Stream(Get(server), context(), kIdle, at_head);
  EXPECT_EQ(head.delivery, Delivery::kAnswered);
  EXPECT_TRUE(head.error.ok());
  EXPECT_EQ(head.response.status, 200);
  EXPECT_EQ(at_head.body(), "");
  ASSERT_TRUE(server.AwaitIdle()) << "a stream's connection is closed with it";
}

TEST_F(ClientStreamTest, ErrorAnswersReachTheHandlerToo) {
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(OkAnswer("{\"code\":410}", 410));
  });
  Recorder recorder;
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, recorder);
  EXPECT_EQ(outcome.delivery, Delivery::kAnswered) << outcome.error.ToString();
  EXPECT_EQ(recorder.status(), 410);
  EXPECT_EQ(recorder.body(), "{\"code\":410}");
}

TEST_F(ClientStreamTest, CancellingAndDeadlineEndAStream) {
  for (const bool cancel : {false, true}) {
    ScriptedServer server({}, [&](ScriptedConnection& connection) {
      connection.ReadRequest();
      connection.Write(std::string(kChunkedHead) + "1\r\nx\r\n");
      connection.Hold();
    });
    Recorder recorder;
    client();
    std::thread other([&] {
      ASSERT_TRUE(recorder.AwaitSize(1));
      if (cancel) {
        cancellation().Cancel("Quiescing");
      } else {
        clock().Advance(std::chrono::seconds(30));
      }
    });
    const Outcome outcome =
        client().Stream(Get(server), context(std::chrono::seconds(30)), kIdle, recorder);
    other.join();
    EXPECT_EQ(outcome.error.code(), cancel ? Code::kCancelled : Code::kDeadlineExceeded);
  }
}

TEST_F(ClientStreamTest, LargeBodiesPassWithoutBeingKept) {
  constexpr std::size_t kPiece = 65536;
  constexpr int kPieces = 320;  // 20 MiB
  ScriptedServer server({}, [&](ScriptedConnection& connection) {
    connection.ReadRequest();
    connection.Write(kChunkedHead);
    const std::string piece(kPiece, 'p');
    for (int i = 0; i < kPieces; ++i) connection.Write("10000\r\n" + piece + "\r\n");
    connection.Write("0\r\n\r\n");
  });
  class Counter final : public StreamHandler {
   public:
    bool OnHead(const Response&) override { return true; }
    bool OnBody(std::string_view data) override {
      total += data.size();
      largest = std::max(largest, data.size());
      return true;
    }
    std::size_t total = 0;
    std::size_t largest = 0;
  } counter;
  const Outcome outcome = client().Stream(Get(server), context(), kIdle, counter);
  EXPECT_TRUE(outcome.error.ok()) << outcome.error.ToString();
  EXPECT_EQ(counter.total, kPiece * kPieces);
  EXPECT_LE(counter.largest, 128u * 1024);
}

}  // namespace
}  // namespace otc::host::http
