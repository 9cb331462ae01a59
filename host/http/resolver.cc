#include "host/http/resolver.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "host/http/wait.h"

namespace otc::host::http {
namespace {

Address FromSockaddr(const sockaddr* address, socklen_t length) {
  Address out;
  std::memcpy(&out.storage, address, length);
  out.length = length;
  return out;
}

// One run of the look-up, shared by its callers and the thread. `done_fd` becomes
// readable for good when `result` is there.
struct Run {
  explicit Run(std::string name) : host(std::move(name)), done_fd(eventfd(0, EFD_CLOEXEC)) {}
  ~Run() {
    if (done_fd >= 0) close(done_fd);
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  const std::string host;
  const int done_fd;
  std::optional<Result<std::vector<Address>>> result;  // guarded by State::mutex
};

struct Cached {
  std::vector<Address> addresses;
  MonoTime until;
};

}  // namespace

std::string Address::ToString() const {
  char text[INET6_ADDRSTRLEN] = "";
  if (storage.ss_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&storage);
    inet_ntop(AF_INET6, &v6->sin6_addr, text, sizeof(text));
    return "[" + std::string(text) + "]:" + std::to_string(ntohs(v6->sin6_port));
  }
  const auto* v4 = reinterpret_cast<const sockaddr_in*>(&storage);
  inet_ntop(AF_INET, &v4->sin_addr, text, sizeof(text));
  return std::string(text) + ":" + std::to_string(ntohs(v4->sin_port));
}

void Address::SetPort(std::uint16_t port) {
  if (storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&storage)->sin6_port = htons(port);
  } else {
    reinterpret_cast<sockaddr_in*>(&storage)->sin_port = htons(port);
  }
}

std::vector<Address> ParseIpLiteral(const std::string& host) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  if (inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1) {
    return {FromSockaddr(reinterpret_cast<const sockaddr*>(&v4), sizeof(v4))};
  }
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  if (inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) == 1) {
    return {FromSockaddr(reinterpret_cast<const sockaddr*>(&v6), sizeof(v6))};
  }
  return {};
}

Result<std::vector<Address>> SystemLookup(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int rc = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (rc != 0) {
    const std::string why =
        rc == EAI_SYSTEM ? std::generic_category().message(errno) : gai_strerror(rc);
    return Status(Code::kUnavailable, "DnsFailed", "look up " + host + ": " + why);
  }
  std::vector<Address> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family != AF_INET && entry->ai_family != AF_INET6) continue;
    addresses.push_back(FromSockaddr(entry->ai_addr, entry->ai_addrlen));
  }
  freeaddrinfo(list);
  if (addresses.empty()) {
    return Status(Code::kUnavailable, "DnsFailed", "look up " + host + ": no address");
  }
  return addresses;
}

struct Resolver::State {
  State(Clock& c, Lookup l) : clock(&c), lookup(std::move(l)) {}

  std::mutex mutex;  // guards all below
  Clock* clock;      // null once the resolver is gone
  const Lookup lookup;
  int threads = 0;
  std::deque<std::shared_ptr<Run>> queue;            // not yet taken by a thread
  std::map<std::string, std::shared_ptr<Run>> runs;  // queued or running, by host
  std::map<std::string, Cached> cache;

  // Joins the run for `host` or starts one; null: too many names wait.
  static std::shared_ptr<Run> Join(const std::shared_ptr<State>& self, const std::string& host);
  static void Work(const std::shared_ptr<State>& self);
  void Store(const Run& run);
};

std::shared_ptr<Run> Resolver::State::Join(const std::shared_ptr<State>& self,
                                           const std::string& host) {
  if (const auto found = self->runs.find(host); found != self->runs.end()) return found->second;
  if (self->queue.size() >= kMaxQueued) return nullptr;
  auto run = std::make_shared<Run>(host);
  if (run->done_fd < 0) return nullptr;
  self->queue.push_back(run);
  self->runs.emplace(host, run);
  if (self->threads < kMaxThreads) {
    try {
      std::thread([self] { Work(self); }).detach();
      ++self->threads;
    } catch (const std::system_error&) {
      // No thread to be had. Those that run take the queue; without any the
      // caller is told at once.
      if (self->threads == 0) {
        self->queue.pop_back();
        self->runs.erase(host);
        return nullptr;
      }
    }
  }
  return run;
}

void Resolver::State::Work(const std::shared_ptr<State>& self) {
  std::unique_lock lock(self->mutex);
  while (self->clock != nullptr && !self->queue.empty()) {
    const auto run = self->queue.front();
    self->queue.pop_front();
    lock.unlock();
    auto result = self->lookup(run->host);
    lock.lock();
    run->result.emplace(std::move(result));
    self->Store(*run);
    self->runs.erase(run->host);
    const std::uint64_t one = 1;
    // The counter is written once and cannot overflow.
    [[maybe_unused]] const ssize_t written = write(run->done_fd, &one, sizeof(one));
  }
  --self->threads;
}

void Resolver::State::Store(const Run& run) {
  if (clock == nullptr || !run.result->ok()) return;
  const MonoTime now = clock->Now();
  std::erase_if(cache, [&](const auto& entry) { return entry.second.until <= now; });
  if (cache.size() >= kMaxCached) cache.erase(cache.begin());
  cache.insert_or_assign(run.host, Cached{run.result->value(), now + kCacheTime});
}

Resolver::Resolver(Clock& clock, Lookup lookup)
    : state_(std::make_shared<State>(clock, std::move(lookup))) {}

Resolver::~Resolver() {
  std::lock_guard lock(state_->mutex);
  state_->clock = nullptr;
}

void Resolver::Forget(const std::string& host) {
  std::lock_guard lock(state_->mutex);
  state_->cache.erase(host);
}

Result<std::vector<Address>> Resolver::Resolve(const std::string& host, std::uint16_t port,
                                               const CallContext& context) {
  std::vector<Address> addresses = ParseIpLiteral(host);
  std::shared_ptr<Run> run;
  if (addresses.empty()) {
    std::lock_guard lock(state_->mutex);
    const auto cached = state_->cache.find(host);
    if (cached != state_->cache.end() && state_->clock->Now() < cached->second.until) {
      addresses = cached->second.addresses;
    } else if ((run = State::Join(state_, host)) == nullptr) {
      return Status(Code::kUnavailable, "DnsFailed",
                    "look up " + host + ": too many look-ups are waiting");
    }
  }
  if (run) {
    const auto ready = WaitFd(context, run->done_fd, POLLIN);
    if (!ready.ok()) return ready.status().WithPrefix("look up " + host + ": ");
    std::lock_guard lock(state_->mutex);
    if (!run->result->ok()) return run->result->status();
    addresses = run->result->value();
  }
  for (auto& address : addresses) address.SetPort(port);
  return addresses;
}

}  // namespace otc::host::http
