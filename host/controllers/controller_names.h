// The names that --controllers knows, and which of them a list switches on.
//
// As in every cloud controller manager: the first entry that names a controller
// decides ("service" on, "-service" off), "*" stands for all that are not named;
// without "*" nothing else is on. Each controller has a canonical name and an
// alias of older releases.
#ifndef OTC_HOST_CONTROLLERS_CONTROLLER_NAMES_H_
#define OTC_HOST_CONTROLLERS_CONTROLLER_NAMES_H_

#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"

namespace otc::host {

enum class ControllerId { kNode, kNodeLifecycle, kService, kRoute };

struct ControllerName {
  ControllerId id;
  const char* canonical;  // in --controllers and health checks
  const char* alias;      // also accepted; label of running_managed_controllers
};

const std::vector<ControllerName>& AllControllers();
const ControllerName& NameOf(ControllerId id);

struct ControllerSelection {
  bool node = true;
  bool node_lifecycle = true;
  bool service = true;
  bool route = true;

  bool Enabled(ControllerId id) const;
};

// INVALID_ARGUMENT names every unknown entry at once, with the allowed names.
Result<ControllerSelection> ParseControllers(const std::vector<std::string>& list);

}  // namespace otc::host

#endif  // OTC_HOST_CONTROLLERS_CONTROLLER_NAMES_H_
