// http::Client: HTTP/1.1 to the cloud and to the API server, over Poco sockets.
//
// What Poco's own sessions cannot do and both sides of the host need: every wait
// ends at the call's absolute deadline or cancellation, DNS, connect and TLS
// handshake included; nothing is ever sent twice behind the caller's back; a
// truncated answer is an error; the caller learns whether the request may have
// been carried out. Framing is Boost.Beast's.
//
// One Client for each TLS identity (CA, client certificate, verified name); it
// keeps a bounded keep-alive pool per host and port. Thread-safe; a connection
// belongs to one call at a time. Blocks the calling thread. Redirects are
// answers like any other, proxies of the environment are ignored.
#ifndef OTC_HOST_HTTP_CLIENT_H_
#define OTC_HOST_HTTP_CLIENT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "host/base/cancellation.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::http {

struct Header {
  std::string name;
  std::string value;
};

// Scheme, host and port of a server; host without brackets, lower case.
struct Origin {
  bool tls = true;
  std::string host;
  std::uint16_t port = 443;

  // "https://host:port" without a default port, as the Host header has it.
  std::string ToString() const;
  std::string HostHeader() const;
  friend bool operator==(const Origin&, const Origin&) = default;
};

// A base URL split into origin and path prefix ("" or "/x/y", no final slash).
struct BaseUrl {
  Origin origin;
  std::string prefix;
};
// INVALID_ARGUMENT "BadUrl" naming the text and what is allowed: http or https,
// host, optional port and path; no user, query or fragment.
Result<BaseUrl> ParseBaseUrl(std::string_view text);

struct Request {
  std::string method;
  Origin origin;
  std::string target;           // path and query exactly as on the wire
  std::vector<Header> headers;  // without Host, Content-Length, Connection: the client's
  std::string body;
  std::uint64_t max_response_bytes = 4u << 20;
  // Host header as signed; empty: origin.HostHeader().
  std::string host_header;
};

struct Response {
  int status = 0;
  std::vector<Header> headers;  // names in lower case
  std::string body;
  // Value of the first header with this lower-case name; empty if absent.
  std::string_view Find(std::string_view name) const;
};

// What may have become of a request. Nothing is ever sent again by the client:
// whoever calls decides, and only kNotSent is safe to repeat whatever it does.
//
// kNotSent is said when no address was reached, the handshake failed, the call
// ended before, or the very first write on the connection was refused by the
// kernel with no byte taken (a pooled connection that the server has just closed).
// It is also said when a new TLS 1.3 server turns down our client certificate: its
// alert arrives after we have sent, but its handshake never finished, so it passed
// nothing on. As soon as one byte may be out, everything short of a complete
// answer is kUnclear: a reset or end without an answer (on a pooled connection,
// too: the server may have read the request), a truncated, malformed or too large
// answer, deadline and cancellation while waiting.
enum class Delivery {
  kAnswered,  // a complete answer, whatever its status
  kNotSent,   // surely not one byte of the request reached the server's application
  kUnclear,   // the server may have carried it out
};

struct Outcome {
  Delivery delivery = Delivery::kNotSent;
  Status error;       // OK if answered; else code, reason (DnsFailed, ConnectFailed, TlsFailed,
                      // ConnectionLost, TruncatedAnswer, BadAnswer, AnswerTooLarge,
                      // DeadlineExceeded, or the cancellation's) and a message naming the origin
  Response response;  // if not answered: status and headers as far as they were read
  bool reused_connection = false;
};

// Receives an answer piece by piece, on the calling thread.
class StreamHandler {
 public:
  virtual ~StreamHandler() = default;
  // Head of the answer; false ends the call (kAnswered, body unread).
  virtual bool OnHead(const Response& head) = 0;
  // Bytes as they arrive; false ends the call. `data` is valid until it returns.
  virtual bool OnBody(std::string_view data) = 0;
};

struct TlsOptions {
  std::string ca_file;          // PEM; empty: ca_pem, else the system's
  std::string ca_pem;           // PEM text
  std::string client_cert_pem;  // chain; empty: none
  std::string client_key_pem;
  std::string server_name;            // SNI and verified name; empty: the origin's host
  bool insecure_skip_verify = false;  // kubeconfig only, logged as a warning by the caller
};

struct ClientOptions {
  TlsOptions tls;
  std::string user_agent;
  Duration connect_timeout = std::chrono::seconds(10);  // DNS, connect, handshake together
  Duration idle_timeout = std::chrono::seconds(30);  // age at which a pooled connection is dropped
  int max_idle_per_origin = 8;
  // TCP keep-alive (30 s idle, 5 probes of 5 s) and TCP_USER_TIMEOUT of 30 s: for watches.
  bool detect_dead_peers = true;
};

class Client {
 public:
  virtual ~Client() = default;

  virtual Outcome Send(const Request& request, const CallContext& context) = 0;
  // As Send, on a connection of its own that is closed afterwards. Success
  // (kAnswered) also when the handler ended the call or the body ended normally.
  // `idle_timeout`: longest wait without a byte before the call ends with
  // ConnectionLost.
  virtual Outcome Stream(const Request& request, const CallContext& context, Duration idle_timeout,
                         StreamHandler& handler) = 0;
  // Drops idle connections (new credentials, new CA).
  virtual void CloseIdle() = 0;
};

// INVALID_ARGUMENT "BadTls" if a certificate, key or CA cannot be used, naming
// the file or the part and why.
Result<std::unique_ptr<Client>> MakeClient(ClientOptions options, Clock& clock);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_CLIENT_H_
