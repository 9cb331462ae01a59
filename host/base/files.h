// Reading whole small files: credentials, certificates, configuration.
#ifndef OTC_HOST_BASE_FILES_H_
#define OTC_HOST_BASE_FILES_H_

#include <string>

#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

// NOT_FOUND "FileMissing", PERMISSION_DENIED "FileUnreadable" or
// INVALID_ARGUMENT "FileTooLarge",
// each naming the path and never the content.
Result<std::string> ReadSmallFile(const std::string& path, std::size_t max_bytes = 1u << 20);

}  // namespace otc::host

#endif  // OTC_HOST_BASE_FILES_H_
