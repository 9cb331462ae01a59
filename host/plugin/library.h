// Library: dlopen, behind Boost.DLL, and what must be remembered about it.
//
// The dynamic linker remembers the *name* of what it loaded, and that name is
// /proc/self/fd/N here: the descriptor is moved to 900 or above and stays open
// for the life of the process, and no library is ever unloaded. Which files are
// loaded is a property of the process, so the register is too. Thread-safe.
#ifndef OTC_HOST_PLUGIN_LIBRARY_H_
#define OTC_HOST_PLUGIN_LIBRARY_H_

#include <sys/types.h>

#include <string>
#include <vector>

#include "host/plugin/unique_fd.h"
#include "otc/plugin.h"
#include "sdk/include/otc/cpp/status.h"
#include "sdk/inspect/rules.h"

namespace otc::host::plugin_host {

using EntryFunction = const otc_plugin* (*)(const otc_host*);

// The id under which this file was loaded before; empty: it was not.
std::string LoadedAs(dev_t device, ino_t inode);
// Marks it as loaded. False if it already is. `file` is kept open, so that the
// inode's number is not given to another file.
bool ClaimFile(dev_t device, ino_t inode, const std::string& id, UniqueFd file);

// Loads what `fd` refers to and finds the entry. Runs the plugin's constructors.
// UNKNOWN with the linker's text and reason "LoadFailed", or reason "NoEntry".
Result<EntryFunction> OpenLibrary(UniqueFd fd);
// That failure as a broken rule.
inspect::Violation LoadViolation(const Status& failure);

// Calls the entry with an otc_host that holds numbers only, and judges what it
// returned against the manifest (step 10). Empty: accepted, `*descriptor` (may be
// null) is set; it is static data of the plugin.
std::vector<inspect::Violation> JudgeEntry(EntryFunction entry, const inspect::Manifest& manifest,
                                           const otc_plugin** descriptor);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_LIBRARY_H_
