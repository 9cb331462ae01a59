#include "host/plugin/loader.h"

#include <fcntl.h>

#include <algorithm>

#include "host/base/strings.h"
#include "host/plugin/crash_handler.h"
#include "host/plugin/library.h"
#include "host/plugin/probe.h"

namespace otc::host::plugin_host {
namespace {

void CheckAgainstConfig(const PluginConfig& config, const inspect::Manifest& manifest,
                        std::vector<Refusal>* refusals) {
  const auto& provides = manifest.provides;
  for (const std::string& wanted : config.interfaces) {
    if (std::find(provides.begin(), provides.end(), wanted) == provides.end()) {
      refusals->push_back({"LOAD-6", "provides=" + Join(provides, " "),
                           wanted + ", which host.yaml lists in interfaces",
                           "correct interfaces in host.yaml, or install a version that has it"});
    }
  }
  const auto draft = std::find_if(provides.begin(), provides.end(),
                                  [](const std::string& id) { return inspect::IsDraftId(id); });
  if (config.required && draft != provides.end()) {
    refusals->push_back({"ABI-R38", "required: true for a plugin that provides " + *draft,
                         "required: false while an interface is a draft",
                         "set required: false in host.yaml"});
  }
}

}  // namespace

Result<VerifiedPlugin> VerifyPlugin(const PluginConfig& config, const VerifyOptions& options,
                                    VerifiedPlugin* partial) {
  Result<PluginFile> opened = OpenPluginFile(options.plugin_dir, config.id);
  if (!opened.ok()) return opened.status();
  VerifiedPlugin plugin;
  plugin.file = std::move(opened).value();
  std::vector<Refusal> refusals = inspect::CheckPluginFile(
      plugin.file.bytes, {config.id, &options.services, options.allow_debug_plugins}, nullptr,
      &plugin.manifest);
  plugin.sha256 = Sha256Hex(plugin.file.bytes);
  if (!config.sha256.empty() && plugin.sha256 != config.sha256) {
    refusals.push_back({"LOAD-5", "SHA-256 " + plugin.sha256,
                        "SHA-256 " + config.sha256 + ", pinned in host.yaml",
                        "install the pinned file, or correct sha256 in host.yaml"});
  }
  if (refusals.empty()) CheckAgainstConfig(config, plugin.manifest, &refusals);
  std::vector<std::uint8_t>().swap(plugin.file.bytes);  // "= {}" would keep the memory
  const std::string path = plugin.file.path;
  if (!refusals.empty()) {
    if (partial != nullptr) *partial = std::move(plugin);
    return RefusalStatus(path, refusals);
  }
  return plugin;
}

Result<const otc_plugin*> LoadPlugin(const VerifiedPlugin& plugin, const LoadOptions& options,
                                     Clock& clock) {
  const PluginFile& file = plugin.file;
  const std::string before = LoadedAs(file.device, file.inode);
  if (!before.empty()) {
    return RefusalStatus(
        file.path, {{"LOAD-7", "a file that is already loaded as " + before,
                     "a file of its own for each plugin", "copy the file instead of linking it"}});
  }
  OTC_RETURN_IF_ERROR(ProbePlugin(plugin, options.probe_command, options.probe_timeout, clock));
  const UniqueFd& on_disk = file.in_memory ? file.disk : file.fd;
  if (!ClaimFile(file.device, file.inode, plugin.manifest.id,
                 UniqueFd(fcntl(on_disk.get(), F_DUPFD_CLOEXEC, 0)))) {
    return RefusalStatus(file.path, {{"LOAD-7", "a file that was loaded meanwhile",
                                      "a file of its own for each plugin", "restart otc-host"}});
  }
  Result<EntryFunction> entry = OpenLibrary(UniqueFd(fcntl(file.fd.get(), F_DUPFD_CLOEXEC, 0)));
  if (!entry.ok()) return RefusalStatus(file.path, {LoadViolation(entry.status())});
  const otc_plugin* descriptor = nullptr;
  const std::vector<Refusal> refusals = JudgeEntry(*entry, plugin.manifest, &descriptor);
  RecordPluginMapping(reinterpret_cast<const void*>(*entry), plugin.manifest.id,
                      plugin.manifest.version);
  if (!refusals.empty()) return RefusalStatus(file.path, refusals);
  return descriptor;
}

}  // namespace otc::host::plugin_host
