// Pool: idle keep-alive connections, by origin.
//
// Bounded per origin and in total; a connection that idled for too long, or on
// which anything has happened meanwhile (the server closed it, or sent bytes that
// nobody asked for), is thrown away when it is looked at. Thread-safe.
#ifndef OTC_HOST_HTTP_POOL_H_
#define OTC_HOST_HTTP_POOL_H_

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "host/http/connection.h"

namespace otc::host::http {

class Pool {
 public:
  static constexpr std::size_t kMaxIdle = 64;

  Pool(Clock& clock, Duration idle_timeout, int max_idle_per_origin)
      : clock_(clock), idle_timeout_(idle_timeout), max_idle_per_origin_(max_idle_per_origin) {}

  // The most recently used connection to `origin` that is still good; or null.
  std::unique_ptr<Connection> Take(const std::string& origin);
  // Keeps `connection`, unless Clear ran since `generation` was read.
  void Put(const std::string& origin, std::unique_ptr<Connection> connection,
           std::uint64_t generation);
  void Clear();
  std::uint64_t generation() const;
  std::size_t size() const;

 private:
  struct Idle {
    std::string origin;
    std::unique_ptr<Connection> connection;
    MonoTime since;
  };

  // Moves what is too old to `dropped`. mutex_ held.
  void Expire(std::list<Idle>& dropped);

  Clock& clock_;
  const Duration idle_timeout_;
  const int max_idle_per_origin_;
  mutable std::mutex mutex_;  // guards all below
  std::uint64_t generation_ = 0;
  std::list<Idle> idle_;  // most recently used first
};

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_POOL_H_
