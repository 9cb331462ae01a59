#include "host/base/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace otc::host {
namespace {

Status Unreadable(const std::string& path, int error) {
  const bool missing = error == ENOENT || error == ENOTDIR;
  return Status(missing ? Code::kNotFound : Code::kPermissionDenied,
                missing ? "FileMissing" : "FileUnreadable",
                "cannot read " + path + ": " + std::strerror(error));
}

}  // namespace

Result<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Unreadable(path, errno);
  std::string content;
  char buffer[16384];
  Status status;
  while (status.ok()) {
    const ssize_t got = read(fd, buffer, sizeof(buffer));
    if (got == 0) break;
    if (got < 0) {
      if (errno == EINTR) continue;
      status = Unreadable(path, errno);
    } else if (content.size() + static_cast<std::size_t>(got) > max_bytes) {
      status = Status(Code::kInvalidArgument, "FileTooLarge",
                      path + " is larger than " + std::to_string(max_bytes) + " bytes");
    } else {
      content.append(buffer, static_cast<std::size_t>(got));
    }
  }
  close(fd);
  if (!status.ok()) return status;
  return content;
}

}  // namespace otc::host
