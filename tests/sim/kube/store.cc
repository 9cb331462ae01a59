#include "tests/sim/kube/store.h"

#include <unistd.h>

#include <algorithm>

namespace otc::kubesim {
namespace {

std::string KeyOf(const StoredObject& object) {
  return ObjectKey(object.namespace_name(), object.name());
}

}  // namespace

Store::Store(std::size_t history_limit) : history_limit_(history_limit) {}

Store::~Store() = default;

Store::Table& Store::TableOf(const ResourceInfo& resource) const {
  return tables_[resource.QualifiedName()];
}

std::uint64_t Store::version() const {
  std::lock_guard<std::mutex> lock(mutex_);
  return version_;
}

std::uint64_t Store::CacheVersion(const ResourceInfo& resource) const {
  std::lock_guard<std::mutex> lock(mutex_);
  return TableOf(resource).held.value_or(version_);
}

ObjectPtr Store::Get(const ResourceInfo& resource, const std::string& key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Table& table = TableOf(resource);
  const auto found = table.objects.find(key);
  return found == table.objects.end() ? nullptr : found->second;
}

ObjectPtr Store::GetCached(const ResourceInfo& resource, const std::string& key) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Table& table = TableOf(resource);
  // Undo, newest first, what the held cache has not seen yet.
  const auto found = table.objects.find(key);
  ObjectPtr object = found == table.objects.end() ? nullptr : found->second;
  for (auto change = table.history.rbegin();
       table.held && change != table.history.rend() && change->version > *table.held; ++change) {
    if (KeyOf(*change->object) == key) {
      object = change->previous;
    }
  }
  return object;
}

void Store::Record(Table& table, Change change) {
  table.history.push_back(std::move(change));
  while (table.history.size() > history_limit_) {
    table.floor = table.history.front().version;
    table.history.pop_front();
  }
  if (table.held && *table.held < table.floor) {
    table.held = table.floor;  // a cache cannot show what is forgotten
  }
  if (!table.held) {
    Notify(table);
  }
}

void Store::Notify(const Table& table) {
  for (const int fd : table.event_fds) {
    const std::uint64_t one = 1;
    // A full counter means the reader has been woken already.
    [[maybe_unused]] const auto written = write(fd, &one, sizeof(one));
  }
}

ObjectPtr Store::Commit(const ResourceInfo& resource, const std::string& key,
                        const ObjectPtr& expected, Json document) {
  std::lock_guard<std::mutex> lock(mutex_);
  Table& table = TableOf(resource);
  const auto found = table.objects.find(key);
  const ObjectPtr current = found == table.objects.end() ? nullptr : found->second;
  if (current != expected) {
    return nullptr;
  }
  ++version_;
  document["metadata"]["resourceVersion"] = std::to_string(version_);
  ObjectPtr object = std::make_shared<StoredObject>(resource, document, version_);
  table.objects[key] = object;
  Record(table, {current == nullptr ? ChangeType::kAdded : ChangeType::kModified, version_, object,
                 current});
  return object;
}

bool Store::Remove(const ResourceInfo& resource, const std::string& key,
                   const ObjectPtr& expected) {
  std::lock_guard<std::mutex> lock(mutex_);
  Table& table = TableOf(resource);
  const auto found = table.objects.find(key);
  if (found == table.objects.end() || found->second != expected) {
    return false;
  }
  ++version_;
  Json document = expected->Document();
  document["metadata"]["resourceVersion"] = std::to_string(version_);
  table.objects.erase(found);
  Record(table, {ChangeType::kDeleted, version_,
                 std::make_shared<StoredObject>(resource, document, version_), expected});
  return true;
}

std::optional<std::map<std::string, ObjectPtr>> Store::StateAt(const Table& table,
                                                               std::uint64_t at) const {
  if (at < table.floor) {
    return std::nullopt;
  }
  std::map<std::string, ObjectPtr> state = table.objects;
  for (auto change = table.history.rbegin(); change != table.history.rend() && change->version > at;
       ++change) {
    if (change->previous == nullptr) {
      state.erase(KeyOf(*change->object));
    } else {
      state[KeyOf(*change->object)] = change->previous;
    }
  }
  return state;
}

std::optional<Snapshot> Store::List(const ResourceInfo& resource, std::uint64_t at) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Table& table = TableOf(resource);
  Snapshot snapshot;
  snapshot.version = at == 0 ? version_ : at;
  if (snapshot.version >= version_) {
    for (const auto& [key, object] : table.objects) {
      snapshot.objects.push_back(object);
    }
    return snapshot;
  }
  const auto state = StateAt(table, snapshot.version);
  if (!state) {
    return std::nullopt;
  }
  for (const auto& [key, object] : *state) {
    snapshot.objects.push_back(object);
  }
  return snapshot;
}

Store::Changes Store::ChangesSince(const ResourceInfo& resource, std::uint64_t since,
                                   std::size_t limit) const {
  std::lock_guard<std::mutex> lock(mutex_);
  const Table& table = TableOf(resource);
  Changes result;
  if (since < table.floor) {
    result.compacted = true;
    return result;
  }
  const std::uint64_t visible = table.held.value_or(version_);
  result.version = std::max(visible, since);
  auto change = std::upper_bound(
      table.history.begin(), table.history.end(), since,
      [](std::uint64_t version, const Change& each) { return version < each.version; });
  for (; change != table.history.end() && change->version <= visible; ++change) {
    if (result.changes.size() == limit) {
      result.version = result.changes.back().version;
      break;
    }
    result.changes.push_back(*change);
  }
  return result;
}

void Store::Subscribe(const ResourceInfo& resource, int event_fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  TableOf(resource).event_fds.insert(event_fd);
}

void Store::Unsubscribe(const ResourceInfo& resource, int event_fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  TableOf(resource).event_fds.erase(event_fd);
}

void Store::Compact(std::uint64_t up_to) {
  std::lock_guard<std::mutex> lock(mutex_);
  const std::uint64_t limit = up_to == 0 ? version_ : std::min(up_to, version_);
  // The current version itself stays readable, as etcd's compaction leaves it.
  for (const ResourceInfo& resource : AllResources()) {
    Table& table = TableOf(resource);
    table.floor = std::max(table.floor, limit);
    while (!table.history.empty() && table.history.front().version <= limit) {
      table.history.pop_front();
    }
    if (table.held && *table.held < table.floor) {
      table.held = table.floor;
    }
    Notify(table);
  }
}

void Store::HoldCache(const ResourceInfo& resource) {
  std::lock_guard<std::mutex> lock(mutex_);
  TableOf(resource).held = version_;
}

void Store::ReleaseCache(const ResourceInfo& resource) {
  std::lock_guard<std::mutex> lock(mutex_);
  Table& table = TableOf(resource);
  table.held.reset();
  Notify(table);
}

void Store::Clear() {
  std::lock_guard<std::mutex> lock(mutex_);
  ++version_;
  for (auto& [name, table] : tables_) {
    table.objects.clear();
    table.history.clear();
    table.floor = version_;
    table.held.reset();
    Notify(table);
  }
}

}  // namespace otc::kubesim
