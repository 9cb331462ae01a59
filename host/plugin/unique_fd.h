// UniqueFd: owns a descriptor and closes it at the end. Move-only; any thread.
#ifndef OTC_HOST_PLUGIN_UNIQUE_FD_H_
#define OTC_HOST_PLUGIN_UNIQUE_FD_H_

#include <unistd.h>

#include <utility>

namespace otc::host::plugin_host {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  ~UniqueFd() { Reset(); }
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) {
      Reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  int Release() { return std::exchange(fd_, -1); }
  void Reset() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }

 private:
  int fd_ = -1;
};

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_UNIQUE_FD_H_
