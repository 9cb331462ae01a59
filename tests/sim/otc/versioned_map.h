// VersionedMap: the objects of one kind, in order of creation, with their recent
// past, so that a list can be answered as it was some changes ago (lists of the
// real cloud lag behind).
//
// Values are immutable and shared. Not thread-safe: World locks. Bounded: 16
// versions an object, 4,096 deleted objects.
#ifndef OTC_TESTS_SIM_OTC_VERSIONED_MAP_H_
#define OTC_TESTS_SIM_OTC_VERSIONED_MAP_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace otc::sim {

using Revision = std::uint64_t;

template <typename T>
class VersionedMap {
 public:
  using Ptr = std::shared_ptr<const T>;
  using List = std::shared_ptr<const std::vector<Ptr>>;

  Ptr Get(const std::string& id) const {
    const auto it = sequence_.find(id);
    return it == sequence_.end() ? nullptr : entries_.at(it->second).back().value;
  }

  void Put(const std::string& id, Ptr value, Revision revision) {
    const auto [it, is_new] = sequence_.try_emplace(id, next_sequence_);
    if (is_new) ++next_sequence_;
    Append(&entries_[it->second], {revision, std::move(value)});
  }

  // False: there is none.
  bool Erase(const std::string& id, Revision revision) {
    if (!Get(id)) return false;
    const std::uint64_t sequence = sequence_.at(id);
    Append(&entries_[sequence], {revision, nullptr});
    sequence_.erase(id);
    deleted_.push_back(sequence);
    if (deleted_.size() > kDeletedKept) {
      entries_.erase(deleted_.front());
      deleted_.pop_front();
    }
    return true;
  }

  // All that exist, or that existed right after `as_of`.
  List All(std::optional<Revision> as_of = std::nullopt) const {
    if (!as_of && cached_) return cached_;
    auto list = std::make_shared<std::vector<Ptr>>();
    list->reserve(entries_.size());
    for (const auto& [sequence, versions] : entries_) {
      Ptr value = as_of ? At(versions, *as_of) : versions.back().value;
      if (value) list->push_back(std::move(value));
    }
    if (!as_of) cached_ = list;
    return list;
  }

  std::size_t size() const { return sequence_.size(); }

 private:
  static constexpr std::size_t kVersionsKept = 16;
  static constexpr std::size_t kDeletedKept = 4096;

  struct Version {
    Revision revision;
    Ptr value;  // null: deleted
  };

  void Append(std::vector<Version>* versions, Version version) {
    cached_ = nullptr;
    if (versions->size() == kVersionsKept) versions->erase(versions->begin());
    versions->push_back(std::move(version));
  }

  static Ptr At(const std::vector<Version>& versions, Revision as_of) {
    Ptr value;
    for (const Version& version : versions) {
      if (version.revision > as_of) break;
      value = version.value;
    }
    return value;
  }

  std::unordered_map<std::string, std::uint64_t> sequence_;  // of those that exist
  std::map<std::uint64_t, std::vector<Version>> entries_;    // in order of creation
  std::deque<std::uint64_t> deleted_;
  std::uint64_t next_sequence_ = 0;
  mutable List cached_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_VERSIONED_MAP_H_
