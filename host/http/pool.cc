#include "host/http/pool.h"

#include <algorithm>
#include <iterator>

namespace otc::host::http {

void Pool::Expire(std::list<Idle>& dropped) {
  const MonoTime limit = clock_.Now() - idle_timeout_;
  while (!idle_.empty() && idle_.back().since <= limit) {
    dropped.splice(dropped.end(), idle_, std::prev(idle_.end()));
  }
}

std::unique_ptr<Connection> Pool::Take(const std::string& origin) {
  std::list<Idle> dropped;  // closed after the lock is released
  while (true) {
    std::unique_ptr<Connection> connection;
    {
      std::lock_guard lock(mutex_);
      Expire(dropped);
      const auto found = std::find_if(idle_.begin(), idle_.end(),
                                      [&](const Idle& idle) { return idle.origin == origin; });
      if (found == idle_.end()) return nullptr;
      connection = std::move(found->connection);
      idle_.erase(found);
    }
    if (connection->IsIdle()) return connection;
  }
}

void Pool::Put(const std::string& origin, std::unique_ptr<Connection> connection,
               std::uint64_t generation) {
  std::list<Idle> dropped;
  std::lock_guard lock(mutex_);
  if (generation != generation_) return;
  Expire(dropped);
  const auto count = std::count_if(idle_.begin(), idle_.end(),
                                   [&](const Idle& idle) { return idle.origin == origin; });
  if (count >= max_idle_per_origin_) return;
  if (idle_.size() >= kMaxIdle) dropped.splice(dropped.end(), idle_, std::prev(idle_.end()));
  idle_.push_front({origin, std::move(connection), clock_.Now()});
}

void Pool::Clear() {
  std::list<Idle> dropped;
  std::lock_guard lock(mutex_);
  ++generation_;
  dropped.swap(idle_);
}

std::uint64_t Pool::generation() const {
  std::lock_guard lock(mutex_);
  return generation_;
}

std::size_t Pool::size() const {
  std::lock_guard lock(mutex_);
  return idle_.size();
}

}  // namespace otc::host::http
