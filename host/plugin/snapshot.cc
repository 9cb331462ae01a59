#include "host/plugin/snapshot.h"

#include <algorithm>
#include <array>

#include "host/base/clock.h"
#include "host/base/strings.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kColumns = 5;
using Row = std::array<std::string, kColumns>;

std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return ReplaceInvalidUtf8(text);
}

std::string Dash(std::string text) { return text.empty() ? "-" : text; }

std::string InterfaceList(const PluginSnapshot& plugin) {
  std::vector<std::string> ids;
  for (const InterfaceSnapshot& item : plugin.interfaces) {
    const char* mark = !item.known ? " (not served)" : !item.in_use ? " (not in use)" : "";
    ids.push_back(item.id + mark);
  }
  return Join(ids, ", ");
}

std::string ReasonText(const PluginSnapshot& plugin) {
  std::string text = plugin.reason;
  // "create returned OK" and the like explain no problem.
  if (!plugin.reason.empty() && !plugin.message.empty()) text += ": " + plugin.message;
  if (!plugin.pending_change.empty()) {
    text += (text.empty() ? "" : "; ") + ("after a restart: " + plugin.pending_change);
  }
  return text;
}

std::string JsonField(const char* name, const std::string& value) {
  return JsonQuote(name) + ":" + value;
}

std::string PluginJson(const PluginSnapshot& plugin) {
  std::vector<std::string> interfaces;
  for (const InterfaceSnapshot& item : plugin.interfaces) {
    interfaces.push_back("{\"id\":" + JsonQuote(item.id) +
                         ",\"served\":" + (item.known ? "true" : "false") +
                         ",\"inUse\":" + (item.in_use ? "true" : "false") + "}");
  }
  const std::vector<std::string> fields = {
      JsonField("id", JsonQuote(plugin.id)),
      JsonField("file", JsonQuote(plugin.file)),
      JsonField("state", JsonQuote(PluginStateName(plugin.state))),
      JsonField("reason", JsonQuote(plugin.reason)),
      JsonField("message", JsonQuote(plugin.message)),
      JsonField("since", plugin.since_unix_ms == 0
                             ? "null"
                             : JsonQuote(FormatRfc3339(WallFromUnixMillis(plugin.since_unix_ms)))),
      JsonField("version", JsonQuote(plugin.version)),
      JsonField("abi", JsonQuote(plugin.abi)),
      JsonField("build", JsonQuote(plugin.build)),
      JsonField("sha256", JsonQuote(plugin.sha256)),
      JsonField("interfaces", "[" + Join(interfaces, ",") + "]"),
      JsonField("required", plugin.required ? "true" : "false"),
      JsonField("calls", std::to_string(plugin.calls)),
      JsonField("pluginBugs", std::to_string(plugin.plugin_bugs)),
      JsonField("overruns", std::to_string(plugin.overruns)),
      JsonField("pendingChange", JsonQuote(plugin.pending_change)),
  };
  return "{" + Join(fields, ",") + "}";
}

}  // namespace

const char* PluginStateName(PluginState state) {
  switch (state) {
    case PluginState::kDiscovered:
      return "discovered";
    case PluginState::kVerified:
      return "verified";
    case PluginState::kLoaded:
      return "loaded";
    case PluginState::kCreated:
      return "created";
    case PluginState::kStarted:
      return "started";
    case PluginState::kDegraded:
      return "degraded";
    case PluginState::kQuiescing:
      return "quiescing";
    case PluginState::kStopped:
      return "stopped";
    case PluginState::kDisabled:
      return "disabled";
    case PluginState::kFailed:
      return "failed";
    case PluginState::kNotConfigured:
      return "not configured";
  }
  return "unknown";
}

const std::vector<PluginState>& LifeCycleStates() {
  static const std::vector<PluginState> states = {PluginState::kDiscovered, PluginState::kVerified,
                                                  PluginState::kLoaded,     PluginState::kCreated,
                                                  PluginState::kStarted,    PluginState::kDegraded,
                                                  PluginState::kQuiescing,  PluginState::kStopped,
                                                  PluginState::kDisabled,   PluginState::kFailed};
  return states;
}

std::string RenderPluginTable(const std::vector<PluginSnapshot>& plugins) {
  std::vector<Row> rows = {{"NAME", "VERSION", "INTERFACES", "STATE", "REASON"}};
  for (const PluginSnapshot& plugin : plugins) {
    rows.push_back({Printable(plugin.id), Dash(Printable(plugin.version)),
                    Dash(Printable(InterfaceList(plugin))), PluginStateName(plugin.state),
                    Dash(Printable(ReasonText(plugin)))});
  }
  std::array<std::size_t, kColumns> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < kColumns; ++i) {
      out += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    out += row[kColumns - 1] + "\n";
  }
  return out;
}

std::string RenderPluginJson(const std::vector<PluginSnapshot>& plugins) {
  std::vector<std::string> items;
  for (const PluginSnapshot& plugin : plugins) items.push_back(PluginJson(plugin));
  return "{\"plugins\":[" + Join(items, ",") + "]}\n";
}

}  // namespace otc::host::plugin_host
