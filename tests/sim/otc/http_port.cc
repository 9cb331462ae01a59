#include "tests/sim/otc/http_port.h"

#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServerConnection.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequestImpl.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/SecureServerSocket.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/TCPServer.h>
#include <Poco/Net/TCPServerConnectionFactory.h>
#include <Poco/ThreadPool.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>

#include "host/base/strings.h"

namespace otc::sim {
namespace {

namespace net = Poco::Net;
using std::chrono::milliseconds;

// More than the gateway takes (12 MB), so that the service can refuse it.
constexpr std::size_t kMaxBody = std::size_t{13} << 20;

// The connections under way: lets Stop cut them with shutdown(2), which is safe
// beside a thread that reads, and lets waits end at once.
class Connections {
 public:
  void Add(int fd) {
    std::lock_guard lock(mutex_);
    fds_.insert(fd);
    if (stopping_) ::shutdown(fd, SHUT_RDWR);
  }
  void Remove(int fd) {
    std::lock_guard lock(mutex_);
    fds_.erase(fd);
    changed_.notify_all();
  }
  void StopAll() {
    std::unique_lock lock(mutex_);
    stopping_ = true;
    for (const int fd : fds_) ::shutdown(fd, SHUT_RDWR);
    changed_.notify_all();
    changed_.wait(lock, [this] { return fds_.empty(); });
  }
  // False: stopping, the wait was cut short.
  bool Sleep(milliseconds time) {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, time, [this] { return stopping_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<int> fds_;
  bool stopping_ = false;
};

bool PeerGone(int fd) {
  pollfd entry{fd, POLLIN | POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

void Hold(Connections& connections, int fd, std::int64_t hold_ms) {
  const auto end = std::chrono::steady_clock::now() + milliseconds(hold_ms);
  while (!PeerGone(fd) && (hold_ms == 0 || std::chrono::steady_clock::now() < end)) {
    if (!connections.Sleep(milliseconds(20))) return;
  }
}

std::string ReadBody(std::istream& stream, std::int64_t expected, bool* cut) {
  std::string body;
  char buffer[16384];
  while (body.size() <= kMaxBody && stream.read(buffer, sizeof buffer).gcount() > 0) {
    body.append(buffer, static_cast<std::size_t>(stream.gcount()));
  }
  *cut =
      expected >= 0 && static_cast<std::size_t>(expected) > body.size() && body.size() <= kMaxBody;
  return body;
}

class RequestHandler final : public net::HTTPRequestHandler {
 public:
  RequestHandler(const PortOptions& options, const HttpPort::Handler& handler,
                 Connections& connections)
      : options_(options), handler_(handler), connections_(connections) {}

  void handleRequest(net::HTTPServerRequest& in, net::HTTPServerResponse& out) override {
    Request request;
    request.service = options_.service;
    request.method = in.getMethod();
    request.target = in.getURI();
    request.peer_address = in.clientAddress().host().toString();
    for (const auto& [name, value] : in) request.headers.push_back({name, value});
    request.body = ReadBody(in.stream(), in.hasContentLength() ? in.getContentLength64() : -1,
                            &request.body_cut);

    const Reply reply = handler_(request);
    Deliver(reply, static_cast<net::HTTPServerRequestImpl&>(in), out);
  }

 private:
  void Deliver(const Reply& reply, net::HTTPServerRequestImpl& in, net::HTTPServerResponse& out) {
    const Delivery& delivery = reply.delivery;
    const int fd = in.socket().impl()->sockfd();
    if (delivery.delay_ms > 0 && !connections_.Sleep(milliseconds(delivery.delay_ms))) return;
    switch (delivery.kind) {
      case Delivery::Kind::kSend:
        Send(reply.response, in, out);
        return;
      case Delivery::Kind::kHold:
        Hold(connections_, fd, delivery.hold_ms);
        break;
      case Delivery::Kind::kTruncate: {
        const std::string head = Head(reply.response);
        SendRaw(in, head + reply.response.body.substr(0, delivery.keep_bytes));
        break;
      }
      case Delivery::Kind::kRaw:
        SendRaw(in, delivery.raw);
        break;
      case Delivery::Kind::kClose:
        break;
    }
    out.setKeepAlive(false);
    ::shutdown(fd, SHUT_RDWR);
  }

  static void Send(const Response& response, net::HTTPServerRequestImpl& in,
                   net::HTTPServerResponse& out) {
    out.setStatusAndReason(static_cast<net::HTTPResponse::HTTPStatus>(response.status));
    out.erase("Date");  // Poco's own; the simulator's clock may differ
    for (const auto& header : response.headers) out.add(header.name, header.value);
    if (in.getMethod() != "HEAD" && response.body.empty()) {
      if (response.status != 204 && response.status != 304) out.setContentLength(0);
      out.send();
      return;
    }
    out.setContentType(response.content_type);
    out.sendBuffer(response.body.data(), response.body.size());
  }

  static std::string Head(const Response& response) {
    std::string head = "HTTP/1.1 " + std::to_string(response.status) + " " +
                       net::HTTPResponse::getReasonForStatus(
                           static_cast<net::HTTPResponse::HTTPStatus>(response.status)) +
                       "\r\n";
    for (const auto& header : response.headers) head += header.name + ": " + header.value + "\r\n";
    return head + "Content-Type: " + response.content_type +
           "\r\nContent-Length: " + std::to_string(response.body.size()) + "\r\n\r\n";
  }

  static void SendRaw(net::HTTPServerRequestImpl& in, std::string_view bytes) {
    while (!bytes.empty()) {
      const int sent = in.socket().sendBytes(
          bytes.data(), static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20)));
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }

  const PortOptions& options_;
  const HttpPort::Handler& handler_;
  Connections& connections_;
};

class HandlerFactory final : public net::HTTPRequestHandlerFactory {
 public:
  HandlerFactory(const PortOptions& options, const HttpPort::Handler& handler,
                 Connections& connections)
      : options_(options), handler_(handler), connections_(connections) {}

  net::HTTPRequestHandler* createRequestHandler(const net::HTTPServerRequest&) override {
    return new RequestHandler(options_, handler_, connections_);
  }

 private:
  const PortOptions& options_;
  const HttpPort::Handler& handler_;
  Connections& connections_;
};

class Connection final : public net::HTTPServerConnection {
 public:
  Connection(const net::StreamSocket& socket, net::HTTPServerParams::Ptr params,
             net::HTTPRequestHandlerFactory::Ptr factory, Connections& connections)
      : HTTPServerConnection(socket, std::move(params), std::move(factory)),
        connections_(connections),
        fd_(socket.impl()->sockfd()) {
    connections_.Add(fd_);
  }
  ~Connection() override { connections_.Remove(fd_); }

 private:
  Connections& connections_;
  const int fd_;
};

class ConnectionFactory final : public net::TCPServerConnectionFactory {
 public:
  ConnectionFactory(net::HTTPServerParams::Ptr params, net::HTTPRequestHandlerFactory::Ptr factory,
                    Connections& connections)
      : params_(std::move(params)), factory_(std::move(factory)), connections_(connections) {}

  net::TCPServerConnection* createConnection(const net::StreamSocket& socket) override {
    return new Connection(socket, params_, factory_, connections_);
  }

 private:
  net::HTTPServerParams::Ptr params_;
  net::HTTPRequestHandlerFactory::Ptr factory_;
  Connections& connections_;
};

// Bound by hand: Poco's constructors would also set SO_REUSEPORT, and two
// simulators would share a port without a word.
template <typename Socket>
net::ServerSocket Bound(Socket socket, const PortOptions& options) {
  constexpr int kBacklog = 256;
  socket.bind(net::SocketAddress(options.bind_address, options.port), true, false);
  socket.listen(kBacklog);
  return socket;
}

net::ServerSocket OpenSocket(const PortOptions& options) {
  if (options.certificate_file.empty()) return Bound(net::ServerSocket(), options);
  net::Context::Params params;
  params.certificateFile = options.certificate_file;
  params.privateKeyFile = options.key_file;
  params.verificationMode = net::Context::VERIFY_NONE;  // clients show no certificate
  net::Context::Ptr context = new net::Context(net::Context::TLS_SERVER_USE, params);
  context->requireMinimumProtocol(net::Context::PROTO_TLSV1_2);
  return Bound(net::SecureServerSocket(context), options);
}

}  // namespace

struct HttpPort::Running {
  Running(const PortOptions& options, const Handler& handler)
      : socket(OpenSocket(options)),
        threads(1, options.max_connections + 1, 5),
        params(new net::HTTPServerParams) {
    params->setMaxThreads(options.max_connections);
    params->setMaxQueued(1024);
    params->setThreadIdleTime(Poco::Timespan(5, 0));
    params->setKeepAlive(options.keep_alive_ms > 0);
    params->setKeepAliveTimeout(
        Poco::Timespan(Poco::Timespan::TimeDiff{options.keep_alive_ms} * 1000));
    params->setMaxKeepAliveRequests(0);
    params->setTimeout(Poco::Timespan(60, 0));
    net::HTTPRequestHandlerFactory::Ptr handlers =
        new HandlerFactory(options, handler, connections);
    server = std::make_unique<net::TCPServer>(
        new ConnectionFactory(params, std::move(handlers), connections), threads, socket, params);
  }

  Connections connections;
  net::ServerSocket socket;
  Poco::ThreadPool threads;
  net::HTTPServerParams::Ptr params;
  std::unique_ptr<net::TCPServer> server;
};

HttpPort::HttpPort(PortOptions options, Handler handler)
    : options_(std::move(options)), handler_(std::move(handler)) {}

HttpPort::~HttpPort() { Stop(); }

Status HttpPort::Listen() {
  const std::string where =
      options_.service + " on " + options_.bind_address + ":" + std::to_string(options_.port);
  try {
    running_ = std::make_unique<Running>(options_, handler_);
  } catch (const Poco::Exception& error) {
    return Status(Code::kUnavailable, "CannotListen", where + ": " + error.displayText());
  }
  port_ = running_->socket.address().port();
  const bool tls = !options_.certificate_file.empty();
  const std::string host = options_.bind_address.find(':') == std::string::npos
                               ? options_.bind_address
                               : "[" + options_.bind_address + "]";
  url_ = std::string(tls ? "https" : "http") + "://" + host + ":" + std::to_string(port_);
  return Status::Ok();
}

Status HttpPort::Serve() {
  try {
    running_->server->start();
  } catch (const Poco::Exception& error) {
    return Status(Code::kUnavailable, "CannotServe", url_ + ": " + error.displayText());
  }
  return Status::Ok();
}

void HttpPort::Stop() {
  if (!running_) return;
  // Wakes the accepting thread, which otherwise looks up only every 250 ms.
  ::shutdown(running_->socket.impl()->sockfd(), SHUT_RDWR);
  running_->server->stop();
  running_->connections.StopAll();
  running_->server.reset();
  running_.reset();
}

}  // namespace otc::sim
