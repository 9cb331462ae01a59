#include "host/http/testing/scripted_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <thread>

#include "host/base/strings.h"
#include "host/http/resolver.h"

namespace otc::host::http::testing {
namespace {

void Require(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "ScriptedServer: %s: %s\n", what, std::strerror(errno));
  std::abort();
}

int Listen(const std::string& address, std::uint16_t port, int backlog) {
  auto parsed = ParseIpLiteral(address);
  Require(!parsed.empty(), "address");
  parsed[0].SetPort(port);
  const int fd = socket(parsed[0].storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  Require(fd >= 0, "socket");
  const int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
  Require(bind(fd, reinterpret_cast<sockaddr*>(&parsed[0].storage), parsed[0].length) == 0, "bind");
  Require(listen(fd, backlog) == 0, "listen");
  return fd;
}

std::uint16_t PortOf(int fd) {
  sockaddr_storage storage{};
  socklen_t length = sizeof(storage);
  Require(getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &length) == 0, "getsockname");
  return ntohs(storage.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&storage)->sin_port);
}

SSL_CTX* NewServerContext(const ServerOptions& options) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  const auto bio = [](const std::string& pem) {
    return std::unique_ptr<BIO, decltype(&BIO_free)>(
        BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), &BIO_free);
  };
  X509* certificate =
      PEM_read_bio_X509(bio(options.identity->cert_pem).get(), nullptr, nullptr, nullptr);
  EVP_PKEY* key =
      PEM_read_bio_PrivateKey(bio(options.identity->key_pem).get(), nullptr, nullptr, nullptr);
  Require(SSL_CTX_use_certificate(context, certificate) == 1, "certificate");
  Require(SSL_CTX_use_PrivateKey(context, key) == 1, "key");
  X509_free(certificate);
  EVP_PKEY_free(key);
  if (!options.client_ca_pem.empty()) {
    X509* ca = PEM_read_bio_X509(bio(options.client_ca_pem).get(), nullptr, nullptr, nullptr);
    Require(X509_STORE_add_cert(SSL_CTX_get_cert_store(context), ca) == 1, "client CA");
    X509_free(ca);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  if (options.only_tls_1_1) {
    // Level 0: Debian's OpenSSL refuses the old protocol's digests otherwise.
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_cipher_list(context, "ALL:@SECLEVEL=0");
    SSL_CTX_set_min_proto_version(context, TLS1_1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  }
  if (options.only_tls_1_2) SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
  return context;
}

}  // namespace

struct ScriptedServer::Impl {
  class Peer;

  ServerOptions options;
  Script script;
  SSL_CTX* context = nullptr;
  int listener = -1;
  std::uint16_t port = 0;
  std::atomic<bool> stopping{false};
  std::thread acceptor;
  mutable std::mutex mutex;  // guards all below
  mutable std::condition_variable changed;
  int accepted = 0;
  std::vector<SeenRequest> requests;
  std::list<std::pair<int, std::thread>> peers;  // descriptor (-1: done) and thread

  void AcceptLoop();
  void Serve(int fd, int index);
};

class ScriptedServer::Impl::Peer final : public ScriptedConnection {
 public:
  Peer(Impl& server, int fd, int index) : server_(server), fd_(fd), index_(index) {}

  ~Peer() override {
    if (ssl_ == nullptr) return;
    if (close_notify_ && !reset_) SSL_shutdown(ssl_);
    SSL_free(ssl_);
  }

  int index() const override { return index_; }

  bool Handshake() override {
    ssl_ = SSL_new(server_.context);
    SSL_set_fd(ssl_, fd_);
    ERR_clear_error();
    return SSL_accept(ssl_) == 1;
  }

  std::string ReadSome(std::size_t size) override {
    std::string out(size, '\0');
    ERR_clear_error();
    const auto count = ssl_ != nullptr ? SSL_read(ssl_, out.data(), static_cast<int>(size))
                                       : recv(fd_, out.data(), size, 0);
    out.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return out;
  }

  std::optional<SeenRequest> ReadRequest() override {
    std::size_t end;
    while ((end = input_.find("\r\n\r\n")) == std::string::npos) {
      const std::string more = ReadSome(16384);
      if (more.empty()) return std::nullopt;
      input_ += more;
    }
    SeenRequest request;
    request.head = input_.substr(0, end + 4);
    input_.erase(0, end + 4);
    const auto parts = Split(request.head.substr(0, request.head.find("\r\n")), ' ');
    if (parts.size() == 3) {
      request.method = parts[0];
      request.target = parts[1];
    }
    const std::size_t length = ParseUint(request.Find("content-length")).value_or(0);
    while (input_.size() < length) {
      const std::string more = ReadSome(16384);
      if (more.empty()) return std::nullopt;
      input_ += more;
    }
    request.body = input_.substr(0, length);
    input_.erase(0, length);
    std::lock_guard lock(server_.mutex);
    server_.requests.push_back(request);
    server_.changed.notify_all();
    return request;
  }

  bool Write(std::string_view bytes) override {
    while (!bytes.empty()) {
      ERR_clear_error();
      const auto count = ssl_ != nullptr
                             ? SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()))
                             : send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  void Hold() override {
    // The raw descriptor: also before a handshake, and past unread bytes.
    char buffer[4096];
    while (recv(fd_, buffer, sizeof(buffer), 0) > 0) {
    }
  }

  void HoldUnread() override {
    pollfd poll_fd{fd_, POLLRDHUP, 0};
    while (poll(&poll_fd, 1, -1) < 0 && errno == EINTR) {
    }
  }

  void ResetOnClose() override {
    reset_ = true;
    const linger now{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof(now));
  }

  void SetCloseNotify(bool on) override { close_notify_ = on; }

 private:
  Impl& server_;
  const int fd_;
  const int index_;
  SSL* ssl_ = nullptr;
  bool close_notify_ = true;
  bool reset_ = false;
  std::string input_;
};

void ScriptedServer::Impl::Serve(int fd, int index) {
  const int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  Peer peer(*this, fd, index);
  if (context != nullptr && options.auto_handshake && !peer.Handshake()) return;
  script(peer);
}

void ScriptedServer::Impl::AcceptLoop() {
  while (!stopping) {
    const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) return;  // the listener was shut down
    std::lock_guard lock(mutex);
    if (stopping) {
      close(fd);
      return;
    }
    const int index = accepted++;
    auto entry = peers.emplace(peers.end(), fd, std::thread());
    entry->second = std::thread([this, fd, index, entry] {
      Serve(fd, index);
      std::lock_guard guard(mutex);
      entry->first = -1;
      close(fd);
      changed.notify_all();
    });
    changed.notify_all();
  }
}

ScriptedServer::ScriptedServer(ServerOptions options, Script script)
    : impl_(std::make_unique<Impl>()) {
  impl_->options = std::move(options);
  impl_->script = std::move(script);
  if (impl_->options.identity) impl_->context = NewServerContext(impl_->options);
  impl_->listener = Listen(impl_->options.address, impl_->options.port, 64);
  impl_->port = PortOf(impl_->listener);
  impl_->acceptor = std::thread([this] { impl_->AcceptLoop(); });
}

ScriptedServer::~ScriptedServer() {
  Stop();
  SSL_CTX_free(impl_->context);
}

void ScriptedServer::Stop() {
  if (impl_->stopping.exchange(true)) return;
  shutdown(impl_->listener, SHUT_RDWR);
  impl_->acceptor.join();
  close(impl_->listener);
  {
    std::lock_guard lock(impl_->mutex);
    for (const auto& [fd, thread] : impl_->peers) {
      if (fd >= 0) shutdown(fd, SHUT_RDWR);
    }
  }
  for (auto& [fd, thread] : impl_->peers) thread.join();
}

std::uint16_t ScriptedServer::port() const { return impl_->port; }

Origin ScriptedServer::origin() const {
  return {impl_->context != nullptr, impl_->options.address, impl_->port};
}

int ScriptedServer::connections() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->accepted;
}

std::vector<SeenRequest> ScriptedServer::requests() const {
  std::lock_guard lock(impl_->mutex);
  return impl_->requests;
}

bool ScriptedServer::AwaitConnections(int count) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, std::chrono::seconds(10),
                                 [&] { return impl_->accepted >= count; });
}

bool ScriptedServer::AwaitRequests(int count) const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, std::chrono::seconds(10), [&] {
    return impl_->requests.size() >= static_cast<std::size_t>(count);
  });
}

bool ScriptedServer::AwaitIdle() const {
  std::unique_lock lock(impl_->mutex);
  return impl_->changed.wait_for(lock, std::chrono::seconds(10), [&] {
    return std::all_of(impl_->peers.begin(), impl_->peers.end(),
                       [](const auto& peer) { return peer.first < 0; });
  });
}

bool ScriptedConnection::WriteByteByByte(std::string_view bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [&](const char& c) { return Write({&c, 1}); });
}

std::string SeenRequest::Find(std::string_view name) const {
  for (const auto& line : Split(head, '\n')) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && EqualsIgnoreCase(line.substr(0, colon), name)) {
      return std::string(TrimSpace(std::string_view(line).substr(colon + 1)));
    }
  }
  return "";
}

int SeenRequest::Count(std::string_view name) const {
  int count = 0;
  for (const auto& line : Split(head, '\n')) {
    if (EqualsIgnoreCase(line.substr(0, line.find(':')), name)) ++count;
  }
  return count;
}

Script Answering(std::function<std::string(const SeenRequest&)> answer) {
  return [answer](ScriptedConnection& connection) {
    while (const auto request = connection.ReadRequest()) {
      if (!connection.Write(answer(*request))) return;
    }
  };
}

std::string OkAnswer(std::string_view body, int status, std::string_view extra_headers) {
  return "HTTP/1.1 " + std::to_string(status) + " X\r\n" + std::string(extra_headers) +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

BlackHole::BlackHole(const std::string& address, std::uint16_t port)
    : listener_(Listen(address, port, 0)), port_(PortOf(listener_)) {
  // The kernel takes a connection or two beyond the backlog: fill until one hangs.
  auto target = ParseIpLiteral(address);
  target[0].SetPort(port_);
  for (int i = 0; i < 16; ++i) {
    const int fd =
        socket(target[0].storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    Require(fd >= 0, "socket");
    fillers_.push_back(fd);
    if (connect(fd, reinterpret_cast<sockaddr*>(&target[0].storage), target[0].length) == 0) {
      continue;
    }
    pollfd poll_fd{fd, POLLOUT, 0};
    if (poll(&poll_fd, 1, 100) == 0) return;
  }
  Require(false, "filling the queue of a listener");
}

BlackHole::~BlackHole() {
  for (const int fd : fillers_) close(fd);
  close(listener_);
}

}  // namespace otc::host::http::testing
