#include "host/kube/label_map.h"

#include <algorithm>
#include <stdexcept>

namespace otc::host::kube {
namespace {

bool KeyLess(const LabelMap::value_type& entry, std::string_view key) {
  return entry.first.str() < key;
}

}  // namespace

LabelMap::LabelMap(std::initializer_list<std::pair<std::string, std::string>> entries) {
  for (const auto& [key, value] : entries) Set(key, value);
}

std::vector<LabelMap::value_type>::iterator LabelMap::LowerBound(std::string_view key) {
  return std::lower_bound(entries_.begin(), entries_.end(), key, KeyLess);
}

LabelMap::const_iterator LabelMap::find(std::string_view key) const {
  const auto it = std::lower_bound(entries_.begin(), entries_.end(), key, KeyLess);
  return it != entries_.end() && it->first.str() == key ? it : entries_.end();
}

const SharedText& LabelMap::at(std::string_view key) const {
  const auto it = find(key);
  if (it == end()) throw std::out_of_range("no label " + std::string(key));
  return it->second;
}

SharedText& LabelMap::operator[](std::string_view key) {
  auto it = LowerBound(key);
  if (it == entries_.end() || it->first.str() != key) {
    it = entries_.emplace(it, std::string(key), SharedText());
  }
  return it->second;
}

void LabelMap::Set(SharedText key, SharedText value) {
  auto it = LowerBound(key.str());
  if (it != entries_.end() && it->first == key) {
    it->second = std::move(value);
  } else {
    entries_.emplace(it, std::move(key), std::move(value));
  }
}

std::size_t LabelMap::erase(std::string_view key) {
  const auto it = LowerBound(key);
  if (it == entries_.end() || it->first.str() != key) return 0;
  entries_.erase(it);
  return 1;
}

SharedText TextPool::Get(std::string_view text) {
  const auto it = texts_.find(text);
  if (it != texts_.end()) return SharedText(it->second);
  auto fresh = std::make_shared<const std::string>(text);
  if (texts_.size() < limit_) texts_.emplace(*fresh, fresh);
  return SharedText(std::move(fresh));
}

void TextPool::Purge() {
  std::erase_if(texts_, [](const auto& entry) { return entry.second.use_count() == 1; });
}

}  // namespace otc::host::kube
