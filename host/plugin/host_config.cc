#include "host/plugin/host_config.h"

#include <algorithm>
#include <functional>

#include "host/base/files.h"
#include "host/base/strings.h"
#include "host/plugin/yaml_document.h"
#include "sdk/inspect/manifest.h"

namespace otc::host::plugin_host {
namespace {

// Ten states each make 200 series of otc_plugin_state, the bound of a metric.
constexpr std::size_t kMaxPlugins = 20;
constexpr std::size_t kMaxSocketPath = 107;  // sun_path without its NUL
constexpr std::int64_t kMinDeadlineMs = 100;
constexpr std::int64_t kMaxDeadlineMs = 600'000;

const std::vector<std::string>& SlotNames() {
  static const std::vector<std::string> names = {
      "create", "start",  "reconfigure", "quiesce", "destroy",   "describe", "get",
      "ensure", "update", "remove",      "watches", "reconcile", "invoke"};
  return names;
}

// Turns nodes into values and keeps every error with its place.
class Reader {
 public:
  explicit Reader(std::vector<YamlProblem>* problems) : problems_(problems) {}

  void Error(YamlPosition at, std::string text) { problems_->push_back({at, std::move(text)}); }

  bool IsMapping(const YamlNode& node, const std::string& what) {
    if (node.kind == YamlNode::Kind::kMapping) return true;
    Error(node.at, what + " must be a mapping (key: value), not " + Describe(node));
    return false;
  }

  // A key's handler gets the value; keys without a handler are errors.
  using Handler = std::function<void(const YamlNode&)>;
  void Mapping(const YamlNode& node, const std::string& what,
               const std::vector<std::pair<std::string, Handler>>& handlers) {
    if (!IsMapping(node, what)) return;
    std::vector<std::string> known;
    for (const auto& [name, handler] : handlers) known.push_back(name);
    for (const YamlEntry& entry : node.entries) {
      const auto found = std::find_if(handlers.begin(), handlers.end(),
                                      [&](const auto& item) { return item.first == entry.key; });
      if (found != handlers.end()) {
        found->second(entry.value);
      } else {
        UnknownKey(entry, what, known);
      }
    }
  }

  void UnknownKey(const YamlEntry& entry, const std::string& what,
                  const std::vector<std::string>& known) {
    const auto nearest = Nearest(entry.key, known);
    Error(entry.at, "unknown key " + JsonQuote(entry.key) + " in " + what +
                        (nearest ? "; did you mean " + *nearest + "?" : "") +
                        " (allowed: " + Join(known, ", ") + ")");
  }

  void Bool(const YamlNode& node, const std::string& what, bool* out) {
    if (!IsType(node, YamlType::kBool)) {
      return Error(node.at, what + " must be true or false, not " + Describe(node));
    }
    *out = ToLower(node.text) == "true";
  }

  // Returns false and reports unless the node is a string.
  bool String(const YamlNode& node, const std::string& what, std::string* out) {
    if (!IsType(node, YamlType::kString)) {
      Error(node.at, what + " must be a string, not " + Describe(node) +
                         (node.kind == YamlNode::Kind::kScalar ? "; put it in quotes" : ""));
      return false;
    }
    *out = node.text;
    return true;
  }

  void Strings(const YamlNode& node, const std::string& what,
               const std::function<void(const std::string&, YamlPosition)>& add) {
    if (node.kind != YamlNode::Kind::kSequence) {
      return Error(node.at, what + " must be a list, not " + Describe(node));
    }
    for (const YamlNode& item : node.items) {
      std::string text;
      if (String(item, "each entry of " + what, &text)) add(text, item.at);
    }
  }

  void StringMap(const YamlNode& node, const std::string& what,
                 const std::function<void(const YamlEntry&, const std::string&)>& add) {
    if (!IsMapping(node, what)) return;
    for (const YamlEntry& entry : node.entries) {
      std::string text;
      if (String(entry.value, what + "." + entry.key, &text)) add(entry, text);
    }
  }

  std::vector<YamlProblem>* problems() { return problems_; }

  static bool IsType(const YamlNode& node, YamlType type) {
    return node.kind == YamlNode::Kind::kScalar && ScalarType(node) == type;
  }
  static std::string Describe(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::kMapping) return "a mapping";
    if (node.kind == YamlNode::Kind::kSequence) return "a list";
    const YamlType type = ScalarType(node);
    if (type == YamlType::kNull) return "nothing";
    return std::string(YamlTypeName(type)) + " (" + JsonQuote(node.text.substr(0, 40)) + ")";
  }

 private:
  std::vector<YamlProblem>* problems_;
};

bool IsLowerHex(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsAbsolutePath(std::string_view path) {
  if (path.empty() || path.front() != '/') return false;
  const auto parts = Split(path, '/');
  return std::none_of(parts.begin(), parts.end(),
                      [](const std::string& part) { return part == "." || part == ".."; });
}

void ReadDeadlines(Reader& reader, const YamlNode& node, PluginConfig* plugin) {
  reader.StringMap(node, "deadlines", [&](const YamlEntry& entry, const std::string& text) {
    const auto& slots = SlotNames();
    if (std::find(slots.begin(), slots.end(), entry.key) == slots.end()) {
      return reader.UnknownKey(entry, "deadlines", slots);
    }
    const auto ms = ParseDurationMillis(text);
    if (!ms || *ms < kMinDeadlineMs || *ms > kMaxDeadlineMs) {
      return reader.Error(entry.value.at, "deadlines." + entry.key + " is " + JsonQuote(text) +
                                              "; allowed are durations from 100ms to 10m");
    }
    plugin->deadlines[entry.key] = std::chrono::milliseconds(*ms);
  });
}

void ReadEndpoint(Reader& reader, const YamlNode& node, PluginConfig* plugin) {
  if (!reader.String(node, "endpoint", &plugin->endpoint) || plugin->endpoint.empty()) return;
  constexpr std::string_view kScheme = "unix://";
  const std::string_view text = plugin->endpoint;
  const std::string_view path =
      text.substr(0, kScheme.size()) == kScheme ? text.substr(kScheme.size()) : "";
  if (!IsAbsolutePath(path) || path.size() > kMaxSocketPath) {
    reader.Error(node.at, "endpoint is " + JsonQuote(text) +
                              "; allowed is unix:///path with a path of at most 107 bytes");
  }
}

void ReadSha256(Reader& reader, const YamlNode& node, PluginConfig* plugin) {
  if (!reader.String(node, "sha256", &plugin->sha256) || plugin->sha256.empty()) return;
  plugin->sha256 = ToLower(plugin->sha256);
  if (plugin->sha256.size() != 64 || !IsLowerHex(plugin->sha256)) {
    reader.Error(node.at, "sha256 must be 64 hexadecimal digits, as sha256sum prints");
  }
}

void ReadWorkers(Reader& reader, const YamlNode& node, PluginConfig* plugin) {
  const auto value = Reader::IsType(node, YamlType::kInt) ? ParseUint(node.text) : std::nullopt;
  if (!value || *value < 1 || *value > 64) {
    return reader.Error(node.at,
                        "workers must be a number from 1 to 64, not " + Reader::Describe(node));
  }
  plugin->workers = static_cast<int>(*value);
}

void ReadPlugin(Reader& reader, const YamlNode& node, HostConfig* config) {
  PluginConfig plugin;
  YamlPosition id_at = node.at;
  const auto interfaces = [&](const YamlNode& value) {
    reader.Strings(value, "interfaces", [&](const std::string& id, YamlPosition at) {
      if (!inspect::IsInterfaceId(id)) {
        reader.Error(at, JsonQuote(id) + " is not an interface id (as otc.instances-v2/1)");
      }
      plugin.interfaces.push_back(id);
    });
  };
  const auto exec_tools = [&](const YamlNode& value) {
    reader.StringMap(value, "execTools", [&](const YamlEntry& entry, const std::string& path) {
      if (!IsAbsolutePath(path)) {
        reader.Error(entry.value.at, "execTools." + entry.key + " must be an absolute path");
      }
      plugin.exec_tools[entry.key] = path;
    });
  };
  const auto defaults = [&](const YamlNode& value) {
    reader.StringMap(value, "defaults", [&](const YamlEntry& entry, const std::string& text) {
      plugin.defaults[entry.key] = text;
    });
  };
  const auto settings = [&](const YamlNode& value) {
    if (Reader::IsType(value, YamlType::kNull)) return;
    if (reader.IsMapping(value, "settings")) {
      plugin.settings_json = YamlToJson(value, reader.problems());
    }
  };
  reader.Mapping(
      node, "an entry of plugins",
      {{"id",
        [&](const YamlNode& value) {
          id_at = value.at;
          reader.String(value, "id", &plugin.id);
        }},
       {"enabled", [&](const YamlNode& v) { reader.Bool(v, "enabled", &plugin.enabled); }},
       {"required", [&](const YamlNode& v) { reader.Bool(v, "required", &plugin.required); }},
       {"sha256", [&](const YamlNode& v) { ReadSha256(reader, v, &plugin); }},
       {"interfaces", interfaces},
       {"workers", [&](const YamlNode& v) { ReadWorkers(reader, v, &plugin); }},
       {"endpoint", [&](const YamlNode& v) { ReadEndpoint(reader, v, &plugin); }},
       {"deadlines", [&](const YamlNode& v) { ReadDeadlines(reader, v, &plugin); }},
       {"execTools", exec_tools},
       {"defaults", defaults},
       {"settings", settings}});
  if (node.kind != YamlNode::Kind::kMapping) return;
  if (!IsValidPluginId(plugin.id)) {
    reader.Error(id_at, "id is " + JsonQuote(plugin.id) +
                            "; wanted: 1 to 63 of a-z 0-9 . - that begin and end with a letter or "
                            "digit, the name of the file without .so");
  } else if (config->Find(plugin.id) != nullptr) {
    reader.Error(id_at, "plugin " + plugin.id + " is listed twice");
  }
  if (plugin.required && !plugin.enabled) {
    reader.Error(node.at, "plugin " + plugin.id +
                              " is required but not enabled; set enabled: true or required: false");
  }
  config->plugins.push_back(std::move(plugin));
}

void ReadPlugins(Reader& reader, const YamlNode& node, HostConfig* config) {
  if (node.kind != YamlNode::Kind::kSequence) {
    return reader.Error(node.at, "plugins must be a list, not " + Reader::Describe(node));
  }
  if (node.items.size() > kMaxPlugins) {
    reader.Error(node.at, "plugins has more than 20 entries");
  }
  for (const YamlNode& item : node.items) ReadPlugin(reader, item, config);
}

void ReadRole(Reader& reader, const YamlNode& node, HostConfig* config) {
  std::string name;
  if (!reader.String(node, "role", &name)) return;
  config->role = ParseRole(name);
  if (!config->role) {
    reader.Error(node.at,
                 "role is " + JsonQuote(name) + "; allowed are " + Join(RoleNames(), ", "));
  }
}

void ReadRoot(Reader& reader, const YamlNode& root, HostConfig* config) {
  const auto plugin_dir = [&](const YamlNode& value) {
    if (reader.String(value, "pluginDir", &config->plugin_dir) &&
        !IsAbsolutePath(config->plugin_dir)) {
      reader.Error(value.at, "pluginDir is " + JsonQuote(config->plugin_dir) +
                                 "; it must be an absolute path without . and ..");
    }
  };
  const auto disable = [&](const YamlNode& value) {
    reader.Strings(value, "disable", [&](const std::string& glob, YamlPosition at) {
      if (glob.empty()) reader.Error(at, "a glob of disable must not be empty");
      config->disable.push_back(glob);
    });
  };
  reader.Mapping(root, "the file",
                 {{"role", [&](const YamlNode& v) { ReadRole(reader, v, config); }},
                  {"pluginDir", plugin_dir},
                  {"disable", disable},
                  {"plugins", [&](const YamlNode& v) { ReadPlugins(reader, v, config); }}});
}

std::string Render(std::vector<YamlProblem> problems, const std::string& file) {
  std::stable_sort(problems.begin(), problems.end(), [](const auto& a, const auto& b) {
    return std::pair(a.at.line, a.at.column) < std::pair(b.at.line, b.at.column);
  });
  std::vector<std::string> lines;
  for (const YamlProblem& problem : problems) {
    lines.push_back(file + ":" + std::to_string(problem.at.line) + ":" +
                    std::to_string(problem.at.column) + ": " + problem.text);
  }
  return Join(lines, "\n");
}

}  // namespace

const PluginConfig* HostConfig::Find(std::string_view id) const {
  const auto it = std::find_if(plugins.begin(), plugins.end(),
                               [&](const PluginConfig& plugin) { return plugin.id == id; });
  return it == plugins.end() ? nullptr : &*it;
}

const std::string* HostConfig::DisabledBy(std::string_view id) const {
  const auto it = std::find_if(disable.begin(), disable.end(),
                               [&](const std::string& glob) { return GlobMatches(glob, id); });
  return it == disable.end() ? nullptr : &*it;
}

Result<HostConfig> ParseHostConfig(std::string_view text, const std::string& file) {
  YamlDocument document = ParseYaml(text);
  HostConfig config;
  Reader reader(&document.problems);
  if (document.root && !Reader::IsType(*document.root, YamlType::kNull)) {
    ReadRoot(reader, *document.root, &config);
  }
  if (document.problems.empty()) return config;
  return Status(Code::kInvalidArgument, "InvalidHostYaml",
                Render(std::move(document.problems), file));
}

Result<HostConfig> ReadHostConfig(const std::string& path) {
  const Result<std::string> text = ReadSmallFile(path, kMaxYamlBytes);
  if (!text.ok()) return text.status();
  return ParseHostConfig(*text, path);
}

HostConfig DefaultHostConfig(Role role) {
  HostConfig config;
  config.role = role;
  if (role == Role::kControllers || role == Role::kAll) {
    PluginConfig node;
    node.id = "node";
    node.required = true;
    config.plugins.push_back(std::move(node));
  }
  return config;
}

bool IsValidPluginId(std::string_view id) { return inspect::IsPluginId(id); }

bool GlobMatches(std::string_view glob, std::string_view text) {
  // Greedy with one point to go back to: the last star seen.
  std::size_t g = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = g++;
      star_text = t;
    } else if (g < glob.size() && (glob[g] == '?' || glob[g] == text[t])) {
      ++g;
      ++t;
    } else if (star != std::string_view::npos) {
      g = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

}  // namespace otc::host::plugin_host
