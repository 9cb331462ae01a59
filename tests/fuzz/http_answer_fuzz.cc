// HTTP answers: framing must end with an answer or an error, the same one however
// the bytes arrive, and within its limits.
// FUZZ_DEPS: otc_http_testing
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/base/fake_clock.h"
#include "host/http/answer_reader.h"
#include "host/http/testing/memory_connection.h"

namespace {

using namespace otc::host::http;

constexpr std::size_t kMaxBody = 4096;

struct Taken : StreamHandler {
  bool OnHead(const Response&) override {
    if (!body.empty() || ++heads > 1) std::abort();
    return true;
  }
  bool OnBody(std::string_view data) override {
    if (heads != 1) std::abort();
    body += data;
    return true;
  }
  int heads = 0;
  std::string body;
};

AnswerResult Read(const std::string& text, std::size_t piece, const AnswerOptions& options,
                  Taken* taken) {
  static otc::host::FakeClock clock;
  otc::host::CallContext context;
  context.clock = &clock;
  testing::MemoryConnection connection(text, piece);
  return ReadAnswer(connection, context, options, *taken);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  AnswerOptions options;
  options.head_request = (data[0] & 1) != 0;
  options.max_body_bytes = kMaxBody;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  Taken whole;
  const AnswerResult at_once = Read(text, text.size() + 1, options, &whole);
  Taken pieces;
  const AnswerResult in_pieces = Read(text, 1 + data[0] / 2u, options, &pieces);
  if (at_once.error.ok() != in_pieces.error.ok()) std::abort();
  if (at_once.error.ok() &&
      (whole.body != pieces.body || at_once.head.status != in_pieces.head.status)) {
    std::abort();
  }
  // In pieces, what follows the answer may not have been read yet.
  if (at_once.reusable && !in_pieces.reusable) std::abort();
  if (whole.body.size() > kMaxBody || pieces.body.size() > kMaxBody) std::abort();
  if (at_once.reusable && !at_once.error.ok()) std::abort();
  return 0;
}
