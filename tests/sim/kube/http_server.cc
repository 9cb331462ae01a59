#include "tests/sim/kube/http_server.h"

#include <Poco/Exception.h>
#include <Poco/Net/SecureStreamSocket.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <boost/beast/core/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

namespace http = boost::beast::http;

constexpr int kHandshakeMillis = 10'000;
constexpr int kIdleMillis = 120'000;

void Raise(int event_fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(event_fd, &one, sizeof(one));
}

void Fill(HttpRequest& request, const http::request<http::string_body>& message) {
  request = HttpRequest();
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  for (const auto& field : message) {
    request.headers[host::ToLower(std::string(field.name_string()))] = std::string(field.value());
  }
  request.body = message.body();
}

}  // namespace

HttpServer::HttpServer(HttpServerOptions options, Handler handler, RefusalBody refusal_body)
    : options_(std::move(options)),
      handler_(std::move(handler)),
      refusal_body_(std::move(refusal_body)) {}

HttpServer::~HttpServer() { Stop(); }

Status HttpServer::Start() {
  std::lock_guard<std::mutex> lock(listen_mutex_);
  stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (stop_fd_ < 0) {
    return Status(Code::kInternal, "NoDescriptor", "eventfd failed");
  }
  return Listen();
}

Status HttpServer::Listen() {
  try {
    const std::uint16_t port = port_ != 0 ? port_.load() : options_.port;
    Poco::Net::ServerSocket listener;
    listener.bind(Poco::Net::SocketAddress(options_.address, port), /*reuseAddress=*/true,
                  /*reusePort=*/false);
    listener.listen(256);
    listener.setBlocking(false);
    port_ = listener.address().port();
    accept_stop_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    accept_thread_ =
        std::thread([this, listener, wake = accept_stop_fd_] { AcceptLoop(listener, wake); });
    return Status::Ok();
  } catch (const Poco::Exception& error) {
    return Status(
        Code::kUnavailable, "CannotListen",
        options_.address + ":" + std::to_string(options_.port) + ": " + error.displayText());
  }
}

void HttpServer::PauseListening() {
  std::lock_guard<std::mutex> lock(listen_mutex_);
  if (!accept_thread_.joinable()) {
    return;
  }
  Raise(accept_stop_fd_);
  accept_thread_.join();  // the listener was its own and is closed now
  close(accept_stop_fd_);
  accept_stop_fd_ = -1;
}

Status HttpServer::ResumeListening() {
  std::lock_guard<std::mutex> lock(listen_mutex_);
  if (accept_thread_.joinable()) {
    return Status::Ok();
  }
  return Listen();
}

void HttpServer::Stop() {
  PauseListening();
  std::lock_guard<std::mutex> lock(listen_mutex_);
  if (stop_fd_ < 0) {
    return;
  }
  Raise(stop_fd_);
  Reap(/*wait=*/true);
  close(stop_fd_);
  stop_fd_ = -1;
}

void HttpServer::Reap(bool wait) {
  std::list<std::unique_ptr<Worker>> finished;
  {
    std::lock_guard<std::mutex> lock(workers_mutex_);
    for (auto worker = workers_.begin(); worker != workers_.end();) {
      const auto next = std::next(worker);
      if (wait || (*worker)->done) {
        finished.splice(finished.end(), workers_, worker);
      }
      worker = next;
    }
  }
  for (const auto& worker : finished) {
    worker->thread.join();
  }
}

void HttpServer::AcceptLoop(Poco::Net::ServerSocket listener, int wake_fd) {
  for (;;) {
    Reap(/*wait=*/false);
    const bool full = open_connections() >= options_.max_connections;
    pollfd fds[2] = {{wake_fd, POLLIN, 0}, {full ? -1 : listener.impl()->sockfd(), POLLIN, 0}};
    const int rc = poll(fds, 2, full ? 50 : 1000);
    if (fds[0].revents != 0) {
      listener.close();
      return;
    }
    if (rc <= 0 || fds[1].revents == 0) {
      continue;
    }
    try {
      Poco::Net::StreamSocket socket = listener.acceptConnection();
      // Before TLS is put on top, so that TLS never blocks either.
      socket.setBlocking(false);
      const bool tls = !options_.tls.isNull();
      if (tls) {
        socket = Poco::Net::SecureStreamSocket::attach(socket, options_.tls);
      }
      ++accepted_;
      auto worker = std::make_unique<Worker>();
      worker->connection = std::make_shared<Connection>(socket, tls, stop_fd_);
      Worker* raw = worker.get();
      worker->thread = std::thread([this, raw, connection = worker->connection]() mutable {
        Serve(*connection);
        {
          // CloseConnections must not meet a descriptor that is being closed.
          std::lock_guard<std::mutex> lock(workers_mutex_);
          raw->connection.reset();
          connection.reset();
        }
        raw->done = true;
      });
      std::lock_guard<std::mutex> lock(workers_mutex_);
      workers_.push_back(std::move(worker));
    } catch (const Poco::Exception&) {
      // The peer went away between poll and accept.
    }
  }
}

void HttpServer::CloseConnections(bool reset) {
  std::lock_guard<std::mutex> lock(workers_mutex_);
  for (const auto& worker : workers_) {
    if (worker->connection != nullptr) {
      worker->connection->Shutdown(reset);
    }
  }
}

std::size_t HttpServer::open_connections() const {
  std::lock_guard<std::mutex> lock(workers_mutex_);
  std::size_t open = 0;
  for (const auto& worker : workers_) {
    open += worker->connection != nullptr ? 1 : 0;
  }
  return open;
}

void HttpServer::Refuse(Connection& connection, int status, const std::string& why) {
  ResponseWriter writer(connection);
  WireFault close;
  close.close_after = true;
  writer.set_fault(close);
  writer.Send(status, "application/json", refusal_body_(status, why));
}

bool HttpServer::ReadRequest(Connection& connection, std::string& buffer, HttpRequest& request,
                             bool& keep_alive) {
  http::request_parser<http::string_body> parser;
  parser.eager(true);
  parser.header_limit(64 * 1024);
  parser.body_limit(options_.body_limit);
  bool continue_sent = false;
  for (;;) {
    boost::beast::error_code error;
    const std::size_t used = parser.put(boost::asio::buffer(buffer.data(), buffer.size()), error);
    buffer.erase(0, used);
    if (error && error != http::error::need_more) {
      const bool too_large = error == http::error::body_limit;
      Refuse(connection, too_large ? 413 : 400, error.message());
      return false;
    }
    if (parser.is_done()) {
      break;
    }
    if (parser.is_header_done() && !continue_sent &&
        host::EqualsIgnoreCase(std::string(parser.get()[http::field::expect]), "100-continue")) {
      continue_sent = true;
      connection.Write("HTTP/1.1 100 Continue\r\n\r\n");
    }
    if (connection.Read(buffer, kIdleMillis) != WaitResult::kReady) {
      return false;
    }
  }
  keep_alive = parser.get().keep_alive();
  Fill(request, parser.get());
  return true;
}

void HttpServer::Serve(Connection& connection) {
  if (connection.Handshake(kHandshakeMillis) != WaitResult::kReady) {
    return;
  }
  const std::string user = connection.PeerCommonName();
  const std::vector<std::string> groups = connection.PeerOrganizations();
  std::string buffer;
  for (;;) {
    HttpRequest request;
    bool keep_alive = false;
    if (!ReadRequest(connection, buffer, request, keep_alive)) {
      return;
    }
    if (!SplitTarget(request)) {
      Refuse(connection, 400, "malformed escape in the request target");
      return;
    }
    request.certificate_user = user;
    request.certificate_groups = groups;
    ResponseWriter writer(connection);
    handler_(request, writer);
    if (!writer.reusable() || !keep_alive) {
      return;
    }
  }
}

}  // namespace otc::kubesim
