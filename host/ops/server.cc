#include "host/ops/server.h"

#include <Poco/Exception.h>
#include <Poco/Net/Context.h>
#include <Poco/Net/HTTPRequestHandler.h>
#include <Poco/Net/HTTPRequestHandlerFactory.h>
#include <Poco/Net/HTTPServer.h>
#include <Poco/Net/HTTPServerParams.h>
#include <Poco/Net/HTTPServerRequest.h>
#include <Poco/Net/HTTPServerResponse.h>
#include <Poco/Net/SecureServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/ThreadPool.h>
#include <Poco/URI.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <exception>

namespace otc::host::ops {
namespace {

namespace net = Poco::Net;

constexpr int kThreads = 4;

Request FromPoco(const net::HTTPServerRequest& in) {
  Request out;
  out.method = in.getMethod();
  const Poco::URI uri(in.getURI());
  out.path = uri.getPath();
  for (const auto& [name, value] : uri.getQueryParameters()) out.query.emplace_back(name, value);
  const std::string authorization = in.get("Authorization", "");
  if (authorization.compare(0, 7, "Bearer ") == 0) {
    out.bearer_token = authorization.substr(7);
  } else {
    out.malformed_authorization = !authorization.empty();
  }
  return out;
}

}  // namespace

bool Request::HasQuery(const std::string& name) const {
  return std::any_of(query.begin(), query.end(), [&](const auto& p) { return p.first == name; });
}

std::vector<std::string> Request::QueryValues(const std::string& name) const {
  std::vector<std::string> values;
  for (const auto& [key, value] : query) {
    if (key == name) values.push_back(value);
  }
  return values;
}

class Server::Factory final : public net::HTTPRequestHandlerFactory {
 public:
  explicit Factory(Server& server) : server_(server) {}

  net::HTTPRequestHandler* createRequestHandler(const net::HTTPServerRequest&) override {
    return new Adapter(server_);
  }

 private:
  class Adapter final : public net::HTTPRequestHandler {
   public:
    explicit Adapter(Server& server) : server_(server) {}

    void handleRequest(net::HTTPServerRequest& in, net::HTTPServerResponse& out) override {
      Response answer;
      try {
        answer = Answer(FromPoco(in));
      } catch (const std::exception& e) {  // a bad URI, or a handler's library
        server_.log_.Warn("request to the operations port failed", {{"error", e.what()}});
        answer = {400, kPlainText, "bad request\n"};
      }
      out.setStatusAndReason(static_cast<net::HTTPResponse::HTTPStatus>(answer.status));
      out.setContentType(answer.content_type);
      out.set("Cache-Control", "no-cache, private");
      out.sendBuffer(answer.body.data(), answer.body.size());
    }

   private:
    Response Answer(const Request& request) {
      if (server_.guard_) {
        const Response verdict = server_.guard_(request);
        if (verdict.status != 200) return verdict;
      }
      const auto it = server_.handlers_.find(request.path);
      if (it == server_.handlers_.end()) return {404, kPlainText, "404 page not found\n"};
      if (request.method != "GET" && request.method != "HEAD") {
        return {405, kPlainText, "only GET is allowed\n"};
      }
      return it->second(request);
    }

    Server& server_;
  };

  Server& server_;
};

struct Server::Running {
  net::Context::Ptr context;
  Poco::ThreadPool pool{kThreads, kThreads};
  std::unique_ptr<net::HTTPServer> http;
};

Server::Server(ServerOptions options, std::shared_ptr<ServingCertificate> certificate, Guard guard,
               Log& log)
    : options_(std::move(options)),
      certificate_(std::move(certificate)),
      guard_(std::move(guard)),
      log_(log) {}

Server::~Server() { Stop(); }

void Server::Handle(const std::string& path, Handler handler) {
  handlers_[path] = std::move(handler);
}

Status Server::Start() {
  const std::string where = options_.bind_address + ":" + std::to_string(options_.port);
  try {
    auto running = std::make_unique<Running>();
    running->context = new net::Context(net::Context::TLS_SERVER_USE, "", "", "",
                                        net::Context::VERIFY_NONE, 9, false);
    running->context->requireMinimumProtocol(options_.tls13_only ? net::Context::PROTO_TLSV1_3
                                                                 : net::Context::PROTO_TLSV1_2);
    certificate_->Attach(running->context->sslContext());
    net::SecureServerSocket socket(running->context);
    // No SO_REUSEPORT: two processes on one port would share its probes.
    socket.bind(net::SocketAddress(options_.bind_address, options_.port), true, false);
    socket.listen(64);
    port_ = socket.address().port();
    net::HTTPServerParams::Ptr params = new net::HTTPServerParams;
    params->setKeepAlive(false);
    params->setMaxThreads(kThreads);
    params->setMaxQueued(64);
    params->setTimeout(Poco::Timespan(10, 0));
    running->http =
        std::make_unique<net::HTTPServer>(new Factory(*this), running->pool, socket, params);
    running->http->start();
    running_ = std::move(running);
  } catch (const Poco::Exception& e) {
    return Status(Code::kUnavailable, "ListenFailed",
                  "cannot listen on " + where + ": " + e.displayText() +
                      "; choose another --bind-address or --secure-port");
  }
  return Status::Ok();
}

void Server::Stop() {
  if (!running_) return;
  running_->http->stopAll(true);
  running_->pool.joinAll();
  running_.reset();
}

}  // namespace otc::host::ops
