// HttpPort: one listening socket of the simulator over Poco's HTTPServer. It
// reads requests byte-exactly (signatures are checked on them), hands them to a
// handler and delivers the reply as told, broken deliveries included.
//
// Owned by Simulator. The handler runs on the port's own threads, one a
// connection, many at once. Listen fails with a Status that names the address;
// Stop cuts what is under way and returns only when every thread has left.
#ifndef OTC_TESTS_SIM_OTC_HTTP_PORT_H_
#define OTC_TESTS_SIM_OTC_HTTP_PORT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/http_types.h"

namespace otc::sim {

struct PortOptions {
  std::string service;
  std::string bind_address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  // Both empty: plain HTTP.
  std::string certificate_file;
  std::string key_file;
  int max_connections = 256;
  int keep_alive_ms = 15'000;
};

class HttpPort {
 public:
  using Handler = std::function<Reply(const Request&)>;

  HttpPort(PortOptions options, Handler handler);
  ~HttpPort();
  HttpPort(const HttpPort&) = delete;
  HttpPort& operator=(const HttpPort&) = delete;

  // Binds the socket, which gives the URL; Serve begins to answer.
  Status Listen();
  Status Serve();
  void Stop();

  // "http://127.0.0.1:40123", valid after Listen, the same after Stop.
  const std::string& url() const { return url_; }
  std::uint16_t port() const { return port_; }

 private:
  struct Running;

  PortOptions options_;
  Handler handler_;
  std::unique_ptr<Running> running_;
  std::string url_;
  std::uint16_t port_ = 0;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_HTTP_PORT_H_
