#include "host/http/connection.h"

#include <Poco/Net/NetException.h>
#include <Poco/Net/SSLException.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Net/StreamSocketImpl.h>
#include <openssl/err.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "host/http/tls_internal.h"
#include "host/http/wait.h"

namespace otc::host::http {
namespace {

using Poco::Net::SecureStreamSocket;
using Poco::Net::StreamSocket;

// One TLS record at most, so that a write that blocked is repeated with the same
// bytes, as OpenSSL demands.
constexpr std::size_t kSlice = 16 * 1024;

// What one attempt to send or receive came to.
struct Io {
  enum Kind {
    kDone,       // `bytes` moved
    kWantRead,   // wait for POLLIN
    kWantWrite,  // wait for POLLOUT
    kEnded,      // orderly end by the peer
    kCut,        // end without close_notify, reset or any other failure
    kRefused,    // the peer's TLS refused our certificate
  };
  Kind kind = kDone;
  std::size_t bytes = 0;
  std::string error;
};

// Alerts by which a server turns down a client's certificate. With TLS 1.3 they
// arrive after the handshake has succeeded on our side.
bool IsCertificateAlert(const std::string& text) {
  if (text.find("alert") == std::string::npos) return false;
  for (const char* word : {"certificate required", "bad certificate", "unknown ca",
                           "certificate expired", "certificate revoked", "certificate unknown",
                           "unsupported certificate", "access denied", "handshake failure"}) {
    if (text.find(word) != std::string::npos) return true;
  }
  return false;
}

// OpenSSL's texts read "error:0A000126:SSL routines::unexpected eof …": the
// part behind the last colon says it all.
std::string ShortText(const Poco::Exception& exception) {
  std::string text = exception.displayText();
  if (const std::size_t at = text.rfind("::"); at != std::string::npos) text.erase(0, at + 2);
  return text;
}

class SocketConnection final : public Connection {
 public:
  SocketConnection(StreamSocket socket, bool tls) : socket_(std::move(socket)), tls_(tls) {}

  ~SocketConnection() override {
    try {
      socket_.close();
    } catch (const Poco::Exception&) {
      // A broken connection may refuse close_notify; it is closed all the same.
    }
  }

  Status Write(std::string_view data, const CallContext& context) override {
    while (!data.empty()) {
      if (Status status = context.Check(); !status.ok()) return status;
      const Io io = TrySend(data.substr(0, kSlice));
      if (io.kind == Io::kDone) {
        written_ += io.bytes;
        data.remove_prefix(io.bytes);
        continue;
      }
      if (io.kind == Io::kRefused) return Refused(io.error);
      if (io.kind == Io::kEnded || io.kind == Io::kCut) return Lost(io.error);
      // A TLS record may be half out: from here on nothing is proved any more.
      if (tls_) ++written_;
      Status waited = WaitToSend(io.kind, context);
      if (!waited.ok() || answered_early_) return waited;
    }
    return Status::Ok();
  }

  Result<ReadResult> Read(char* buffer, std::size_t size, const CallContext& context,
                          MonoTime wake_at) override {
    if (!early_.empty()) {
      const std::size_t count = std::min(size, early_.size());
      std::memcpy(buffer, early_.data(), count);
      early_.erase(0, count);
      return ReadResult{count, true};
    }
    while (true) {
      if (Status status = context.Check(); !status.ok()) return status;
      const Io io = TryReceive(buffer, size);
      if (io.kind == Io::kDone) return ReadResult{io.bytes, true};
      if (io.kind == Io::kEnded) return ReadResult{0, true};
      if (io.kind == Io::kCut) return ReadResult{0, false};
      if (io.kind == Io::kRefused) return Refused(io.error);
      const auto events =
          WaitFd(context, Fd(), io.kind == Io::kWantWrite ? POLLOUT : POLLIN, wake_at);
      if (!events.ok()) return events.status();
      if (*events == 0) {
        return Status(Code::kDeadlineExceeded, "IdleTimeout", "no byte within the idle time-out");
      }
    }
  }

  bool IsIdle() override {
    if (!early_.empty()) return false;
    char byte;
    return TryReceive(&byte, 1).kind == Io::kWantRead;
  }

  std::uint64_t bytes_written() const override { return written_; }
  void ResetCount() override { written_ = 0; }
  bool answered_early() const override { return answered_early_; }

 private:
  int Fd() const { return socket_.impl()->sockfd(); }

  Io TrySend(std::string_view data) {
    return Attempt(
        [&] { return socket_.sendBytes(data.data(), static_cast<int>(data.size()), MSG_NOSIGNAL); },
        Io::kWantWrite);
  }

  Io TryReceive(char* buffer, std::size_t size) {
    return Attempt([&] { return socket_.receiveBytes(buffer, static_cast<int>(size)); },
                   Io::kWantRead);
  }

  // Runs one Poco call and turns its many ways of answering into an Io.
  template <typename Call>
  Io Attempt(Call call, Io::Kind would_block) {
    ERR_clear_error();
    try {
      const int rc = call();
      if (rc > 0) return {Io::kDone, static_cast<std::size_t>(rc), ""};
      if (rc == 0) return {Io::kEnded, 0, "the peer closed the connection"};
      if (!tls_) return {would_block, 0, ""};
      return {rc == SecureStreamSocket::ERR_SSL_WANT_WRITE ? Io::kWantWrite : Io::kWantRead, 0, ""};
    } catch (const Poco::Exception& e) {
      // Plain sends report a full buffer in this way, plain receives do not.
      if (e.code() == EAGAIN || e.code() == EWOULDBLOCK) return {would_block, 0, ""};
      const std::string text = ShortText(e);
      return {IsCertificateAlert(text) ? Io::kRefused : Io::kCut, 0, text};
    }
  }

  // Waits until sending may go on. An answer that arrives meanwhile is kept in
  // early_: the peer has decided without reading the rest.
  Status WaitToSend(Io::Kind want, const CallContext& context) {
    while (true) {
      const short events = want == Io::kWantWrite ? POLLOUT | POLLIN : POLLIN;
      const auto ready = WaitFd(context, Fd(), events);
      if (!ready.ok()) return ready.status();
      if (want == Io::kWantRead || (*ready & POLLOUT) != 0) return Status::Ok();
      std::array<char, 4096> buffer;
      const Io io = TryReceive(buffer.data(), buffer.size());
      if (io.kind == Io::kDone) {
        early_.assign(buffer.data(), io.bytes);
        answered_early_ = true;
        return Status::Ok();
      }
      if (io.kind == Io::kRefused) return Refused(io.error);
      if (io.kind == Io::kEnded || io.kind == Io::kCut) return Lost(io.error);
    }
  }

  static Status Lost(const std::string& why) {
    return Status(Code::kUnavailable, "ConnectionLost", why);
  }

  static Status Refused(const std::string& alert) {
    return Status(Code::kUnavailable, "TlsFailed",
                  "client certificate missing or refused (" + alert + ")");
  }

  StreamSocket socket_;
  const bool tls_;
  std::uint64_t written_ = 0;
  bool answered_early_ = false;
  std::string early_;  // read while writing
};

Status TlsFailed(const std::string& why) {
  return Status(Code::kUnavailable, "TlsFailed", "TLS: " + why);
}

// Drives the handshake and checks the name. Chain errors come with OpenSSL's text.
Status Handshake(SecureStreamSocket& socket, const std::string& name, const TlsContext& tls,
                 const CallContext& context) {
  TakeVerifyError();
  try {
    while (true) {
      ERR_clear_error();
      const int rc = socket.completeHandshake();
      if (rc > 0) break;
      const short events = rc == SecureStreamSocket::ERR_SSL_WANT_WRITE ? POLLOUT : POLLIN;
      const auto ready = WaitFd(context, socket.impl()->sockfd(), events);
      if (!ready.ok()) return ready.status().WithPrefix("TLS handshake: ");
    }
    if (tls.verify) socket.verifyPeerCertificate(name);
  } catch (const Poco::Net::CertificateValidationException&) {
    return TlsFailed("the server's certificate is not valid for \"" + name + "\"");
  } catch (const Poco::Exception& e) {
    const std::string verify_error = TakeVerifyError();
    if (!verify_error.empty()) return TlsFailed("the server's certificate: " + verify_error);
    const std::string text = ShortText(e);
    if (IsCertificateAlert(text)) return TlsFailed("refused by the server: " + text);
    return TlsFailed(text);
  }
  return Status::Ok();
}

}  // namespace

Result<std::unique_ptr<Connection>> MakeConnection(UniqueFd fd, const std::string& host,
                                                   const std::shared_ptr<const TlsContext>& tls,
                                                   const CallContext& context) {
  try {
    // The impl owns the descriptor from here on.
    StreamSocket socket(new Poco::Net::StreamSocketImpl(fd.Release()));
    socket.setBlocking(false);
    if (!tls) return std::unique_ptr<Connection>(new SocketConnection(socket, false));
    const std::string& name = tls->server_name.empty() ? host : tls->server_name;
    // SNI is for names: some gateways object to an address in it.
    const std::string sni = ParseIpLiteral(name).empty() ? name : "";
    SecureStreamSocket secure = SecureStreamSocket::attach(socket, sni, tls->context);
    OTC_RETURN_IF_ERROR(Handshake(secure, name, *tls, context));
    return std::unique_ptr<Connection>(new SocketConnection(secure, true));
  } catch (const Poco::Exception& e) {
    return TlsFailed(ShortText(e));
  }
}

}  // namespace otc::host::http
