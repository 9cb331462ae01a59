#include "plugins/node/settings.h"

#include <algorithm>
#include <initializer_list>

#include "otc/cpp/json.h"
#include "plugins/node/provider_id.h"

namespace otc::node {
namespace {

void RefuseUnknown(const json::Value& object, std::initializer_list<std::string_view> known,
                   json::Errors* errors) {
  object.ForEachMember([&](std::string_view name, const json::Value& value) {
    if (std::find(known.begin(), known.end(), name) != known.end()) return;
    std::string list;
    for (const auto one : known) list += (list.empty() ? "" : ", ") + std::string(one);
    errors->Add(value, "unknown setting; known are " + list);
  });
}

void ReadNetwork(const json::Value& network, Settings* settings, json::Errors* errors) {
  RefuseUnknown(network, {"vpc", "internalCIDRs"}, errors);
  settings->vpc = LowerCase(network.String("vpc", errors));
  if (!settings->vpc.empty() && !IsUuid(settings->vpc)) {
    errors->Add(network["vpc"], "\"" + settings->vpc +
                                    "\" is not the id of a VPC (a UUID as the console shows it)");
  }
  for (const json::Value entry : network.Array("internalCIDRs", errors)) {
    const std::string text = entry.AsString(errors);
    if (!entry.is_string()) continue;
    if (const auto cidr = ParseCidr(text)) {
      settings->internal_cidrs.push_back(*cidr);
    } else {
      errors->Add(entry, "\"" + text + "\" is not a CIDR such as 10.0.0.0/16 or fd00::/8");
    }
  }
}

}  // namespace

Result<Settings> ParseSettings(std::string_view config) {
  auto document = json::Parse(config);
  if (!document.ok()) return document.status().WithPrefix("configuration: ");
  json::Errors errors(*document);
  const json::Value root = document->root().AsObject(&errors);
  const json::Value cloud = root.Object("cloud", &errors);
  if (errors.empty() && !cloud.exists()) {
    return Status(Code::kFailedPrecondition, "NotConfigured",
                  "this role has no cloud credentials; the node plugin works in role controllers");
  }
  Settings settings;
  settings.region = cloud.String("region", &errors);
  const json::Value own = root.Object("settings", &errors);
  RefuseUnknown(own, {"network", "ipv6", "externalIPs"}, &errors);
  ReadNetwork(own.Object("network", &errors), &settings, &errors);
  settings.ipv6 = own.Bool("ipv6", &errors, true);
  settings.external_ips = own.Bool("externalIPs", &errors, true);
  if (!errors.empty()) return errors.ToStatus("BadSettings");
  return settings;
}

}  // namespace otc::node
