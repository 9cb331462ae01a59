#include "host/cli/plugins_command.h"

#include <cstdio>

#include "host/base/strings.h"
#include "host/cli/flag_set.h"
#include "host/cli/run_command.h"
#include "host/plugin/plugin_manager.h"

namespace otc::host::cli {
namespace {

struct PluginsFlags {
  std::string config;
  std::string role;
  std::string plugin_dir;
  std::string output = "table";
  bool allow_debug_plugins = false;
  bool help = false;
};

void Define(PluginsFlags* f, FlagSet* set) {
  set->String("config", &f->config, "host.yaml; empty: the defaults of the role.");
  set->String("role", &f->role, "Wins over host.yaml.");
  set->String("plugin-dir", &f->plugin_dir, "Wins over host.yaml.");
  set->String("output", &f->output, "table or json; also -o.");
  set->Bool("allow-debug-plugins", &f->allow_debug_plugins, "As of the host.");
  set->Bool("help", &f->help, "Print this text.");
  set->Check("output", [f]() -> std::string {
    if (f->output == "table" || f->output == "json") return "";
    return "value \"" + f->output + "\" is not supported: allowed are table and json";
  });
  set->Check("role", [f]() -> std::string {
    if (f->role.empty() || plugin_host::ParseRole(f->role)) return "";
    return "value \"" + f->role + "\" is not supported: allowed are " +
           Join(plugin_host::RoleNames(), ", ");
  });
}

int Fail(const std::string& text) {
  std::fprintf(stderr, "%s\n", text.c_str());
  return kExitUsage;
}

}  // namespace

int PluginsCommand(const std::vector<std::string>& args) {
  PluginsFlags flags;
  FlagSet set;
  Define(&flags, &set);
  std::vector<std::string> spelled;
  for (const std::string& arg : args) spelled.push_back(arg == "-o" ? "--output" : arg);
  const auto errors = set.Parse(spelled);
  if (flags.help) {
    std::fputs(set.Help().c_str(), stdout);
    return kExitOk;
  }
  if (!errors.empty()) return Fail(Join(errors, "\n"));

  plugin_host::HostConfig config;
  if (!flags.config.empty()) {
    auto read = plugin_host::ReadHostConfig(flags.config);
    if (!read.ok()) return Fail(read.status().message());
    config = std::move(read).value();
  }
  const auto role = flags.role.empty() ? config.role.value_or(plugin_host::Role::kControllers)
                                       : *plugin_host::ParseRole(flags.role);
  if (flags.config.empty()) config = plugin_host::DefaultHostConfig(role);
  if (!flags.plugin_dir.empty()) config.plugin_dir = flags.plugin_dir;
  const auto plugins = plugin_host::InspectPlugins(config, role, flags.allow_debug_plugins);
  const std::string text = flags.output == "json" ? plugin_host::RenderPluginJson(plugins)
                                                  : plugin_host::RenderPluginTable(plugins);
  std::fputs(text.c_str(), stdout);
  return kExitOk;
}

}  // namespace otc::host::cli
