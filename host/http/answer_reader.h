// AnswerReader: reads one answer off a connection; framing by Boost.Beast.
//
// Interim answers (1xx) are skipped, the final one is handed over piece by piece.
// A body that ends before its announced end is an error. Owned by one call.
#ifndef OTC_HOST_HTTP_ANSWER_READER_H_
#define OTC_HOST_HTTP_ANSWER_READER_H_

#include <functional>
#include <optional>
#include <string>

#include "host/http/connection.h"

namespace otc::host::http {

inline constexpr std::size_t kMaxHeaderBytes = 64 * 1024;
inline constexpr int kMaxInterimAnswers = 16;

struct AnswerOptions {
  bool head_request = false;                    // no body follows, whatever the headers say
  std::optional<std::uint64_t> max_body_bytes;  // none: unlimited
  Duration idle_timeout = Duration::max();      // longest wait without a byte
  // A TLS peer that leaves without close_notify ends a body without a length in
  // good order. Right for watches, whose own framing shows a cut.
  bool accept_unclean_end = false;
};

struct AnswerResult {
  Status error;           // OK: complete, or ended by the handler
  bool any_byte = false;  // something was received
  bool stopped = false;   // the handler ended it
  bool reusable = false;  // complete, keep-alive, nothing left over
  Response head;          // status and headers, as far as received
};

// Failure: "ConnectionLost" (nothing received), "TruncatedAnswer", "BadAnswer",
// "AnswerTooLarge", "TlsFailed", or the context's status.
AnswerResult ReadAnswer(Connection& connection, const CallContext& context,
                        const AnswerOptions& options, StreamHandler& handler);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_ANSWER_READER_H_
