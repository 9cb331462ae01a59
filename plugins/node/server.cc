#include "plugins/node/server.h"

#include <utility>

#include "otc/cpp/json.h"
#include "plugins/node/provider_id.h"

namespace otc::node {
namespace {

Status BadAnswer(const std::string& why) {
  return Status(Code::kUnavailable, "BadCloudAnswer", why);
}

void ReadAddresses(const json::Value& server, Server* out, json::Errors* errors) {
  server.Object("addresses", errors)
      .ForEachMember([&](std::string_view vpc, const json::Value& list) {
        for (const json::Value entry : list.AsArray(errors)) {
          const json::Value object = entry.AsObject(errors);
          ServerAddress address;
          address.vpc = LowerCase(vpc);
          address.text = object.String("addr", errors);
          // A missing type means fixed.
          address.floating = object.String("OS-EXT-IPS:type", errors) == "floating";
          address.primary = object.Bool("primary", errors);
          if (!address.text.empty()) out->addresses.push_back(std::move(address));
        }
      });
}

Server ReadServer(const json::Document& document, const json::Value& value) {
  json::Errors errors(document);
  Server server;
  server.id = LowerCase(value.String("id", &errors));
  server.name = value.String("name", &errors);
  server.status = value.String("status", &errors);
  server.zone = value.String("OS-EXT-AZ:availability_zone", &errors);
  const json::Value flavor = value.Object("flavor", &errors);
  server.flavor = flavor.String("id", &errors);
  if (server.flavor.empty()) server.flavor = flavor.String("name", &errors);
  ReadAddresses(value, &server, &errors);
  if (errors.empty() && server.status.empty()) errors.Add(value, "status is missing");
  if (!errors.empty()) server.fault = errors.texts().front();
  return server;
}

}  // namespace

Result<ServerPage> ParseServerPage(std::string_view body, const Wanted& wanted) {
  const auto document = json::Parse(body);
  if (!document.ok()) return BadAnswer(document.status().message());
  const json::Value servers = document->root()["servers"];
  if (!servers.is_array()) return BadAnswer("\"servers\" is missing or no list");
  ServerPage page;
  page.entries = servers.size();
  const json::Value count = document->root()["count"];
  if (count.is_number()) page.count = count.AsInt(nullptr);
  for (const json::Value entry : servers.AsArray(nullptr)) {
    const std::string id = LowerCase(entry.String("id", nullptr));
    if (id.empty()) continue;  // whoever misses this server asks for it by id
    page.ids.push_back(id);
    if (wanted(id, entry.String("name", nullptr))) {
      page.servers.push_back(ReadServer(*document, entry));
    }
  }
  return page;
}

Result<Server> ParseServer(std::string_view body, std::string_view id) {
  const auto document = json::Parse(body);
  if (!document.ok()) return BadAnswer(document.status().message());
  const json::Value value = document->root()["server"];
  if (!value.is_object()) return BadAnswer("\"server\" is missing or no object");
  Server server = ReadServer(*document, value);
  if (server.id != LowerCase(id)) {
    return BadAnswer("asked for server " + std::string(id) + ", got \"" + server.id + "\"");
  }
  return server;
}

bool IsDeletedStatus(std::string_view status) {
  return status == "DELETED" || status == "SOFT_DELETED";
}

bool IsShutDownStatus(std::string_view status) {
  return status == "SHUTOFF" || status == "SHELVED" || status == "SHELVED_OFFLOADED" ||
         status == "PAUSED" || status == "SUSPENDED";
}

}  // namespace otc::node
