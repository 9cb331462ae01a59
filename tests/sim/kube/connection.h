// Connection: one accepted TCP (or TLS) peer, with full control over its bytes.
//
// Non-blocking Poco sockets under poll(2): every wait also watches the server's
// stop descriptor, so that shutting down never waits for a peer. Tests need what
// an HTTP server hides: cutting after n bytes, resetting, falling silent. Used by
// one thread at a time; Shutdown calls may come from any thread.
#ifndef OTC_TESTS_SIM_KUBE_CONNECTION_H_
#define OTC_TESTS_SIM_KUBE_CONNECTION_H_

#include <Poco/Net/StreamSocket.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace otc::kubesim {

enum class WaitResult { kReady, kTimeout, kStopped, kClosed };

class Connection {
 public:
  // `stop_fd` readable: every operation ends with kStopped. `tls` tells whether
  // the socket is a SecureStreamSocket.
  Connection(Poco::Net::StreamSocket socket, bool tls, int stop_fd);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // TLS only; at once kReady on a plain socket.
  WaitResult Handshake(int timeout_ms);
  // Appends what arrives next to `out`; kClosed: the peer is gone.
  WaitResult Read(std::string& out, int timeout_ms);
  // All of `bytes`, or kClosed, kStopped, kTimeout.
  WaitResult Write(std::string_view bytes, int timeout_ms = 60'000);
  // Sleeps until the peer says something or goes away (kReady or kClosed), until
  // `other_fd` (-1: none) is readable (kReady), or the time is over (kTimeout).
  WaitResult WaitActivity(int timeout_ms, int other_fd);
  // Sleeps; kStopped or kTimeout. Does not look at the peer.
  WaitResult Sleep(int timeout_ms);
  // Nobody hears from us again: waits until the peer goes away or the server stops.
  void StaySilent();

  // Ends both directions; wakes the thread that uses the connection. With
  // `reset` the peer sees RST instead of FIN.
  void Shutdown(bool reset);

  // Subject common name and organisations of a verified client certificate.
  std::string PeerCommonName() const;
  std::vector<std::string> PeerOrganizations() const;
  std::string PeerAddress() const;

 private:
  WaitResult Poll(short events, int timeout_ms);
  // Waits for what a failed operation asked for.
  WaitResult AfterWouldBlock(int rc, bool writing, int timeout_ms);

  Poco::Net::StreamSocket socket_;
  const bool tls_;
  const int stop_fd_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_CONNECTION_H_
