// Connection: one TCP or TLS connection over a non-blocking Poco socket.
//
// Owned by one call at a time (or by the pool in between). Every wait ends with
// the call's deadline or cancellation. Poco's exceptions stop here.
#ifndef OTC_HOST_HTTP_CONNECTION_H_
#define OTC_HOST_HTTP_CONNECTION_H_

#include <memory>
#include <string>
#include <string_view>

#include "host/http/client.h"
#include "host/http/dialer.h"
#include "host/http/tls_context.h"

namespace otc::host::http {

struct ReadResult {
  std::size_t bytes = 0;  // 0: the peer has ended the stream
  // With 0 bytes: false if a TLS peer left without close_notify or the connection
  // was reset, so that what came before may be cut.
  bool clean_end = true;
};

class Connection {
 public:
  virtual ~Connection() = default;

  // Writes `data` to its end. Stops early, with OK, when the peer answers before
  // it has read everything (see answered_early). Failure: "ConnectionLost" or the context's status;
  // `bytes_written()` tells whether anything may have left.
  virtual Status Write(std::string_view data, const CallContext& context) = 0;

  // Waits for bytes, at most until `wake_at` (then DEADLINE_EXCEEDED "IdleTimeout").
  // Failure: "ConnectionLost", "TlsFailed" (the peer refused our certificate) or
  // the context's status.
  virtual Result<ReadResult> Read(char* buffer, std::size_t size, const CallContext& context,
                                  MonoTime wake_at) = 0;

  // Whether the connection is silent and open, as one that idles must be. Never
  // blocks. TLS tickets that arrive late are swallowed.
  virtual bool IsIdle() = 0;

  // Bytes handed to the kernel or to TLS since the last ResetCount, and possibly
  // on their way. 0 is a proof that the peer got nothing.
  virtual std::uint64_t bytes_written() const = 0;
  virtual void ResetCount() = 0;
  // Whether a Write was cut short by an answer: the request is incomplete on the
  // wire, so the connection is good for nothing after that answer.
  virtual bool answered_early() const = 0;
};

// Takes a connected socket; performs the handshake and verifies the peer if `tls`
// is given. `host` is verified unless the context names another server.
// Failure: "TlsFailed" naming what was wrong, or the context's status.
Result<std::unique_ptr<Connection>> MakeConnection(UniqueFd fd, const std::string& host,
                                                   const std::shared_ptr<const TlsContext>& tls,
                                                   const CallContext& context);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_CONNECTION_H_
