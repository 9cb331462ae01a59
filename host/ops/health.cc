#include "host/ops/health.h"

#include <algorithm>

namespace otc::host::ops {

void Health::Add(const std::string& name, unsigned endpoints, Check check) {
  std::lock_guard lock(mutex_);
  entries_.push_back({name, endpoints, std::move(check)});
}

Response Health::Serve(Endpoint endpoint, const Request& request) const {
  std::vector<Entry> entries;
  {
    std::lock_guard lock(mutex_);
    for (const Entry& entry : entries_) {
      if ((entry.endpoints & endpoint) != 0) entries.push_back(entry);
    }
  }
  if (entries.empty()) entries.push_back({"ping", endpoint, [] { return Status::Ok(); }});

  const std::vector<std::string> excluded = request.QueryValues("exclude");
  bool failed = false;
  std::string lines;
  for (const Entry& entry : entries) {
    if (std::find(excluded.begin(), excluded.end(), entry.name) != excluded.end()) {
      lines += "[+]" + entry.name + " excluded: ok\n";
      continue;
    }
    const Status status = entry.check();
    failed = failed || !status.ok();
    lines += status.ok() ? "[+]" + entry.name + " ok\n"
                         : "[-]" + entry.name + " failed: " + status.ToString() + "\n";
  }
  const char* name = endpoint == kHealthz ? "healthz" : endpoint == kLivez ? "livez" : "readyz";
  if (failed) return {500, kPlainText, lines + name + " check failed\n"};
  if (request.HasQuery("verbose")) return {200, kPlainText, lines + name + " check passed\n"};
  return {200, kPlainText, "ok"};
}

}  // namespace otc::host::ops
