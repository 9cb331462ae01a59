// ScriptedServer: a server for tests that does exactly what a script says, rude
// things included. Plain or TLS, loopback only, one thread a connection.
//
// A script runs once for each connection and owns it until it returns; then the
// connection is closed. All blocking operations of ScriptedConnection end when the
// server is stopped, so that no test can hang on its server.
#ifndef OTC_HOST_HTTP_TESTING_SCRIPTED_SERVER_H_
#define OTC_HOST_HTTP_TESTING_SCRIPTED_SERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/http/client.h"
#include "host/http/testing/test_ca.h"

namespace otc::host::http::testing {

struct SeenRequest {
  std::string head;  // as received, up to and with the empty line
  std::string method;
  std::string target;
  std::string body;

  // Value of the first header with this name, in any case; empty if absent.
  std::string Find(std::string_view name) const;
  // How many headers have this name.
  int Count(std::string_view name) const;
};

class ScriptedConnection {
 public:
  virtual ~ScriptedConnection() = default;

  // Number of this connection, from 0, in order of acceptance.
  virtual int index() const = 0;
  // The next request with its body (Content-Length); nothing when the peer has
  // gone or the server stops. Counted and kept by the server.
  virtual std::optional<SeenRequest> ReadRequest() = 0;
  // Reads up to `size` raw bytes; empty at the end.
  virtual std::string ReadSome(std::size_t size) = 0;
  // False when the peer has gone.
  virtual bool Write(std::string_view bytes) = 0;
  // One write a byte (one TLS record or segment each).
  bool WriteByteByByte(std::string_view bytes);
  // Blocks until the peer closes or the server stops.
  virtual void Hold() = 0;
  // The same without reading a byte.
  virtual void HoldUnread() = 0;
  // TLS: performs the handshake when the server was started without; false if it
  // failed.
  virtual bool Handshake() = 0;
  // Ends with a TCP reset instead of an orderly close when the script returns.
  virtual void ResetOnClose() = 0;
  // TLS: close_notify is sent when the script returns (default true).
  virtual void SetCloseNotify(bool on) = 0;
};

using Script = std::function<void(ScriptedConnection&)>;

struct ServerOptions {
  std::string address = "127.0.0.1";  // a loopback address, also ::1
  std::uint16_t port = 0;             // 0: any
  // TLS if set.
  std::optional<Identity> identity;
  std::string client_ca_pem;  // ask for a client certificate signed by this CA
  bool only_tls_1_1 = false;  // offer nothing newer
  bool only_tls_1_2 = false;
  bool auto_handshake = true;  // false: the script calls Handshake
};

class ScriptedServer {
 public:
  ScriptedServer(ServerOptions options, Script script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  std::uint16_t port() const;
  // Where to send requests; host is the listening address.
  Origin origin() const;
  int connections() const;
  std::vector<SeenRequest> requests() const;
  // Blocks (at most 10 s) until so many connections or requests were seen.
  bool AwaitConnections(int count) const;
  bool AwaitRequests(int count) const;
  // Blocks (at most 10 s) until every script has returned and its connection is
  // closed.
  bool AwaitIdle() const;
  // Closes the listener and every connection, waits for the threads.
  void Stop();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A script that answers each request of a connection by `answer` (raw bytes, head
// included) and keeps the connection until the peer closes it.
Script Answering(std::function<std::string(const SeenRequest&)> answer);

// "HTTP/1.1 200 OK" with Content-Length and this body.
std::string OkAnswer(std::string_view body, int status = 200, std::string_view extra_headers = "");

// A loopback port where connecting never succeeds and never fails: its queue of
// pending connections is full.
class BlackHole {
 public:
  explicit BlackHole(const std::string& address = "127.0.0.1", std::uint16_t port = 0);
  ~BlackHole();
  BlackHole(const BlackHole&) = delete;
  BlackHole& operator=(const BlackHole&) = delete;
  std::uint16_t port() const { return port_; }

 private:
  int listener_ = -1;
  std::vector<int> fillers_;
  std::uint16_t port_ = 0;
};

}  // namespace otc::host::http::testing

#endif  // OTC_HOST_HTTP_TESTING_SCRIPTED_SERVER_H_
