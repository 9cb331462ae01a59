// Role: which part of the integration this process plays. One pod, one role;
// the pod is the unit of isolation and of credentials (architecture.md).
#ifndef OTC_HOST_PLUGIN_ROLE_H_
#define OTC_HOST_PLUGIN_ROLE_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace otc::host::plugin_host {

enum class Role { kControllers, kCsiController, kCsiNode, kAll };

inline const char* RoleName(Role role) {
  switch (role) {
    case Role::kControllers:
      return "controllers";
    case Role::kCsiController:
      return "csi-controller";
    case Role::kCsiNode:
      return "csi-node";
    case Role::kAll:
      return "all";
  }
  return "unknown";
}

inline std::vector<std::string> RoleNames() {
  return {"controllers", "csi-controller", "csi-node", "all"};
}

inline std::optional<Role> ParseRole(std::string_view name) {
  for (const Role role : {Role::kControllers, Role::kCsiController, Role::kCsiNode, Role::kAll}) {
    if (name == RoleName(role)) return role;
  }
  return std::nullopt;
}

}  // namespace otc::host::plugin_host

#endif  // OTC_HOST_PLUGIN_ROLE_H_
