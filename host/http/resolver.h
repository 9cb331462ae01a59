// Resolver: host names to addresses, without ever holding up a caller.
//
// getaddrinfo has no deadline and cannot be cancelled, so it runs on a helper
// thread that the caller abandons when its time is up. At most kMaxThreads of
// them exist (a thread ends when nothing waits), look-ups of one name share one
// run, answers are kept for kCacheTime. Nothing is joined on destruction: a
// thread inside getaddrinfo keeps the shared state alive and ends with its run.
//
// Thread-safe. Failure: UNAVAILABLE "DnsFailed" naming the host, or the call's
// own deadline or cancellation.
#ifndef OTC_HOST_HTTP_RESOLVER_H_
#define OTC_HOST_HTTP_RESOLVER_H_

#include <sys/socket.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/base/cancellation.h"

namespace otc::host::http {

struct Address {
  sockaddr_storage storage{};
  socklen_t length = 0;

  std::string ToString() const;  // "192.0.2.1:443", "[2001:db8::1]:443"
  void SetPort(std::uint16_t port);
};

// An address from its text; nothing if it is a name.
std::vector<Address> ParseIpLiteral(const std::string& host);

class Resolver {
 public:
  static constexpr int kMaxThreads = 4;
  static constexpr std::size_t kMaxQueued = 64;
  static constexpr std::size_t kMaxCached = 256;
  static constexpr Duration kCacheTime = std::chrono::seconds(30);

  // Runs on a helper thread, may block for ever. Tests put their own in place.
  using Lookup = std::function<Result<std::vector<Address>>(const std::string& host)>;

  Resolver(Clock& clock, Lookup lookup);
  ~Resolver();

  // Addresses of `host` in the order of preference, with the port set; never
  // empty on success.
  Result<std::vector<Address>> Resolve(const std::string& host, std::uint16_t port,
                                       const CallContext& context);
  // Drops what is known of `host`: none of its addresses could be reached.
  void Forget(const std::string& host);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// getaddrinfo(3), stream sockets, both families.
Result<std::vector<Address>> SystemLookup(const std::string& host);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_RESOLVER_H_
