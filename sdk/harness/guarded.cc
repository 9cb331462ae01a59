#include "sdk/harness/guarded.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace otc::harness {

Guarded::Guarded(std::size_t size, std::size_t align) : size_(size) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t pages = (size + align + page - 1) / page;
  mapped_ = (pages + 1) * page;
  mapping_ = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping_ == MAP_FAILED) {
    std::fprintf(stderr, "harness: mmap of %zu bytes failed\n", mapped_);
    std::abort();
  }
  char* const end = static_cast<char*>(mapping_) + pages * page;
  mprotect(end, page, PROT_NONE);
  // As close to the guard as the alignment allows.
  data_ = end - (size + align - 1) / align * align;
}

Guarded::Guarded(std::string_view content) : Guarded(content.size()) {
  if (!content.empty()) std::memcpy(data_, content.data(), content.size());
}

Guarded::~Guarded() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Guarded::Guarded(Guarded&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(other.mapped_),
      data_(other.data_),
      size_(other.size_) {}

}  // namespace otc::harness
