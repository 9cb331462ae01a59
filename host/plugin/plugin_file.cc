#include "host/plugin/plugin_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

#include "host/base/strings.h"
#include "sdk/inspect/manifest.h"

namespace otc::host::plugin_host {
namespace {

constexpr char kRuleOpen[] = "LOAD-1";
constexpr char kRuleOwner[] = "LOAD-2";
constexpr char kRuleMemory[] = "LOAD-3";

std::string Mode(mode_t mode) {
  char text[16];
  std::snprintf(text, sizeof(text), "%04o", static_cast<unsigned>(mode & 07777));
  return text;
}

std::string ErrorText(int error) { return std::strerror(error); }

Status Refuse(const std::string& file, Refusal refusal) {
  return RefusalStatus(file, {std::move(refusal)});
}

int OpenBeneath(int directory, const std::string& name, std::uint64_t flags) {
  open_how how{};
  how.flags = flags | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  return static_cast<int>(syscall(SYS_openat2, directory, name.c_str(), &how, sizeof(how)));
}

// What an error of openat2 means to the reader.
Refusal OpenRefusal(int error, const std::string& path) {
  if (error == ENOENT) {
    return {kRuleOpen, "no such file", "the file " + path,
            "install the plugin there, correct pluginDir or id in host.yaml, or remove the entry"};
  }
  if (error == ELOOP) {
    return {kRuleOpen, path + " is a symbolic link", "the file itself (no link takes part)",
            "put the file there, or write its real path into pluginDir"};
  }
  if (error == ENOSYS) {
    return {kRuleOpen, "openat2 is not available", "Linux 5.6 or newer", "update the kernel"};
  }
  return {kRuleOpen, "open " + path + ": " + ErrorText(error), "a readable file",
          "make it readable for the user that otc-host runs as"};
}

Result<std::vector<std::uint8_t>> ReadAll(int fd, std::uint64_t size, const std::string& path) {
  std::vector<std::uint8_t> bytes(size);
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t n =
        pread(fd, bytes.data() + filled, bytes.size() - filled, static_cast<off_t>(filled));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      return Refuse(path, {kRuleOpen, n < 0 ? "read: " + ErrorText(errno) : "it became shorter",
                           "a file that can be read to its end", "copy the plugin again"});
    }
    filled += static_cast<std::size_t>(n);
  }
  return bytes;
}

std::optional<Refusal> CheckFile(const struct stat& status, uid_t user, const std::string& path) {
  if (!S_ISREG(status.st_mode)) {
    return Refusal{kRuleOwner, path + " is not a regular file", "a regular file",
                   "put the plugin's .so there"};
  }
  if (static_cast<std::uint64_t>(status.st_size) > kMaxPluginBytes) {
    return Refusal{kRuleOwner, std::to_string(status.st_size) + " bytes", "at most 64 MiB",
                   "strip the file"};
  }
  return CheckOwnerAndMode(status, false, false, user, path);
}

}  // namespace

Status RefusalStatus(const std::string& file, const std::vector<Refusal>& refusals) {
  std::vector<std::string> parts;
  for (const Refusal& refusal : refusals) {
    parts.push_back(refusal.ToString());
  }
  return Status(Code::kFailedPrecondition, "Refused", file + ": " + Join(parts, " | "));
}

std::optional<Refusal> CheckOwnerAndMode(const struct stat& status, bool directory,
                                         bool read_only_mount, uid_t user,
                                         const std::string& path) {
  // Nobody can change a directory through a mount that is read-only for us, so
  // an emptyDir with mode 0777 is fine when mounted so.
  if (directory && read_only_mount) return std::nullopt;
  const std::string what = directory ? "directory " : "file ";
  if (status.st_uid != 0 && status.st_uid != user) {
    return Refusal{kRuleOwner, what + path + " of user " + std::to_string(status.st_uid),
                   "owner root or user " + std::to_string(user), "chown root " + path};
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return Refusal{kRuleOwner, what + path + " with mode " + Mode(status.st_mode),
                   "no write permission for group and others",
                   "chmod go-w " + path + (directory ? ", or mount it read-only" : "")};
  }
  return std::nullopt;
}

Result<UniqueFd> OpenCheckedDirectory(const std::string& path) {
  const uid_t user = geteuid();
  UniqueFd current(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!current.valid()) return Refuse("/", OpenRefusal(errno, "/"));
  std::string walked = "/";
  std::vector<std::string> parts = Split(path, '/');
  std::erase(parts, "");
  for (std::size_t i = 0;; ++i) {
    struct stat status {};
    struct statvfs mount {};
    if (fstat(current.get(), &status) != 0 || fstatvfs(current.get(), &mount) != 0) {
      return Refuse(walked, OpenRefusal(errno, walked));
    }
    const bool read_only = (mount.f_flag & ST_RDONLY) != 0;
    if (auto refusal = CheckOwnerAndMode(status, true, read_only, user, walked)) {
      return Refuse(path, std::move(*refusal));
    }
    if (i == parts.size()) return current;
    walked += (walked.back() == '/' ? "" : "/") + parts[i];
    UniqueFd next(OpenBeneath(current.get(), parts[i], O_PATH | O_DIRECTORY));
    if (!next.valid()) return Refuse(path, OpenRefusal(errno, walked));
    current = std::move(next);
  }
}

Result<UniqueFd> MakeSealedCopy(const std::string& name, const std::vector<std::uint8_t>& bytes) {
  const auto fail = [&name](const char* what) {
    return Refuse(name, {kRuleMemory, std::string(what) + ": " + ErrorText(errno),
                         "a memory file for a plugin on a noexec mount",
                         "give the container more memory, or mount the plugins without noexec"});
  };
  UniqueFd fd(memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd.valid()) return fail("memfd_create");
  std::size_t written = 0;
  while (written < bytes.size()) {
    const ssize_t n = write(fd.get(), bytes.data() + written, bytes.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return fail("write");
    written += static_cast<std::size_t>(n);
  }
  constexpr int kSeals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE;
  if (fcntl(fd.get(), F_ADD_SEALS, kSeals) != 0) return fail("F_ADD_SEALS");
  return fd;
}

Result<PluginFile> OpenPluginFile(const std::string& directory, const std::string& id) {
  PluginFile file;
  const std::string name = id + ".so";
  file.path = directory + (directory.back() == '/' ? "" : "/") + name;
  if (!inspect::IsPluginId(id)) {
    return Refuse(file.path, {kRuleOpen, "id " + JsonQuote(id), "1 to 63 of a-z 0-9 . -",
                              "correct id in host.yaml"});
  }
  Result<UniqueFd> opened = OpenCheckedDirectory(directory);
  if (!opened.ok()) return opened.status().WithPrefix(file.path + ": ");
  // Not blocking: a FIFO of that name must not stop the host.
  file.fd = UniqueFd(OpenBeneath(opened->get(), name, O_RDONLY | O_NONBLOCK));
  if (!file.fd.valid()) return Refuse(file.path, OpenRefusal(errno, file.path));
  struct stat status {};
  struct statvfs mount {};
  if (fstat(file.fd.get(), &status) != 0 || fstatvfs(file.fd.get(), &mount) != 0) {
    return Refuse(file.path, OpenRefusal(errno, file.path));
  }
  if (auto refusal = CheckFile(status, geteuid(), file.path)) {
    return Refuse(file.path, std::move(*refusal));
  }
  file.device = status.st_dev;
  file.inode = status.st_ino;
  auto bytes = ReadAll(file.fd.get(), static_cast<std::uint64_t>(status.st_size), file.path);
  if (!bytes.ok()) return bytes.status();
  file.bytes = std::move(bytes).value();
  if ((mount.f_flag & ST_NOEXEC) != 0) {
    auto copy = MakeSealedCopy("otc-plugin:" + id, file.bytes);
    if (!copy.ok()) return copy.status();
    file.disk = std::exchange(file.fd, std::move(copy).value());
    file.in_memory = true;
  }
  return file;
}

std::string Sha256Hex(const std::vector<std::uint8_t>& bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1) {
    return "";  // never equal to a pin
  }
  return HexEncode({reinterpret_cast<const char*>(digest.data()), size});
}

std::vector<std::string> ListPluginIds(const std::string& directory) {
  std::vector<std::string> ids;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(opendir(directory.c_str()), closedir);
  if (!dir) return ids;
  while (const dirent* entry = readdir(dir.get())) {
    const std::string_view name = entry->d_name;
    constexpr std::string_view kSuffix = ".so";
    if (name.size() <= kSuffix.size() || name.front() == '.') continue;
    if (name.substr(name.size() - kSuffix.size()) != kSuffix) continue;
    ids.emplace_back(name.substr(0, name.size() - kSuffix.size()));
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace otc::host::plugin_host
