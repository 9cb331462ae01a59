#include "host/controllers/controller_names.h"

#include <algorithm>
#include <optional>

#include "host/base/strings.h"

namespace otc::host {
namespace {

std::optional<ControllerId> Find(const std::string& name) {
  for (const ControllerName& known : AllControllers()) {
    if (name == known.canonical || name == known.alias) return known.id;
  }
  return std::nullopt;
}

std::string WithoutMinus(const std::string& entry) {
  return entry.empty() || entry[0] != '-' ? entry : entry.substr(1);
}

std::string UnknownName(const std::string& entry) {
  std::vector<std::string> names;
  std::vector<std::string> shown = {"*"};
  for (const ControllerName& known : AllControllers()) {
    names.insert(names.end(), {known.canonical, known.alias});
    shown.push_back(std::string(known.canonical) + " (" + known.alias + ")");
  }
  std::string text = "--controllers: \"" + entry + "\" is no controller";
  if (const auto near = Nearest(WithoutMinus(entry), names))
    text += ", did you mean " + *near + "?";
  return text + "; allowed are " + Join(shown, ", ") + ", each also with a leading \"-\"";
}

bool IsEnabled(ControllerId id, const std::vector<std::string>& list) {
  bool all = false;
  for (const std::string& entry : list) {
    if (entry == "*") {
      all = true;
    } else if (Find(WithoutMinus(entry)) == id) {
      return entry[0] != '-';
    }
  }
  return all;
}

}  // namespace

const std::vector<ControllerName>& AllControllers() {
  static const std::vector<ControllerName> names = {
      {ControllerId::kNode, "cloud-node-controller", "cloud-node"},
      {ControllerId::kNodeLifecycle, "cloud-node-lifecycle-controller", "cloud-node-lifecycle"},
      {ControllerId::kService, "service-lb-controller", "service"},
      {ControllerId::kRoute, "node-route-controller", "route"},
  };
  return names;
}

const ControllerName& NameOf(ControllerId id) {
  return *std::find_if(AllControllers().begin(), AllControllers().end(),
                       [id](const ControllerName& name) { return name.id == id; });
}

bool ControllerSelection::Enabled(ControllerId id) const {
  switch (id) {
    case ControllerId::kNode:
      return node;
    case ControllerId::kNodeLifecycle:
      return node_lifecycle;
    case ControllerId::kService:
      return service;
    case ControllerId::kRoute:
      return route;
  }
  return false;
}

Result<ControllerSelection> ParseControllers(const std::vector<std::string>& list) {
  std::vector<std::string> errors;
  for (const std::string& entry : list) {
    if (entry != "*" && !Find(WithoutMinus(entry))) errors.push_back(UnknownName(entry));
  }
  if (!errors.empty()) {
    return Status(Code::kInvalidArgument, "UnknownController", Join(errors, "\n"));
  }
  ControllerSelection selection;
  selection.node = IsEnabled(ControllerId::kNode, list);
  selection.node_lifecycle = IsEnabled(ControllerId::kNodeLifecycle, list);
  selection.service = IsEnabled(ControllerId::kService, list);
  selection.route = IsEnabled(ControllerId::kRoute, list);
  return selection;
}

}  // namespace otc::host
