#include "host/election/election_options.h"

#include <unistd.h>

#include <array>
#include <cstdio>

#include "host/base/strings.h"

namespace otc::host {
namespace {

std::string Seconds(Duration duration) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%gs", std::chrono::duration<double>(duration).count());
  return text.data();
}

void CheckPositive(const char* flag, Duration value, std::vector<std::string>* errors) {
  if (value > Duration::zero()) return;
  errors->push_back(std::string(flag) + "=" + Seconds(value) + " must be above zero");
}

}  // namespace

std::vector<std::string> Validate(const ElectionOptions& options) {
  std::vector<std::string> errors;
  CheckPositive("--leader-elect-lease-duration", options.lease_duration, &errors);
  CheckPositive("--leader-elect-renew-deadline", options.renew_deadline, &errors);
  CheckPositive("--leader-elect-retry-period", options.retry_period, &errors);
  if (options.lease_duration <= options.renew_deadline) {
    errors.push_back(
        "--leader-elect-lease-duration=" + Seconds(options.lease_duration) +
        " must be longer than --leader-elect-renew-deadline=" + Seconds(options.renew_deadline));
  }
  if (options.renew_deadline * 10 <= options.retry_period * 12) {
    errors.push_back("--leader-elect-renew-deadline=" + Seconds(options.renew_deadline) +
                     " must be longer than 1.2 times --leader-elect-retry-period=" +
                     Seconds(options.retry_period));
  }
  if (options.resource_lock != "leases") {
    errors.push_back("--leader-elect-resource-lock=" + options.resource_lock +
                     " is not supported, only \"leases\" is");
  }
  if (options.resource_name.empty()) {
    errors.push_back("--leader-elect-resource-name must not be empty");
  }
  if (options.resource_namespace.empty()) {
    errors.push_back("--leader-elect-resource-namespace must not be empty");
  }
  if (options.identity.empty()) {
    errors.push_back("leader election needs an identity of this process");
  }
  return errors;
}

std::string MakeElectionIdentity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') {
    return "unknown-host_" + RandomUuid();
  }
  return std::string(host.data()) + "_" + RandomUuid();
}

}  // namespace otc::host
