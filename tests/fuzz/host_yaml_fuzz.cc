// host.yaml: any bytes. What is accepted must keep what the struct promises; what
// is refused must say where.
// FUZZ_DEPS: otc_plugin_host
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "host/base/strings.h"
#include "host/plugin/host_config.h"

namespace {

using namespace otc::host;
using namespace otc::host::plugin_host;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Brackets and quotes of the JSON text are balanced and it is UTF-8: a cheap
// stand-in for a parser.
bool LooksLikeAnObject(const std::string& json) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (static_cast<unsigned char>(c) < 0x20) return false;
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    if (depth == 0 && i + 1 != json.size()) return false;
  }
  return depth == 0 && !quoted && json.front() == '{' && IsValidUtf8(json);
}

void CheckPlugin(const PluginConfig& plugin) {
  Require(IsValidPluginId(plugin.id));
  Require(plugin.workers >= 1 && plugin.workers <= 64);
  Require(plugin.sha256.empty() || plugin.sha256.size() == 64);
  Require(!(plugin.required && !plugin.enabled));
  Require(LooksLikeAnObject(plugin.settings_json));
  for (const auto& [slot, deadline] : plugin.deadlines) {
    Require(deadline >= std::chrono::milliseconds(100) && deadline <= std::chrono::minutes(10));
  }
  for (const auto& [tool, path] : plugin.exec_tools) Require(!path.empty() && path[0] == '/');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parsed = ParseHostConfig({reinterpret_cast<const char*>(data), size}, "f");
  if (!parsed.ok()) {
    for (const std::string& line : Split(parsed.status().message(), '\n')) {
      Require(line.substr(0, 2) == "f:");
    }
    return 0;
  }
  Require(!parsed->plugin_dir.empty() && parsed->plugin_dir[0] == '/');
  Require(parsed->plugins.size() <= 20);
  for (const PluginConfig& plugin : parsed->plugins) CheckPlugin(plugin);
  for (const std::string& glob : parsed->disable) GlobMatches(glob, "loadbalancer");
  return 0;
}
