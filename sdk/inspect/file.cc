#include "sdk/inspect/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace otc::inspect {

Result<std::vector<std::uint8_t>> ReadPluginFile(const std::string& path) {
  const auto failed = [&path](int error) {
    return Status(Code::kNotFound, "NoFile", path + " cannot be read: " + std::strerror(error));
  };
  // A FIFO without a writer must not hold the open.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return failed(errno);
  struct stat info {};
  Status status;
  std::vector<std::uint8_t> bytes;
  if (fstat(fd, &info) != 0) {
    status = failed(errno);
  } else if (!S_ISREG(info.st_mode) || static_cast<std::uint64_t>(info.st_size) > kMaxPluginBytes) {
    status = Status(Code::kInvalidArgument, "NotAFile",
                    path + " is not a regular file of at most 64 MiB");
  } else {
    bytes.resize(static_cast<std::size_t>(info.st_size));
    std::size_t have = 0;
    while (have < bytes.size()) {
      const ssize_t size = read(fd, bytes.data() + have, bytes.size() - have);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) status = failed(errno);
      if (size <= 0) break;
      have += static_cast<std::size_t>(size);
    }
    bytes.resize(have);
  }
  close(fd);
  if (!status.ok()) return status;
  return bytes;
}

}  // namespace otc::inspect
