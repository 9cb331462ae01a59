// cloud.conf: no input may crash, and a secret never shows up in an error.
// FUZZ_DEPS: otc_cloud
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/base/strings.h"
#include "host/cloud/cloud_config.h"
#include "host/cloud/ini.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = otc::host::cloud::ParseCloudConfig(text, "cloud.conf");
  if (config.ok()) {
    if (config->region.empty() || config->project_name.empty()) std::abort();
    return 0;
  }
  if (config.status().message().empty()) std::abort();
  if (!otc::host::IsValidUtf8(config.status().message())) std::abort();
  // The value that the reader sees for secret-key must not be in the message.
  for (const auto& section : otc::host::cloud::ParseIni(text).sections) {
    for (const auto& entry : section.entries) {
      const std::string secret(otc::host::TrimSpace(entry.value));
      if (otc::host::EqualsIgnoreCase(section.name, "Global") &&
          otc::host::EqualsIgnoreCase(entry.key, "secret-key") && secret.size() >= 24 &&
          config.status().message().find(secret) != std::string::npos) {
        std::abort();
      }
    }
  }
  return 0;
}
