// Dialer: a TCP connection to the first address that answers.
//
// Addresses are tried in the given order; the next one starts when the one before
// has failed or has had kHeadStart, and the first to be connected wins. Thread-safe
// (no state); failure: UNAVAILABLE "ConnectFailed" naming every address and why.
#ifndef OTC_HOST_HTTP_DIALER_H_
#define OTC_HOST_HTTP_DIALER_H_

#include <vector>

#include "host/http/resolver.h"

namespace otc::host::http {

inline constexpr Duration kHeadStart = std::chrono::milliseconds(250);
inline constexpr std::size_t kMaxAddresses = 16;

// A descriptor that is closed with its owner.
class UniqueFd {
 public:
  explicit UniqueFd(int fd = -1) : fd_(fd) {}
  ~UniqueFd();
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.Release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept;

  int get() const { return fd_; }
  int Release();

 private:
  int fd_;
};

// A connected, non-blocking, close-on-exec socket with TCP_NODELAY set.
Result<UniqueFd> Dial(const std::vector<Address>& addresses, const CallContext& context);

// TCP keep-alive (30 s idle, 5 probes of 5 s) and TCP_USER_TIMEOUT of 30 s: a peer
// that died without a word is noticed within a minute, idle or while sending.
void DetectDeadPeer(int fd);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_DIALER_H_
