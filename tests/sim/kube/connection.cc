#include "tests/sim/kube/connection.h"

#include <Poco/Exception.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <Poco/Net/X509Certificate.h>
#include <fcntl.h>
#include <openssl/x509.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace otc::kubesim {
namespace {

using Steady = std::chrono::steady_clock;

int Remaining(Steady::time_point deadline) {
  const auto left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Steady::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 3'600'000));
}

}  // namespace

Connection::Connection(Poco::Net::StreamSocket socket, bool tls, int stop_fd)
    : socket_(std::move(socket)), tls_(tls), stop_fd_(stop_fd) {
  socket_.setBlocking(false);
  try {
    socket_.setNoDelay(true);
  } catch (const Poco::Exception&) {
    // The peer is gone already; the first read says so.
  }
}

Connection::~Connection() {
  try {
    socket_.close();
  } catch (const Poco::Exception&) {
    // TLS close to a dead peer; the descriptor is closed all the same.
  }
}

WaitResult Connection::Poll(short events, int timeout_ms) {
  pollfd fds[2] = {{socket_.impl()->sockfd(), events, 0}, {stop_fd_, POLLIN, 0}};
  const auto deadline = Steady::now() + std::chrono::milliseconds(timeout_ms);
  for (;;) {
    const int rc = poll(fds, 2, Remaining(deadline));
    if (rc < 0) {
      continue;  // EINTR
    }
    if (fds[1].revents != 0) {
      return WaitResult::kStopped;
    }
    if (rc == 0) {
      return WaitResult::kTimeout;
    }
    return WaitResult::kReady;
  }
}

WaitResult Connection::AfterWouldBlock(int rc, bool writing, int timeout_ms) {
  bool want_write = writing;
  if (tls_) {
    want_write = rc == Poco::Net::SecureStreamSocket::ERR_SSL_WANT_WRITE;
  }
  return Poll(want_write ? POLLOUT : POLLIN, timeout_ms);
}

WaitResult Connection::Handshake(int timeout_ms) {
  if (!tls_) {
    return WaitResult::kReady;
  }
  const auto deadline = Steady::now() + std::chrono::milliseconds(timeout_ms);
  try {
    Poco::Net::SecureStreamSocket secure(socket_);
    for (;;) {
      const int rc = secure.completeHandshake();
      if (rc > 0) {
        return WaitResult::kReady;
      }
      if (rc == 0) {
        return WaitResult::kClosed;
      }
      const WaitResult waited = AfterWouldBlock(rc, false, Remaining(deadline));
      if (waited != WaitResult::kReady) {
        return waited;
      }
    }
  } catch (const Poco::Exception&) {
    return WaitResult::kClosed;
  }
}

WaitResult Connection::Read(std::string& out, int timeout_ms) {
  char buffer[16384];
  const auto deadline = Steady::now() + std::chrono::milliseconds(timeout_ms);
  try {
    for (;;) {
      // TLS first, poll second: OpenSSL may hold bytes already.
      const int rc = socket_.receiveBytes(buffer, sizeof(buffer));
      if (rc > 0) {
        out.append(buffer, static_cast<std::size_t>(rc));
        return WaitResult::kReady;
      }
      if (rc == 0) {
        return WaitResult::kClosed;
      }
      const WaitResult waited = AfterWouldBlock(rc, false, Remaining(deadline));
      if (waited != WaitResult::kReady) {
        return waited;
      }
    }
  } catch (const Poco::Exception&) {
    return WaitResult::kClosed;
  }
}

WaitResult Connection::Write(std::string_view bytes, int timeout_ms) {
  const auto deadline = Steady::now() + std::chrono::milliseconds(timeout_ms);
  // At most this much at once: a stalled TLS write must be repeated with the same
  // bytes, and a reader that is slow must not make one call last for ever.
  constexpr std::size_t kPiece = 256 * 1024;
  try {
    while (!bytes.empty()) {
      const std::size_t piece = std::min(bytes.size(), kPiece);
      const int rc = socket_.sendBytes(bytes.data(), static_cast<int>(piece));
      if (rc > 0) {
        bytes.remove_prefix(static_cast<std::size_t>(rc));
        continue;
      }
      if (rc == 0) {
        return WaitResult::kClosed;
      }
      const WaitResult waited = AfterWouldBlock(rc, true, Remaining(deadline));
      if (waited != WaitResult::kReady) {
        return waited;
      }
    }
  } catch (const Poco::Exception&) {
    return WaitResult::kClosed;
  }
  return WaitResult::kReady;
}

WaitResult Connection::WaitActivity(int timeout_ms, int other_fd) {
  pollfd fds[3] = {{socket_.impl()->sockfd(), POLLIN | POLLRDHUP, 0},
                   {stop_fd_, POLLIN, 0},
                   {other_fd, POLLIN, 0}};  // a negative descriptor is ignored
  const int rc = poll(fds, 3, timeout_ms);
  if (fds[1].revents != 0) {
    return WaitResult::kStopped;
  }
  if (rc > 0 && fds[0].revents != 0) {
    return WaitResult::kClosed;
  }
  return rc > 0 ? WaitResult::kReady : WaitResult::kTimeout;
}

WaitResult Connection::Sleep(int timeout_ms) {
  pollfd stop = {stop_fd_, POLLIN, 0};
  return poll(&stop, 1, timeout_ms) > 0 ? WaitResult::kStopped : WaitResult::kTimeout;
}

void Connection::StaySilent() {
  // Reads and forgets, so that the peer's writes do not fail either.
  std::string ignored;
  for (;;) {
    ignored.clear();
    const WaitResult read = Read(ignored, 1'000);
    if (read == WaitResult::kClosed || read == WaitResult::kStopped) {
      return;
    }
  }
}

void Connection::Shutdown(bool reset) {
  const int fd = socket_.impl()->sockfd();
  if (!reset) {
    shutdown(fd, SHUT_RDWR);
    return;
  }
  // Zero linger: closing sends RST. Stopping the receiving side wakes a poll on
  // this socket without sending FIN. The descriptor then gets another, dead
  // socket, so that the real one closes at once and TLS cannot say goodbye.
  const linger abort_on_close = {1, 0};
  setsockopt(fd, SOL_SOCKET, SO_LINGER, &abort_on_close, sizeof(abort_on_close));
  shutdown(fd, SHUT_RD);
  const int dead = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (dead >= 0) {
    dup3(dead, fd, O_CLOEXEC);
    close(dead);
  }
}

std::string Connection::PeerCommonName() const {
  if (!tls_) {
    return "";
  }
  try {
    const Poco::Net::SecureStreamSocket secure(socket_);
    return secure.havePeerCertificate() ? secure.peerCertificate().commonName() : "";
  } catch (const Poco::Exception&) {
    return "";
  }
}

std::vector<std::string> Connection::PeerOrganizations() const {
  std::vector<std::string> organizations;
  if (!tls_) {
    return organizations;
  }
  try {
    const Poco::Net::SecureStreamSocket secure(socket_);
    if (!secure.havePeerCertificate()) {
      return organizations;
    }
    // Poco hands out one value for each kind of name; there may be several.
    const Poco::Net::X509Certificate certificate = secure.peerCertificate();
    X509_NAME* subject = X509_get_subject_name(certificate.certificate());
    int at = -1;
    while ((at = X509_NAME_get_index_by_NID(subject, NID_organizationName, at)) >= 0) {
      const ASN1_STRING* value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
      organizations.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                                 static_cast<std::size_t>(ASN1_STRING_length(value)));
    }
  } catch (const Poco::Exception&) {
    organizations.clear();
  }
  return organizations;
}

std::string Connection::PeerAddress() const {
  try {
    return socket_.peerAddress().toString();
  } catch (const Poco::Exception&) {
    return "";
  }
}

}  // namespace otc::kubesim
