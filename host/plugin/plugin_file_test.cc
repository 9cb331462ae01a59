#include "host/plugin/plugin_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include <filesystem>
#include <functional>

#include "host/plugin/test_support.h"

namespace otc::host::plugin_host {
namespace {

namespace fs = std::filesystem;

std::string OpenError(const std::string& directory, const std::string& id) {
  const auto file = OpenPluginFile(directory, id);
  return file.ok() ? "" : file.status().message();
}

bool Has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

struct stat StatOf(mode_t mode, uid_t owner) {
  struct stat status {};
  status.st_mode = mode;
  status.st_uid = owner;
  return status;
}

TEST(OwnerAndMode, OnlyRootAndTheRunningUserMayOwnAndWrite) {
  const auto refused = [](mode_t mode, uid_t owner, bool directory, bool read_only) {
    return CheckOwnerAndMode(StatOf(mode, owner), directory, read_only, 1000, "/x").has_value();
  };
  EXPECT_FALSE(refused(0755, 0, true, false));
  EXPECT_FALSE(refused(0700, 1000, true, false));
  EXPECT_TRUE(refused(0755, 1001, true, false)) << "another user owns it";
  EXPECT_TRUE(refused(0775, 0, true, false)) << "group may write";
  EXPECT_TRUE(refused(0757, 0, true, false)) << "others may write";
  EXPECT_TRUE(refused(01777, 0, true, false)) << "the sticky bit changes nothing";
  EXPECT_FALSE(refused(0644, 0, false, false));
  EXPECT_TRUE(refused(0664, 0, false, false));
  EXPECT_TRUE(refused(0646, 0, false, false));
  EXPECT_TRUE(refused(0644, 7, false, false));
}

TEST(OwnerAndMode, AReadOnlyMountExcusesDirectoriesOnly) {
  EXPECT_FALSE(CheckOwnerAndMode(StatOf(0777, 7), true, true, 1000, "/x").has_value());
  EXPECT_TRUE(CheckOwnerAndMode(StatOf(0777, 7), false, true, 1000, "/x").has_value());
}

TEST(PluginFile, AGoodFileIsReadWhole) {
  const SafeDir dir;
  WriteFile(dir.File("a.so"), "content");
  const auto file = OpenPluginFile(dir.path(), "a");
  ASSERT_TRUE(file.ok()) << file.status().message();
  EXPECT_EQ(std::string(file->bytes.begin(), file->bytes.end()), "content");
  EXPECT_EQ(file->path, dir.File("a.so"));
  EXPECT_FALSE(file->in_memory);
  EXPECT_TRUE((fcntl(file->fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
}

TEST(PluginFile, RefusalsNameFileRuleFoundWantedAndWhatToDo) {
  const SafeDir dir;
  WriteFile(dir.File("a.so"), "x", 0666);
  EXPECT_EQ(
      OpenError(dir.path(), "a"),
      dir.File("a.so") + ": LOAD-2: found file " + dir.File("a.so") +
          " with mode 0666; wanted no write permission for group and others; do: chmod go-w " +
          dir.File("a.so"));
}

TEST(PluginFile, WhatIsNotARegularFileIsRefused) {
  const SafeDir dir;
  EXPECT_TRUE(Has(OpenError(dir.path(), "none"), "LOAD-1: found no such file"));
  fs::create_directory(dir.File("d.so"));
  EXPECT_TRUE(Has(OpenError(dir.path(), "d"), "is not a regular file"));
  ASSERT_EQ(mkfifo(dir.File("f.so").c_str(), 0600), 0);
  EXPECT_TRUE(Has(OpenError(dir.path(), "f"), "is not a regular file"));
  WriteFile(dir.File("real.so"), "x");
  fs::create_symlink(dir.File("real.so"), dir.File("link.so"));
  EXPECT_TRUE(Has(OpenError(dir.path(), "link"), "link.so is a symbolic link"));
  EXPECT_TRUE(Has(OpenError(dir.path(), "../a"), "found id"));
  EXPECT_TRUE(Has(OpenError(dir.path(), "A"), "found id"));
}

TEST(PluginFile, MoreThan64MiBIsRefusedBeforeItIsRead) {
  const SafeDir dir;
  WriteFile(dir.File("a.so"), "");
  fs::resize_file(dir.File("a.so"), kMaxPluginBytes + 1);
  EXPECT_TRUE(Has(OpenError(dir.path(), "a"), "wanted at most 64 MiB"));
}

TEST(PluginFile, EveryDirectoryUpToTheRootIsTested) {
  const SafeDir dir;
  const std::string outer = dir.File("outer");
  const std::string inner = outer + "/inner";
  fs::create_directories(inner);
  WriteFile(inner + "/a.so", "x");
  chmod(outer.c_str(), 0755);
  chmod(inner.c_str(), 0755);
  EXPECT_EQ(OpenError(inner, "a"), "");
  chmod(outer.c_str(), 0777);
  EXPECT_TRUE(Has(OpenError(inner, "a"), "directory " + outer + " with mode 0777"));
  chmod(outer.c_str(), 0755);
  chmod(inner.c_str(), 0775);
  EXPECT_TRUE(Has(OpenError(inner, "a"), "directory " + inner + " with mode 0775"));
}

TEST(PluginFile, ALinkInThePathOfTheDirectoryIsRefused) {
  const SafeDir dir;
  fs::create_directory(dir.File("real"));
  chmod(dir.File("real").c_str(), 0755);
  WriteFile(dir.File("real") + "/a.so", "x");
  fs::create_symlink(dir.File("real"), dir.File("link"));
  EXPECT_TRUE(Has(OpenError(dir.File("link"), "a"), "link is a symbolic link"));
  EXPECT_TRUE(Has(OpenError(dir.File("absent"), "a"), "no such file"));
}

TEST(PluginFile, AFileOfAnotherUserIsRefused) {
  const SafeDir dir;
  WriteFile(dir.File("a.so"), "x");
  if (chown(dir.File("a.so").c_str(), 12345, 12345) != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  if (geteuid() == 12345) GTEST_SKIP() << "this very user";
  EXPECT_TRUE(Has(OpenError(dir.path(), "a"), "a.so of user 12345"));
}

// Runs `body` in a child with mounts of its own; its result is the exit code.
// 77: the machine does not allow that.
int InMountNamespace(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    if (unshare(CLONE_NEWNS) != 0) _exit(77);
    if (mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) _exit(77);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool MountTmpfs(const std::string& at, unsigned long flags) {
  return mount("tmpfs", at.c_str(), "tmpfs", flags, "mode=0777") == 0;
}

TEST(PluginFile, AWritableDirectoryPassesWhenMountedReadOnly) {
  const SafeDir dir;
  const int code = InMountNamespace([&] {
    if (!MountTmpfs(dir.path(), 0)) return 77;
    WriteFile(dir.File("a.so"), "x");
    if (OpenPluginFile(dir.path(), "a").ok()) return 1;  // mode 0777
    if (mount("tmpfs", dir.path().c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, "mode=0777") != 0) {
      return 77;
    }
    return OpenPluginFile(dir.path(), "a").ok() ? 0 : 2;
  });
  if (code == 77) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(code, 0);
}

TEST(PluginFile, OnANoexecMountASealedCopyInMemoryIsUsed) {
  const SafeDir dir;
  const int code = InMountNamespace([&] {
    if (!MountTmpfs(dir.path(), MS_NOEXEC)) return 77;
    chmod(dir.path().c_str(), 0755);
    WriteFile(dir.File("a.so"), "content");
    const auto file = OpenPluginFile(dir.path(), "a");
    if (!file.ok() || !file->in_memory) return 1;
    if (write(file->fd.get(), "y", 1) >= 0) return 2;
    if (ftruncate(file->fd.get(), 0) == 0) return 3;
    char text[16] = {};
    if (pread(file->fd.get(), text, sizeof(text), 0) != 7) return 4;
    std::error_code error;
    const auto name = fs::read_symlink("/proc/self/fd/" + std::to_string(file->fd.get()), error);
    return Has(name.string(), "memfd:otc-plugin:a") && std::string(text) == "content" ? 0 : 5;
  });
  if (code == 77) GTEST_SKIP() << "no mount namespaces here";
  EXPECT_EQ(code, 0);
}

TEST(PluginFile, Sha256IsTheWellKnownOne) {
  EXPECT_EQ(Sha256Hex({'a', 'b', 'c'}),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(PluginFile, ListsNamesOfPluginsOnly) {
  const SafeDir dir;
  for (const char* name : {"b.so", "a.so", ".so", ".hidden.so", "c.so.1", "d"}) {
    WriteFile(dir.File(name), "");
  }
  EXPECT_EQ(ListPluginIds(dir.path()), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(ListPluginIds(dir.File("absent")).empty());
}

}  // namespace
}  // namespace otc::host::plugin_host
