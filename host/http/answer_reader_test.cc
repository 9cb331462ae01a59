// Framing alone: however an answer is cut into reads, it is the same answer; and
// wherever it ends too early, that is noticed.
#include "host/http/answer_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "host/base/fake_clock.h"
#include "host/http/testing/memory_connection.h"

namespace otc::host::http {
namespace {

using testing::MemoryConnection;

struct Taken : StreamHandler {
  bool OnHead(const Response& head) override {
    ++heads;
    status = head.status;
    return true;
  }
  bool OnBody(std::string_view data) override {
    body += data;
    return true;
  }
  int heads = 0;
  int status = 0;
  std::string body;
};

class AnswerReaderTest : public ::testing::Test {
 protected:
  AnswerResult Read(const std::string& text, std::size_t piece, Taken* taken,
                    const AnswerOptions& options = {}, bool clean_end = true) {
    CallContext context;
    context.clock = &clock_;
    MemoryConnection connection(text, piece, clean_end);
    return ReadAnswer(connection, context, options, *taken);
  }

  FakeClock clock_;
};

struct Sample {
  const char* name;
  std::string text;
  int status;
  std::string body;
  bool reusable;
};

std::vector<Sample> Samples() {
  return {
      {"length", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true},
      {"no body", "HTTP/1.1 204 No Content\r\nX: y\r\n\r\n", 204, "", true},
      {"empty", "HTTP/1.1 500 \r\nContent-Length: 0\r\n\r\n", 500, "", true},
      {"close", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", 200, "ok",
       false},
      {"old", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", 200, "ok", false},
      {"chunked",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
       "3;x=\"y\"\r\nabc\r\n0000A\r\n0123456789\r\n0\r\nT: 1\r\n\r\n",
       200, "abc0123456789", true},
      {"interim",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 \r\nLink: x\r\n\r\n"
       "HTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nz",
       201, "z", true},
  };
}

TEST_F(AnswerReaderTest, C13_EveryWayOfCuttingAnAnswerIntoReadsGivesTheSame) {
  for (const Sample& sample : Samples()) {
    for (std::size_t piece = 1; piece <= sample.text.size(); ++piece) {
      SCOPED_TRACE(std::string(sample.name) + " in pieces of " + std::to_string(piece));
      Taken taken;
      const AnswerResult answer = Read(sample.text, piece, &taken);
      ASSERT_TRUE(answer.error.ok()) << answer.error.ToString();
      EXPECT_EQ(answer.head.status, sample.status);
      EXPECT_EQ(taken.body, sample.body);
      EXPECT_EQ(taken.heads, 1);
      EXPECT_EQ(answer.reusable, sample.reusable);
    }
  }
}

TEST_F(AnswerReaderTest, EveryPrefixOfAnAnswerIsAnError) {
  for (const Sample& sample : Samples()) {
    for (std::size_t length = 0; length < sample.text.size(); ++length) {
      SCOPED_TRACE(std::string(sample.name) + " cut after " + std::to_string(length));
      Taken taken;
      const AnswerResult answer = Read(sample.text.substr(0, length), 7, &taken);
      EXPECT_EQ(answer.error.reason(), length == 0 ? "ConnectionLost" : "TruncatedAnswer");
      EXPECT_FALSE(answer.reusable);
      EXPECT_EQ(sample.body.compare(0, taken.body.size(), taken.body), 0);
    }
  }
}

TEST_F(AnswerReaderTest, ABodyWithoutALengthEndsWithTheConnection) {
  const std::string text = "HTTP/1.1 200 OK\r\n\r\nall of it";
  for (std::size_t piece = 1; piece <= text.size(); ++piece) {
    Taken taken;
    const AnswerResult answer = Read(text, piece, &taken);
    EXPECT_TRUE(answer.error.ok()) << answer.error.ToString();
    EXPECT_EQ(taken.body, "all of it");
    EXPECT_FALSE(answer.reusable);
  }
  Taken cut;
  EXPECT_EQ(Read(text, 5, &cut, {}, false).error.reason(), "TruncatedAnswer");
  AnswerOptions lenient;
  lenient.accept_unclean_end = true;
  Taken watched;
  EXPECT_TRUE(Read(text, 5, &watched, lenient, false).error.ok());
}

TEST_F(AnswerReaderTest, LeftOverBytesMakeAConnectionUseless) {
  for (const Sample& sample : Samples()) {
    Taken taken;
    const AnswerResult answer = Read(sample.text + "H", 1000, &taken);
    EXPECT_TRUE(answer.error.ok()) << sample.name << answer.error.ToString();
    EXPECT_FALSE(answer.reusable) << sample.name;
  }
}

TEST_F(AnswerReaderTest, TheAnswerToAHeadRequestHasNoBody) {
  AnswerOptions head;
  head.head_request = true;
  Taken taken;
  const AnswerResult answer =
      Read("HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n", 3, &taken, head);
  EXPECT_TRUE(answer.error.ok()) << answer.error.ToString();
  EXPECT_TRUE(answer.reusable);
}

TEST_F(AnswerReaderTest, MemoryIsBoundedWhateverThePeerSends) {
  const std::string endless(300'000, 'x');
  for (const std::string& text :
       {endless, "HTTP/1.1 200 OK\r\nX: " + endless,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;" + endless,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: " + endless}) {
    Taken taken;
    const AnswerResult answer = Read(text, 1000, &taken);
    EXPECT_FALSE(answer.error.ok());
    EXPECT_NE(answer.error.reason(), "TruncatedAnswer") << "it was read to its end";
  }
}

}  // namespace
}  // namespace otc::host::http
