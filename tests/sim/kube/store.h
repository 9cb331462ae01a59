// Store: every object, one global resourceVersion counter, and the history that
// lists at an older version and watches are served from.
//
// Stands for etcd and the watch cache together. History is bounded: when it is
// full the oldest changes go and their versions count as compacted (410), as
// after Compact. HoldCache makes the watch cache lag: what is read from "the
// cache" (resourceVersion=0, NotOlderThan, watches) stays at the held version
// while writes go on. Thread-safe; owned by the Server.
#ifndef OTC_TESTS_SIM_KUBE_STORE_H_
#define OTC_TESTS_SIM_KUBE_STORE_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tests/sim/kube/object.h"

namespace otc::kubesim {

enum class ChangeType { kAdded, kModified, kDeleted };

struct Change {
  ChangeType type;
  std::uint64_t version;  // of the change; a deletion has one of its own
  ObjectPtr object;       // a deletion carries the last state with the new version
  ObjectPtr previous;     // null for kAdded
};

struct Snapshot {
  std::uint64_t version = 0;
  std::vector<ObjectPtr> objects;  // in order of keys
};

class Store {
 public:
  // `history_limit` is the number of changes kept for each resource.
  explicit Store(std::size_t history_limit);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  std::uint64_t version() const;
  // What the cache of this resource shows; below version() while it is held.
  std::uint64_t CacheVersion(const ResourceInfo& resource) const;

  ObjectPtr Get(const ResourceInfo& resource, const std::string& key) const;
  // As the held cache sees it.
  ObjectPtr GetCached(const ResourceInfo& resource, const std::string& key) const;

  // Writes `document` as the next version if the stored object still is
  // `expected` (null: must not exist). Null: it is not; read again.
  ObjectPtr Commit(const ResourceInfo& resource, const std::string& key, const ObjectPtr& expected,
                   Json document);
  // Removes the object if it still is `expected`; false if it is not.
  bool Remove(const ResourceInfo& resource, const std::string& key, const ObjectPtr& expected);

  // The state at `at` (0: now). Nothing: that version is compacted.
  std::optional<Snapshot> List(const ResourceInfo& resource, std::uint64_t at = 0) const;

  struct Changes {
    bool compacted = false;     // `since` is too old
    std::uint64_t version = 0;  // everything up to here has been delivered
    std::vector<Change> changes;
  };
  // Changes the cache shows after `since`, at most `limit`.
  Changes ChangesSince(const ResourceInfo& resource, std::uint64_t since, std::size_t limit) const;

  // `event_fd` (an eventfd) is written whenever the resource's cache moves.
  void Subscribe(const ResourceInfo& resource, int event_fd);
  void Unsubscribe(const ResourceInfo& resource, int event_fd);

  // Versions up to and including `up_to` (0: all so far) become too old.
  void Compact(std::uint64_t up_to);
  void HoldCache(const ResourceInfo& resource);
  void ReleaseCache(const ResourceInfo& resource);
  // Forgets all objects and history; versions go on counting.
  void Clear();

 private:
  static constexpr std::uint64_t kFirstVersion = 100;

  struct Table {
    std::map<std::string, ObjectPtr> objects;
    std::deque<Change> history;
    std::uint64_t floor = kFirstVersion;  // changes up to here are gone
    std::optional<std::uint64_t> held;
    std::set<int> event_fds;
  };

  Table& TableOf(const ResourceInfo& resource) const;
  void Record(Table& table, Change change);
  static void Notify(const Table& table);
  std::optional<std::map<std::string, ObjectPtr>> StateAt(const Table& table,
                                                          std::uint64_t at) const;

  const std::size_t history_limit_;
  mutable std::mutex mutex_;  // guards all below
  std::uint64_t version_ = kFirstVersion;
  mutable std::map<std::string, Table> tables_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_STORE_H_
