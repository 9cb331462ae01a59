// LruMap: a map that forgets what was used longest ago once it is full. For one
// thread.
#ifndef OTC_HOST_KUBE_LRU_MAP_H_
#define OTC_HOST_KUBE_LRU_MAP_H_

#include <list>
#include <string>
#include <unordered_map>
#include <utility>

namespace otc::host::kube {

template <typename Value>
class LruMap {
 public:
  explicit LruMap(std::size_t capacity) : capacity_(capacity) {}

  // Null if absent. Valid until the next Put.
  Value* Find(const std::string& key) {
    const auto it = index_.find(key);
    if (it == index_.end()) return nullptr;
    order_.splice(order_.begin(), order_, it->second);
    return &it->second->second;
  }

  Value& Put(const std::string& key, Value value) {
    if (Value* known = Find(key)) {
      *known = std::move(value);
      return *known;
    }
    if (index_.size() >= capacity_) {
      index_.erase(order_.back().first);
      order_.pop_back();
    }
    order_.emplace_front(key, std::move(value));
    index_[key] = order_.begin();
    return order_.front().second;
  }

  std::size_t size() const { return index_.size(); }

 private:
  using Order = std::list<std::pair<std::string, Value>>;

  const std::size_t capacity_;
  Order order_;  // most recently used first
  std::unordered_map<std::string, typename Order::iterator> index_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_LRU_MAP_H_
