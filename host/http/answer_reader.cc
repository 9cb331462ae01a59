#include "host/http/answer_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/fields.hpp>
#include <boost/beast/http/parser.hpp>
#include <limits>
#include <memory>

#include "host/base/strings.h"

namespace otc::host::http {
namespace {

namespace beast_http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kReadBytes = 16 * 1024;

// A Beast body that passes bytes on instead of keeping them.
struct SinkBody {
  struct Sink {
    StreamHandler* handler = nullptr;
    bool stopped = false;
  };
  using value_type = Sink;

  class reader {
   public:
    template <bool is_request, class Fields>
    reader(beast_http::header<is_request, Fields>&, value_type& sink) : sink_(sink) {}

    void init(const boost::optional<std::uint64_t>&, error_code& error) { error = {}; }

    template <class Buffers>
    std::size_t put(const Buffers& buffers, error_code& error) {
      std::size_t count = 0;
      error = {};
      for (auto it = boost::asio::buffer_sequence_begin(buffers);
           it != boost::asio::buffer_sequence_end(buffers) && !sink_.stopped; ++it) {
        const boost::asio::const_buffer piece(*it);
        if (piece.size() == 0) continue;
        count += piece.size();
        sink_.stopped =
            !sink_.handler->OnBody({static_cast<const char*>(piece.data()), piece.size()});
      }
      if (sink_.stopped) error = beast_http::error::end_of_stream;
      return count;
    }

    void finish(error_code& error) { error = {}; }

   private:
    value_type& sink_;
  };
};

using Parser = beast_http::response_parser<SinkBody>;

class Reader {
 public:
  Reader(Connection& connection, const CallContext& context, const AnswerOptions& options,
         StreamHandler& handler)
      : connection_(connection), context_(context), options_(options), handler_(handler) {
    NewParser();
  }

  AnswerResult Run() {
    while (true) {
      if (Parse() == Step::kEnd || !Fill()) break;
    }
    return std::move(result_);
  }

 private:
  enum class Step { kMore, kEnd };

  void NewParser() {
    parser_ = std::make_unique<Parser>();
    parser_->header_limit(kMaxHeaderBytes);
    // Not boost::none: this version of Beast takes that for a limit of 0 when there
    // is a Content-Length.
    parser_->body_limit(
        options_.max_body_bytes.value_or(std::numeric_limits<std::uint64_t>::max()));
    parser_->skip(options_.head_request);
    parser_->get().body().handler = &handler_;
    head_seen_ = false;
  }

  // Feeds what is buffered; kEnd when the answer is complete or broken.
  Step Parse() {
    while (begin_ < buffer_.size()) {
      error_code error;
      const std::size_t used = parser_->put(
          boost::asio::const_buffer(buffer_.data() + begin_, buffer_.size() - begin_), error);
      begin_ += used;
      if (error == beast_http::error::need_more) {
        if (used > 0) continue;
        return CheckBacklog();
      }
      if (error) return Broken(error);
      if (!head_seen_ && parser_->is_header_done() && !Head()) return Step::kEnd;
      if (parser_->is_done()) return Complete();
      if (used == 0) break;
    }
    return Step::kMore;
  }

  // A header line or chunk header that does not end must not fill the memory.
  Step CheckBacklog() {
    if (buffer_.size() - begin_ <= kMaxHeaderBytes) return Step::kMore;
    return Fail(Code::kResourceExhausted, "AnswerTooLarge",
                "more than " + std::to_string(kMaxHeaderBytes) + " bytes of header or trailer");
  }

  // False: the call is over.
  bool Head() {
    const int status = static_cast<int>(parser_->get().result_int());
    head_seen_ = true;
    if (status >= 100 && status < 200 && status != 101) return true;  // Complete() goes on
    if (status == 101) {
      Fail(Code::kUnavailable, "BadAnswer", "101 Switching Protocols was not asked for");
      return false;
    }
    CopyHead();
    if (handler_.OnHead(result_.head)) return true;
    result_.stopped = true;
    return false;
  }

  void CopyHead() {
    const auto& message = parser_->get();
    result_.head.status = static_cast<int>(message.result_int());
    for (const auto& field : message) {
      const auto name = field.name_string();
      const auto value = field.value();
      result_.head.headers.push_back(
          {ToLower({name.data(), name.size()}), std::string(value.data(), value.size())});
    }
  }

  Step Complete() {
    const int status = static_cast<int>(parser_->get().result_int());
    if (status >= 100 && status < 200) {
      if (++interim_ > kMaxInterimAnswers) {
        return Fail(Code::kUnavailable, "BadAnswer", "too many interim answers");
      }
      NewParser();
      return begin_ < buffer_.size() ? Parse() : Step::kMore;
    }
    result_.reusable = parser_->keep_alive() && begin_ == buffer_.size() && !ended_;
    return Step::kEnd;
  }

  // More bytes from the peer, or the end of the answer. False: the call is over.
  bool Fill() {
    buffer_.erase(0, begin_);
    begin_ = 0;
    const std::size_t old_size = buffer_.size();
    buffer_.resize(old_size + kReadBytes);
    const MonoTime wake_at = options_.idle_timeout == Duration::max()
                                 ? MonoTime::max()
                                 : context_.clock->Now() + options_.idle_timeout;
    const auto read = connection_.Read(buffer_.data() + old_size, kReadBytes, context_, wake_at);
    buffer_.resize(old_size + (read.ok() ? read->bytes : 0));
    if (!read.ok()) {
      result_.error = read.status();
      if (read.status().reason() == "IdleTimeout") {
        Fail(Code::kUnavailable, "ConnectionLost", read.status().message());
      }
      return false;
    }
    if (read->bytes > 0) {
      result_.any_byte = true;
      return true;
    }
    ended_ = true;
    End(read->clean_end);
    return false;
  }

  void End(bool clean) {
    if (!result_.any_byte) {
      Fail(Code::kUnavailable, "ConnectionLost", "the peer ended the connection without an answer");
      return;
    }
    const bool until_close = head_seen_ && parser_->need_eof();
    error_code error;
    if (parser_->got_some()) parser_->put_eof(error);  // else: cut behind an interim answer
    if (error || !parser_->is_done() || !head_seen_ || result_.head.status == 0) {
      Fail(Code::kUnavailable, "TruncatedAnswer", "the connection ended within the answer");
    } else if (until_close && !clean && !options_.accept_unclean_end) {
      Fail(Code::kUnavailable, "TruncatedAnswer",
           "the connection broke within a body without a length");
    }
  }

  Step Broken(const error_code& error) {
    if (parser_->get().body().stopped) {
      result_.stopped = true;
      return Step::kEnd;
    }
    if (error == beast_http::error::body_limit) {
      // A Content-Length over the limit: the status is still worth knowing.
      if (!head_seen_) CopyHead();
      return Fail(Code::kResourceExhausted, "AnswerTooLarge",
                  "the body is larger than " + std::to_string(*options_.max_body_bytes) + " bytes");
    }
    if (error == beast_http::error::header_limit) {
      return Fail(Code::kResourceExhausted, "AnswerTooLarge",
                  "the header is larger than " + std::to_string(kMaxHeaderBytes) + " bytes");
    }
    return Fail(Code::kUnavailable, "BadAnswer", "not HTTP/1.1: " + error.message());
  }

  Step Fail(Code code, const char* reason, const std::string& message) {
    result_.error = Status(code, reason, message);
    return Step::kEnd;
  }

  Connection& connection_;
  const CallContext& context_;
  const AnswerOptions& options_;
  StreamHandler& handler_;
  std::unique_ptr<Parser> parser_;  // one for each interim or final answer
  std::string buffer_;              // received; parsed up to begin_
  std::size_t begin_ = 0;
  bool head_seen_ = false;
  bool ended_ = false;
  int interim_ = 0;
  AnswerResult result_;
};

}  // namespace

AnswerResult ReadAnswer(Connection& connection, const CallContext& context,
                        const AnswerOptions& options, StreamHandler& handler) {
  return Reader(connection, context, options, handler).Run();
}

}  // namespace otc::host::http
