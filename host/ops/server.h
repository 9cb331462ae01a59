// Server: the HTTPS port for health, metrics, /plugins and /configz.
//
// Poco's HTTPServer with keep-alive off (an idle client would hold a thread) and
// a small pool of its own. Handlers run on that pool and must not block for
// long. Paths match exactly. Start and Stop are called by the owner's thread;
// Stop waits for running handlers.
#ifndef OTC_HOST_OPS_SERVER_H_
#define OTC_HOST_OPS_SERVER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "host/base/log.h"
#include "host/ops/certificate.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::host::ops {

inline constexpr char kPlainText[] = "text/plain; charset=utf-8";
inline constexpr char kJson[] = "application/json";

struct Request {
  std::string method;
  std::string path;
  std::vector<std::pair<std::string, std::string>> query;  // decoded
  std::string bearer_token;                                // empty: none
  bool malformed_authorization = false;                    // a header that is not "Bearer …"

  bool HasQuery(const std::string& name) const;
  std::vector<std::string> QueryValues(const std::string& name) const;
};

struct Response {
  int status = 200;
  std::string content_type = kPlainText;
  std::string body;
};

struct ServerOptions {
  std::string bind_address = "0.0.0.0";
  std::uint16_t port = 10258;  // 0: any free one (tests)
  bool tls13_only = false;
};

class Server {
 public:
  using Handler = std::function<Response(const Request&)>;
  // Decides before the handler runs: 200 lets the request through, anything else
  // is the answer.
  using Guard = std::function<Response(const Request&)>;

  Server(ServerOptions options, std::shared_ptr<ServingCertificate> certificate, Guard guard,
         Log& log);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  void Handle(const std::string& path, Handler handler);  // before Start
  // UNAVAILABLE "ListenFailed" naming address and port.
  Status Start();
  void Stop();
  std::uint16_t port() const { return port_; }

 private:
  class Factory;

  ServerOptions options_;
  std::shared_ptr<ServingCertificate> certificate_;
  Guard guard_;
  Log& log_;
  std::map<std::string, Handler> handlers_;
  std::uint16_t port_ = 0;
  struct Running;
  std::unique_ptr<Running> running_;
};

}  // namespace otc::host::ops

#endif  // OTC_HOST_OPS_SERVER_H_
