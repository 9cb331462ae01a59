// Reads a plugin file into memory, for tools and tests. (The host's loader maps
// the descriptor that it later loads instead.)
#ifndef OTC_SDK_INSPECT_FILE_H_
#define OTC_SDK_INSPECT_FILE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "otc/cpp/status.h"

namespace otc::inspect {

inline constexpr std::uint64_t kMaxPluginBytes = 64u << 20;

// NOT_FOUND `NoFile` if it cannot be read, INVALID_ARGUMENT `NotAFile` for other
// things than regular files and above 64 MiB, the limit of the loading rules.
Result<std::vector<std::uint8_t>> ReadPluginFile(const std::string& path);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_FILE_H_
