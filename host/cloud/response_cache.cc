#include "host/cloud/response_cache.h"

#include <algorithm>
#include <utility>

#include "host/cloud/call_wait.h"

namespace otc::host::cloud {
namespace {

// No caller accepts answers so old; they only take room.
constexpr Duration kOldest = std::chrono::minutes(10);

}  // namespace

Result<ResponseCache::Answer> ResponseCache::Get(const std::string& service, const std::string& key,
                                                 Duration max_age, const CallContext& context,
                                                 const std::function<Response()>& fetch) {
  CallWait wait(mutex_, changed_, context);
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto entry = entries_.find(key);
    if (entry != entries_.end() && clock_.Now() - entry->second.fetched <= max_age) {
      return Answer{*entry->second.response, Source::kStored};
    }
    const auto found = flights_.find(key);
    if (found == flights_.end() || found->second->generation != generations_[service] ||
        clock_.Now() - found->second->started > max_age) {
      return Fetch(service, key, fetch, lock);
    }
    const std::shared_ptr<Flight> flight = found->second;
    ++flight->followers;
    const Status status = wait.Until(lock, [&] { return flight->done; });
    --flight->followers;
    if (!status.ok()) return status;
    if (flight->response && flight->generation == generations_[service]) {
      return Answer{*flight->response, Source::kJoined};
    }
    // The other call came to nothing (its own end, no answer): try for ourselves.
  }
}

ResponseCache::Answer ResponseCache::Fetch(const std::string& service, const std::string& key,
                                           const std::function<Response()>& fetch,
                                           std::unique_lock<std::mutex>& lock) {
  const auto flight = std::make_shared<Flight>();
  flight->started = clock_.Now();
  flight->generation = generations_[service];
  flights_[key] = flight;
  lock.unlock();
  Answer answer{fetch(), Source::kFetched};
  lock.lock();
  const bool current = flight->generation == generations_[service];
  const bool keep =
      current && answer.response.code() == 0 && answer.response.body().size() <= kMaxEntryBytes;
  const bool share =
      current && answer.response.outcome() == plugin::v1::OUTCOME_ANSWERED && flight->followers > 0;
  if (keep || share) flight->response = std::make_shared<const Response>(answer.response);
  if (keep) StoreLocked(service, key, flight->started, flight->response);
  flight->done = true;
  // A later flight of the same key, after a write, has taken the place.
  if (const auto mine = flights_.find(key); mine != flights_.end() && mine->second == flight) {
    flights_.erase(mine);
  }
  changed_.notify_all();
  return answer;
}

void ResponseCache::Drop(const std::string& service) {
  std::lock_guard lock(mutex_);
  ++generations_[service];
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    if (current->second.service == service) EraseLocked(current);
  }
}

void ResponseCache::StoreLocked(const std::string& service, const std::string& key,
                                MonoTime fetched, std::shared_ptr<const Response> response) {
  if (const auto old = entries_.find(key); old != entries_.end()) EraseLocked(old);
  bytes_ += response->body().size();
  entries_[key] = {service, fetched, std::move(response)};
  const MonoTime too_old = fetched - kOldest;
  for (;;) {
    const auto oldest = std::min_element(
        entries_.begin(), entries_.end(),
        [](const auto& a, const auto& b) { return a.second.fetched < b.second.fetched; });
    const bool full = entries_.size() > kMaxEntries || bytes_ > kMaxBytes;
    if (oldest == entries_.end() || (!full && oldest->second.fetched > too_old)) return;
    EraseLocked(oldest);
  }
}

void ResponseCache::EraseLocked(std::map<std::string, Entry>::iterator entry) {
  bytes_ -= entry->second.response->body().size();
  entries_.erase(entry);
}

}  // namespace otc::host::cloud
