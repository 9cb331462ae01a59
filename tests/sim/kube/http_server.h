// HttpServer: HTTP/1.1 over plain TCP or TLS, one thread for each connection.
//
// A watch holds its connection, and so a thread, for minutes, and so does an idle
// keep-alive client; threads are therefore bounded by connections, not by a pool
// (512 at once; more wait in the listen queue). Framing is Boost.Beast's, sockets
// are Poco's. Stop ends everything within moments, whatever the peers do.
#ifndef OTC_TESTS_SIM_KUBE_HTTP_SERVER_H_
#define OTC_TESTS_SIM_KUBE_HTTP_SERVER_H_

#include <Poco/Net/Context.h>
#include <Poco/Net/ServerSocket.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/kube/connection.h"
#include "tests/sim/kube/http_message.h"
#include "tests/sim/kube/response_writer.h"

namespace otc::kubesim {

struct HttpServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;       // 0: any free one
  Poco::Net::Context::Ptr tls;  // null: plain
  std::size_t max_connections = 512;
  std::uint64_t body_limit = 3 * 1024 * 1024;
};

class HttpServer {
 public:
  // Called on the connection's thread; must answer through the writer.
  using Handler = std::function<void(HttpRequest&, ResponseWriter&)>;
  // Called instead when the body is over the limit or the request is not HTTP.
  using RefusalBody = std::function<std::string(int status, const std::string& why)>;

  HttpServer(HttpServerOptions options, Handler handler, RefusalBody refusal_body);
  ~HttpServer();  // stops
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  Status Start();
  void Stop();
  std::uint16_t port() const { return port_; }

  // Connecting is refused until Resume, which takes the same port again.
  void PauseListening();
  Status ResumeListening();
  // Ends all open connections, by FIN or by RST.
  void CloseConnections(bool reset);

  std::size_t open_connections() const;
  std::uint64_t accepted_connections() const { return accepted_; }

 private:
  struct Worker {
    std::thread thread;
    std::shared_ptr<Connection> connection;
    std::atomic<bool> done{false};
  };

  Status Listen();
  void AcceptLoop(Poco::Net::ServerSocket listener, int wake_fd);
  void Serve(Connection& connection);
  bool ReadRequest(Connection& connection, std::string& buffer, HttpRequest& request,
                   bool& keep_alive);
  void Refuse(Connection& connection, int status, const std::string& why);
  void Reap(bool wait);

  const HttpServerOptions options_;
  const Handler handler_;
  const RefusalBody refusal_body_;
  std::atomic<std::uint16_t> port_{0};
  std::atomic<std::uint64_t> accepted_{0};
  int stop_fd_ = -1;         // readable: everything ends
  int accept_stop_fd_ = -1;  // readable: the accept loop ends
  std::thread accept_thread_;
  std::mutex listen_mutex_;  // serialises start, pause, resume, stop
  mutable std::mutex workers_mutex_;
  std::list<std::unique_ptr<Worker>> workers_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_HTTP_SERVER_H_
