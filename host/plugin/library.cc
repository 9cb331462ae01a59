#include "host/plugin/library.h"

#include <dlfcn.h>
#include <fcntl.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

// Keeps Boost.Filesystem, which would be a shared library, out.
#define BOOST_DLL_USE_STD_FS
#include <boost/dll/shared_library.hpp>

#include "sdk/inspect/descriptor.h"

namespace otc::host::plugin_host {
namespace {

constexpr int kFirstPluginFd = 900;
constexpr char kEntryName[] = "otc_plugin_entry_v1";

// Files and libraries of this process. Reachable for ever, like what it lists.
struct Register {
  std::mutex mutex;
  std::map<std::pair<dev_t, ino_t>, std::pair<std::string, UniqueFd>> files;
  std::vector<boost::dll::shared_library*> libraries;  // never destroyed: never closed
};

Register& TheRegister() {
  static auto* instance = new Register;
  return *instance;
}

UniqueFd MoveHigh(const UniqueFd& fd) {
  return UniqueFd(fcntl(fd.get(), F_DUPFD_CLOEXEC, kFirstPluginFd));
}

Status LoadFailed(const std::string& text) { return Status(Code::kUnknown, "LoadFailed", text); }

const void* NoService(const otc_host*, otc_str) { return nullptr; }

}  // namespace

std::string LoadedAs(dev_t device, ino_t inode) {
  Register& all = TheRegister();
  const std::lock_guard lock(all.mutex);
  const auto it = all.files.find({device, inode});
  return it == all.files.end() ? "" : it->second.first;
}

bool ClaimFile(dev_t device, ino_t inode, const std::string& id, UniqueFd file) {
  Register& all = TheRegister();
  const std::lock_guard lock(all.mutex);
  return all.files.try_emplace({device, inode}, id, MoveHigh(file)).second;
}

Result<EntryFunction> OpenLibrary(UniqueFd fd) {
  const int high = MoveHigh(fd).Release();
  if (high < 0) {
    return LoadFailed(std::string("no descriptor of 900 or above is free (ulimit -n): ") +
                      std::strerror(errno));
  }
  // `high` is never closed from here on, whether loading succeeds or not.
  const std::string path = "/proc/self/fd/" + std::to_string(high);
  // Boost has no name for NODELETE; the flags are passed to dlopen as they are.
  const auto mode = static_cast<boost::dll::load_mode::type>(RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  try {
    // Destroying the object would close the handle.
    auto* library = new boost::dll::shared_library(path, mode);
    {
      Register& all = TheRegister();
      const std::lock_guard lock(all.mutex);
      all.libraries.push_back(library);
    }
    if (!library->has(kEntryName)) {
      return Status(Code::kUnknown, "NoEntry", std::string("no exported symbol ") + kEntryName);
    }
    return &library->get<const otc_plugin*(const otc_host*)>(kEntryName);
  } catch (const std::exception& error) {
    return LoadFailed(error.what());
  }
}

inspect::Violation LoadViolation(const Status& failure) {
  if (failure.reason() == "NoEntry") {
    return {"LOAD-10", failure.message(), "the exported function " + std::string(kEntryName),
            "define it and export it (otc_add_plugin of the SDK does it)"};
  }
  return {"LOAD-9", failure.message(), "a library that loads with all symbols resolved",
          "build it on Debian 12 or older; see otc-plugin-check"};
}

std::vector<inspect::Violation> JudgeEntry(EntryFunction entry, const inspect::Manifest& manifest,
                                           const otc_plugin** descriptor) {
  otc_host numbers{};
  numbers.struct_size = sizeof(numbers);
  numbers.abi_major = OTC_ABI_MAJOR;
  numbers.abi_minor = OTC_ABI_MINOR;
  numbers.get_service = NoService;
  const otc_plugin* returned = entry(&numbers);
  if (returned == nullptr) {
    return {{"LOAD-10", "otc_plugin_entry_v1 returned NULL", "a descriptor",
             "ask the plugin's author why it refuses this host"}};
  }
  if (descriptor != nullptr) *descriptor = returned;
  return inspect::CheckDescriptor(*returned, manifest);
}

}  // namespace otc::host::plugin_host
