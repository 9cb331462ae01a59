#include "host/plugin/test_support.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "host/plugin/plugin_file.h"

namespace otc::host::plugin_host {
namespace {

namespace fs = std::filesystem;

// The first place that passes the test the host itself makes.
std::string SafeParent() {
  std::vector<std::string> candidates = {OTC_TEST_WORK_DIR};
  for (const char* variable : {"HOME", "XDG_RUNTIME_DIR"}) {
    if (const char* value = std::getenv(variable)) candidates.emplace_back(value);
  }
  candidates.emplace_back("/run");
  for (const std::string& candidate : candidates) {
    std::error_code error;
    const fs::path real = fs::canonical(candidate, error);
    if (!error && OpenCheckedDirectory(real).ok() && access(real.c_str(), W_OK) == 0) return real;
  }
  std::fprintf(stderr,
               "no directory for test plugins: the build directory, HOME, XDG_RUNTIME_DIR and /run "
               "are all writable for others somewhere on their path; build elsewhere than in /tmp "
               "or set HOME\n");
  std::abort();
}

void Copy(const std::string& from, const std::string& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  chmod(to.c_str(), 0644);
}

}  // namespace

SafeDir::SafeDir() {
  std::string name = SafeParent() + "/otc-plugin-test-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) std::abort();
  path_ = name;
}

SafeDir::~SafeDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

void InstallTestPlugin(const std::string& id, const std::string& directory) {
  Copy(std::string(OTC_TEST_PLUGIN_DIR) + "/" + id + ".so", directory + "/" + id + ".so");
}

void InstallBadPlugin(const std::string& id, const std::string& directory) {
  Copy(std::string(OTC_BAD_PLUGIN_DIR) + "/" + id + ".so", directory + "/" + id + ".so");
}

void WriteFile(const std::string& path, const std::string& content, int mode) {
  std::ofstream(path, std::ios::binary) << content;
  chmod(path.c_str(), static_cast<mode_t>(mode));
}

bool AllowDebugPlugins() { return OTC_TEST_ALLOW_DEBUG; }

std::vector<std::string> ProbeCommand() { return {OTC_TEST_PROBE}; }

Status RecordingExchange::Exchange(const cloud::Caller& caller, const plugin::v1::CloudBatch& batch,
                                   const CallContext&, const Put& put) {
  std::uint32_t index = 0;
  for (const auto& request : batch.requests()) {
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(caller.plugin_id + " " + request.service() + " " + request.method() +
                          " " + request.path());
    }
    plugin::v1::CloudResponse response;
    response.set_index(index++);
    response.set_outcome(plugin::v1::OUTCOME_ANSWERED);
    response.set_http_status(200);
    response.set_body(request.path());
    put(response);
  }
  return Status::Ok();
}

std::vector<std::string> RecordingExchange::Requests() const {
  const std::lock_guard lock(mutex_);
  return requests_;
}

bool Eventually(const std::function<bool()>& holds) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

ManagerFixture::ManagerFixture() {
  config.plugin_dir = dir.path();
  inputs.cloud = CloudView{"eu-de", "eu-de_test", {}};
  inputs.cluster = {"test", "uid-of-kube-system"};
}

PluginConfig& ManagerFixture::Add(const std::string& id, const std::string& settings) {
  InstallTestPlugin(id, dir.path());
  PluginConfig plugin;
  plugin.id = id;
  plugin.settings_json = settings;
  config.plugins.push_back(plugin);
  return config.plugins.back();
}

void ManagerFixture::Construct() {
  PluginManagerOptions options;
  options.config = config;
  options.role = role;
  options.inputs = inputs;
  options.host_version = "0.1.0";
  options.allow_debug_plugins = AllowDebugPlugins();
  options.probe_command = ProbeCommand();
  options.callbacks.on_fatal = [this](const Status& status) { fatal.push_back(status); };
  manager = std::make_unique<PluginManager>(
      std::move(options), PluginManagerDeps{clock, log, metrics, random, &exchange});
}

void ManagerFixture::Start() {
  Construct();
  manager->Start();
  ASSERT_TRUE(manager->AwaitIdle(std::chrono::seconds(10)));
}

void ManagerFixture::ReloadSettings(const std::string& settings, const std::string& id) {
  for (PluginConfig& plugin : config.plugins) {
    if (id.empty() || plugin.id == id) plugin.settings_json = settings;
  }
  manager->Reload(config, inputs);
  ASSERT_TRUE(manager->AwaitIdle(std::chrono::seconds(10)));
}

PluginSnapshot ManagerFixture::Plugin(const std::string& id) const {
  for (PluginSnapshot& plugin : manager->Snapshot()) {
    if (id.empty() || plugin.id == id) return plugin;
  }
  return {};
}

int ManagerFixture::CountLines(const std::string& part) const {
  int count = 0;
  for (const std::string& line : log.Lines()) {
    if (line.find(part) != std::string::npos) ++count;
  }
  return count;
}

std::string ManagerFixture::LineWith(const std::string& part) const {
  for (const std::string& line : log.Lines()) {
    const auto at = line.find(part);
    if (at == std::string::npos) continue;
    const std::string rest = line.substr(at + part.size());
    return rest.substr(0, rest.find(' '));
  }
  return "";
}

std::string Script(const std::string& slot, const std::string& words) {
  return "{\"" + slot + "\":\"" + words + "\"}";
}

Status Describe(ManagerFixture& f) {
  CallContext context;
  context.clock = &f.clock;
  return f.manager->Instances()->Describe(
      {}, {}, context, [](const auto&) {}, nullptr);
}

bool AdvanceUntil(ManagerFixture& f, const std::function<bool()>& holds) {
  for (int i = 0; i < 600; ++i) {
    for (int j = 0; j < 20; ++j) {
      if (holds()) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    f.clock.Advance(std::chrono::seconds(1));
  }
  return false;
}

}  // namespace otc::host::plugin_host
