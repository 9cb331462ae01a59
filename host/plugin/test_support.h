// What the tests of the plugin manager share: a place for plugin files that the
// loading rules accept, the test plugins, a cloud that records, and a manager
// with all its parts.
#ifndef OTC_HOST_PLUGIN_TEST_SUPPORT_H_
#define OTC_HOST_PLUGIN_TEST_SUPPORT_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "host/base/fake_clock.h"
#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/base/random.h"
#include "host/cloud/exchange.h"
#include "host/plugin/plugin_manager.h"

namespace otc::host::plugin_host {

// A fresh directory, removed at the end, below one that only root or this user
// can write to (a build below /tmp would not do). Aborts with advice if the
// machine has no such place.
class SafeDir {
 public:
  SafeDir();
  ~SafeDir();
  SafeDir(const SafeDir&) = delete;
  SafeDir& operator=(const SafeDir&) = delete;

  const std::string& path() const { return path_; }
  std::string File(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// Copies a built plugin as `id`.so (mode 0644); every copy is a file of its own.
void InstallTestPlugin(const std::string& id, const std::string& directory);
// The same for one of sdk/testdata/bad.
void InstallBadPlugin(const std::string& id, const std::string& directory);
void WriteFile(const std::string& path, const std::string& content, int mode = 0644);

// Sanitizer builds make sanitized plugins, whose manifests say so.
bool AllowDebugPlugins();
std::vector<std::string> ProbeCommand();

// Answers every request with 200 and its path; remembers the callers.
class RecordingExchange final : public cloud::CloudExchange {
 public:
  Status Exchange(const cloud::Caller& caller, const plugin::v1::CloudBatch& batch,
                  const CallContext& context, const Put& put) override;
  std::vector<std::string> Requests() const;  // "plugin ecs GET /v1/…"

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> requests_;
};

// Waits for `holds` in real time, at most 10 s.
bool Eventually(const std::function<bool()>& holds);

// A plugin directory, a manager over it, and everything the manager needs.
struct ManagerFixture {
  SafeDir dir;
  FakeClock clock;
  MemoryLog log;
  Metrics metrics;
  FixedRandom random;
  RecordingExchange exchange;
  HostConfig config;
  ConfigInputs inputs;
  Role role = Role::kControllers;
  std::vector<Status> fatal;
  std::unique_ptr<PluginManager> manager;

  ManagerFixture();
  // Installs test plugin `id` and lists it with these settings (JSON).
  PluginConfig& Add(const std::string& id, const std::string& settings = "{}");
  void Construct();
  // Construct and start; waits until everything due is done.
  void Start();
  // With the settings of the only, or the named, plugin replaced.
  void ReloadSettings(const std::string& settings, const std::string& id = "");

  PluginSnapshot Plugin(const std::string& id = "") const;
  PluginState State(const std::string& id = "") const { return Plugin(id).state; }
  int CountLines(const std::string& part) const;
  // Text behind the first line that holds `part`, up to the next blank or end.
  std::string LineWith(const std::string& part) const;
};

// Settings with a script for a slot of the scripted plugin (testdata/scripted.c).
std::string Script(const std::string& slot, const std::string& words);
// Describes no nodes; what counts is how the call ends.
Status Describe(ManagerFixture& f);
// Moves the fake clock until `holds`, at most ten minutes in steps of a second.
bool AdvanceUntil(ManagerFixture& f, const std::function<bool()>& holds);

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_TEST_SUPPORT_H_
