// PluginFile: opening a plugin so that what was checked is what is loaded.
//
// Steps 1 to 3 of the loading list (docs/reference/plugin-abi.md §11): every
// directory from / down to the plugin directory and the file itself must belong
// to root or the running user and be writable for nobody else; no symbolic link
// takes part; on a noexec mount the content goes into a sealed memory file. The
// descriptor that comes out is the only thing the later steps look at.
//
// Any thread. Each failure is a Refusal with file, rule, found, wanted, advice.
#ifndef OTC_HOST_PLUGIN_PLUGIN_FILE_H_
#define OTC_HOST_PLUGIN_PLUGIN_FILE_H_

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "host/plugin/unique_fd.h"
#include "sdk/include/otc/cpp/status.h"
#include "sdk/inspect/rules.h"

namespace otc::host::plugin_host {

inline constexpr std::uint64_t kMaxPluginBytes = 64u << 20;

// Why a plugin is not loaded: rule, found, wanted, advice. Final until the
// process restarts.
using Refusal = inspect::Violation;

// FAILED_PRECONDITION, reason "Refused": "<file>: <rule>: found …; wanted …; do: …",
// one sentence a refusal.
Status RefusalStatus(const std::string& file, const std::vector<Refusal>& refusals);

// The owner and mode test of step 2, for the file (`directory` false) and for
// each directory. `user` is the running user.
std::optional<Refusal> CheckOwnerAndMode(const struct stat& status, bool directory,
                                         bool read_only_mount, uid_t user, const std::string& path);

// Opens a directory component by component from /, without symbolic links, and
// tests each. The descriptor is good for openat.
Result<UniqueFd> OpenCheckedDirectory(const std::string& path);

struct PluginFile {
  std::string path;  // pluginDir/<id>.so
  UniqueFd fd;       // the file, or the sealed memory file
  bool in_memory = false;
  UniqueFd disk;  // in_memory: the file that was copied
  // Of the file on disk, also when it was copied: what "already loaded" means.
  dev_t device = 0;
  ino_t inode = 0;
  std::vector<std::uint8_t> bytes;  // the whole content, as read from `fd`
};

// Steps 1 to 3 for `directory`/<id>.so.
Result<PluginFile> OpenPluginFile(const std::string& directory, const std::string& id);

// The content of a sealed memory file is that of `bytes` and can't change.
Result<UniqueFd> MakeSealedCopy(const std::string& name, const std::vector<std::uint8_t>& bytes);

// Lower-case hex SHA-256.
std::string Sha256Hex(const std::vector<std::uint8_t>& bytes);

// Names "<id>.so" in the directory, sorted; empty if it can't be read.
std::vector<std::string> ListPluginIds(const std::string& directory);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_PLUGIN_FILE_H_
