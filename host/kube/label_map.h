// LabelMap: the labels of one cached object, small.
//
// Thousands of nodes carry the same dozen keys and mostly the same values. A
// std::map of strings costs 170 bytes an entry; here an entry is two pointers to
// texts that objects share. Behaves like a std::map<std::string, std::string> as
// far as the host needs one: sorted, find, at, count, operator[], comparison.
//
// TextPool makes equal texts share their memory while an informer decodes; texts
// live as long as somebody refers to them. Values are plain; a pool belongs to
// one thread.
#ifndef OTC_HOST_KUBE_LABEL_MAP_H_
#define OTC_HOST_KUBE_LABEL_MAP_H_

#include <initializer_list>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace otc::host::kube {

// An immutable text that may be shared; never null.
class SharedText {
 public:
  SharedText() : SharedText(std::string()) {}
  SharedText(std::string text)  // NOLINT(google-explicit-constructor): stands for a string
      : text_(std::make_shared<const std::string>(std::move(text))) {}
  SharedText(const char* text) : SharedText(std::string(text)) {}  // NOLINT: as above
  explicit SharedText(std::shared_ptr<const std::string> text) : text_(std::move(text)) {}

  const std::string& str() const { return *text_; }
  operator const std::string&() const { return *text_; }  // NOLINT: as above

  friend bool operator==(const SharedText& a, const SharedText& b) { return a.str() == b.str(); }
  friend bool operator==(const SharedText& a, const std::string& b) { return a.str() == b; }
  friend bool operator==(const SharedText& a, const char* b) { return a.str() == b; }
  friend std::ostream& operator<<(std::ostream& out, const SharedText& text) {
    return out << text.str();
  }

 private:
  std::shared_ptr<const std::string> text_;
};

class LabelMap {
 public:
  using value_type = std::pair<SharedText, SharedText>;
  using const_iterator = std::vector<value_type>::const_iterator;

  LabelMap() = default;
  LabelMap(std::initializer_list<std::pair<std::string, std::string>> entries);

  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  bool empty() const { return entries_.empty(); }
  std::size_t size() const { return entries_.size(); }

  const_iterator find(std::string_view key) const;
  std::size_t count(std::string_view key) const { return find(key) == end() ? 0 : 1; }
  // As std::map: throws std::out_of_range. Tests only.
  const SharedText& at(std::string_view key) const;

  // The value of `key`, made empty if absent.
  SharedText& operator[](std::string_view key);
  void Set(SharedText key, SharedText value);
  std::size_t erase(std::string_view key);
  void clear() { entries_.clear(); }
  void Reserve(std::size_t count) { entries_.reserve(count); }

  friend bool operator==(const LabelMap&, const LabelMap&) = default;

 private:
  std::vector<value_type>::iterator LowerBound(std::string_view key);

  std::vector<value_type> entries_;  // sorted by key
};

class TextPool {
 public:
  // Texts beyond this number are not shared, so that values that differ in every
  // object (host names) cannot make the pool grow without end.
  explicit TextPool(std::size_t limit) : limit_(limit) {}

  SharedText Get(std::string_view text);
  // Forgets the texts that nobody else refers to.
  void Purge();
  std::size_t size() const { return texts_.size(); }

 private:
  const std::size_t limit_;
  // The key is the text behind the pointer.
  std::unordered_map<std::string_view, std::shared_ptr<const std::string>> texts_;
};

}  // namespace otc::host::kube

#endif  // OTC_HOST_KUBE_LABEL_MAP_H_
