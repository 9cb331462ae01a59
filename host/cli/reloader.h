// Reloader: notices changed files and hands over fresh, valid settings.
//
// Looks at cloud.conf and host.yaml every 4 s, and at once when asked by SIGHUP.
// Files that are wrong, or credentials that the cloud refuses, leave the old
// settings in force; that is logged and counted. Main thread only; Look blocks
// while new credentials are tried (at most 10 s).
#ifndef OTC_HOST_CLI_RELOADER_H_
#define OTC_HOST_CLI_RELOADER_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/base/log.h"
#include "host/base/metrics.h"
#include "host/cli/settings.h"
#include "host/cloud/config_watcher.h"

namespace otc::host::cli {

class Reloader {
 public:
  // Takes the settings into use, all or nothing. UNAVAILABLE: tried again later.
  using Apply = std::function<Status(const Settings&, const CallContext&)>;

  Reloader(const HostFlags& flags, Settings current, Clock& clock, Log& log, Metrics& metrics,
           std::shared_ptr<SecretRedactor> redactor, Apply apply);

  void Look(bool asked);

 private:
  Status Reload();
  void Watch(const std::string& path);

  const HostFlags& flags_;
  Settings current_;
  Clock& clock_;
  Log& log_;
  Counter& applied_;
  Counter& refused_;
  std::shared_ptr<SecretRedactor> redactor_;
  const Apply apply_;
  std::vector<std::unique_ptr<cloud::ConfigWatcher>> watchers_;
  MonoTime next_look_;
};

// Starts a thread that ends the process with `code` after `timeout`, or at once
// when SIGTERM or SIGINT comes again.
void ArmExitTimer(std::chrono::milliseconds timeout, int code);

}  // namespace otc::host::cli

#endif  // OTC_HOST_CLI_RELOADER_H_
