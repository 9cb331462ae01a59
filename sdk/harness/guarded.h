// Memory for arguments of a plugin: ends at an unreadable page and vanishes when
// the object does. A plugin that reads past the end (takes bytes for a C string,
// a table for a larger one) or after its slot returned crashes at that spot
// (rules ABI-R08, R09, R10) instead of working by luck.
//
// Movable, owned by whoever makes the call. Costs a mapping each; for tests.
#ifndef OTC_SDK_HARNESS_GUARDED_H_
#define OTC_SDK_HARNESS_GUARDED_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "otc/plugin.h"

namespace otc::harness {

class Guarded {
 public:
  // Zeroed memory of `size` bytes; `align` is a power of two up to 16.
  explicit Guarded(std::size_t size, std::size_t align = 1);
  explicit Guarded(std::string_view content);
  ~Guarded();
  Guarded(Guarded&& other) noexcept;
  Guarded& operator=(Guarded&&) = delete;

  void* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Empty content is a null pointer, as the ABI allows.
  otc_bytes bytes() const {
    return otc_bytes{size_ == 0 ? nullptr : static_cast<const std::uint8_t*>(data_), size_};
  }
  otc_str str() const {
    return otc_str{size_ == 0 ? nullptr : static_cast<const char*>(data_), size_};
  }

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace otc::harness

#endif  // OTC_SDK_HARNESS_GUARDED_H_
