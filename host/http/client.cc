#include "host/http/client.h"

#include <algorithm>
#include <utility>

#include "host/http/answer_reader.h"
#include "host/http/client_impl.h"
#include "host/http/connection.h"
#include "host/http/dialer.h"
#include "host/http/pool.h"
#include "host/http/request_head.h"
#include "host/http/resolver.h"
#include "host/http/tls_context.h"

namespace otc::host::http {
namespace {

// Head and body go out in one write up to this body size.
constexpr std::size_t kJoinBytes = 16 * 1024;

class BodyCollector final : public StreamHandler {
 public:
  bool OnHead(const Response&) override { return true; }
  bool OnBody(std::string_view data) override {
    body.append(data);
    return true;
  }
  std::string body;
};

class ClientImpl final : public Client {
 public:
  ClientImpl(ClientOptions options, Clock& clock, std::shared_ptr<const TlsContext> tls,
             Resolver::Lookup lookup)
      : options_(std::move(options)),
        tls_(std::move(tls)),
        resolver_(clock, std::move(lookup)),
        pool_(clock, options_.idle_timeout, options_.max_idle_per_origin) {}

  Outcome Send(const Request& request, const CallContext& context) override {
    Outcome outcome;
    outcome.error = CheckRequest(request);
    if (outcome.error.ok()) outcome.error = context.Check();
    if (!outcome.error.ok()) return Named(request, std::move(outcome));
    const std::string origin = request.origin.ToString();
    const std::uint64_t generation = pool_.generation();
    std::unique_ptr<Connection> connection = pool_.Take(origin);
    outcome.reused_connection = connection != nullptr;
    if (!connection) {
      auto made = Connect(request.origin, context);
      if (!made.ok()) {
        outcome.error = made.status();
        return Named(request, std::move(outcome));
      }
      connection = std::move(made).value();
    }
    AnswerOptions options;
    options.head_request = request.method == "HEAD";
    options.max_body_bytes = request.max_response_bytes;
    BodyCollector collector;
    const bool reusable =
        Exchange(request, false, context, options, *connection, collector, outcome);
    outcome.response.body = std::move(collector.body);
    if (reusable) {
      connection->ResetCount();
      pool_.Put(origin, std::move(connection), generation);
    }
    return Named(request, std::move(outcome));
  }

  Outcome Stream(const Request& request, const CallContext& context, Duration idle_timeout,
                 StreamHandler& handler) override {
    Outcome outcome;
    outcome.error = CheckRequest(request);
    if (outcome.error.ok()) outcome.error = context.Check();
    if (!outcome.error.ok()) return Named(request, std::move(outcome));
    auto made = Connect(request.origin, context);
    if (!made.ok()) {
      outcome.error = made.status();
      return Named(request, std::move(outcome));
    }
    AnswerOptions options;
    options.head_request = request.method == "HEAD";
    options.idle_timeout = idle_timeout;
    options.accept_unclean_end = true;
    Exchange(request, true, context, options, **made, handler, outcome);
    return Named(request, std::move(outcome));
  }

  void CloseIdle() override { pool_.Clear(); }

 private:
  // DNS, connect and handshake, all within connect_timeout.
  Result<std::unique_ptr<Connection>> Connect(const Origin& origin, const CallContext& context) {
    const CallContext dial = context.WithTimeout(options_.connect_timeout);
    auto result = ConnectBy(origin, dial);
    if (result.ok() || result.status().code() != Code::kDeadlineExceeded || !context.Check().ok()) {
      return result;
    }
    // Not the call's own deadline: the peer is too slow, which is worth its name.
    const auto limit =
        std::chrono::duration_cast<std::chrono::milliseconds>(options_.connect_timeout);
    return Status(Code::kUnavailable, "ConnectFailed",
                  result.status().message() + " (limit " + std::to_string(limit.count()) + " ms)");
  }

  Result<std::unique_ptr<Connection>> ConnectBy(const Origin& origin, const CallContext& context) {
    const auto addresses = resolver_.Resolve(origin.host, origin.port, context);
    if (!addresses.ok()) return addresses.status();
    auto fd = Dial(*addresses, context);
    if (!fd.ok()) {
      resolver_.Forget(origin.host);
      return fd.status();
    }
    if (options_.detect_dead_peers) DetectDeadPeer(fd->get());
    return MakeConnection(std::move(fd).value(), origin.host, origin.tls ? tls_ : nullptr, context);
  }

  // Sends and reads once, fills `outcome`; true if the connection may be used again.
  bool Exchange(const Request& request, bool close, const CallContext& context,
                const AnswerOptions& options, Connection& connection, StreamHandler& handler,
                Outcome& outcome) {
    const Status sent = WriteRequest(request, close, connection, context);
    if (!sent.ok() && connection.bytes_written() == 0) {
      outcome.delivery = Delivery::kNotSent;
      outcome.error = WhyNothingWasSent(sent, context, options, connection);
      return false;
    }
    // A broken pipe may hide an answer that was given before all was read (413,
    // 401): look for it. Deadline and cancellation end the call at once.
    if (!sent.ok() && sent.reason() != "ConnectionLost") {
      outcome.delivery = sent.reason() == "TlsFailed" && !outcome.reused_connection
                             ? Delivery::kNotSent
                             : Delivery::kUnclear;
      outcome.error = sent;
      return false;
    }
    AnswerResult answer = ReadAnswer(connection, context, options, handler);
    outcome.response = std::move(answer.head);
    if (answer.error.ok()) {
      outcome.delivery = Delivery::kAnswered;
      return sent.ok() && answer.reusable && !close && !connection.answered_early();
    }
    outcome.error = !sent.ok() && !answer.any_byte ? sent : std::move(answer.error);
    // A refused client certificate: with TLS 1.3 we learn of it only after having
    // sent the request, but the server's handshake never came to its end, so
    // nothing of it was handed on.
    const bool refused =
        outcome.error.reason() == "TlsFailed" && !outcome.reused_connection && !answer.any_byte;
    outcome.delivery = refused ? Delivery::kNotSent : Delivery::kUnclear;
    return false;
  }

  // The peer may have said why it hung up: an alert about our certificate, which
  // TLS 1.3 delivers only after the handshake.
  static Status WhyNothingWasSent(const Status& sent, const CallContext& context,
                                  const AnswerOptions& options, Connection& connection) {
    if (sent.reason() != "ConnectionLost") return sent;
    BodyCollector ignored;
    const AnswerResult answer = ReadAnswer(connection, context, options, ignored);
    return answer.error.reason() == "TlsFailed" ? answer.error : sent;
  }

  Status WriteRequest(const Request& request, bool close, Connection& connection,
                      const CallContext& context) const {
    std::string head = RequestHead(request, options_.user_agent, close);
    if (request.body.size() <= kJoinBytes) {
      head += request.body;
      return connection.Write(head, context);
    }
    OTC_RETURN_IF_ERROR(connection.Write(head, context));
    if (connection.answered_early()) return Status::Ok();
    return connection.Write(request.body, context);
  }

  // Every failure names the server, never the target (it may hold a secret).
  static Outcome Named(const Request& request, Outcome outcome) {
    outcome.error =
        outcome.error.WithPrefix(request.method + " " + request.origin.ToString() + ": ");
    return outcome;
  }

  const ClientOptions options_;
  const std::shared_ptr<const TlsContext> tls_;
  Resolver resolver_;
  Pool pool_;
};

}  // namespace

std::string_view Response::Find(std::string_view name) const {
  const auto found = std::find_if(headers.begin(), headers.end(),
                                  [&](const Header& header) { return header.name == name; });
  return found == headers.end() ? std::string_view() : std::string_view(found->value);
}

Result<std::unique_ptr<Client>> MakeClientWithLookup(ClientOptions options, Clock& clock,
                                                     Resolver::Lookup lookup) {
  auto tls = MakeTlsContext(options.tls);
  if (!tls.ok()) return tls.status();
  return std::unique_ptr<Client>(
      new ClientImpl(std::move(options), clock, std::move(tls).value(), std::move(lookup)));
}

Result<std::unique_ptr<Client>> MakeClient(ClientOptions options, Clock& clock) {
  return MakeClientWithLookup(std::move(options), clock, &SystemLookup);
}

}  // namespace otc::host::http
