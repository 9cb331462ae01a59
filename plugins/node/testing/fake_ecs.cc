#include "plugins/node/testing/fake_ecs.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace otc::node::testing {
namespace {

constexpr char kPath[] = "/v1/{project_id}/cloudservers/";

std::string QueryValue(const pb::CloudRequest& request, const std::string& key) {
  for (const auto& pair : request.query()) {
    if (pair.key() == key) return pair.value();
  }
  return "";
}

}  // namespace

std::string Uuid(int number) {
  char text[40];
  std::snprintf(text, sizeof(text), "00000000-0000-4000-8000-%012x", static_cast<unsigned>(number));
  return text;
}

std::string FakeServer::ToJson() const {
  if (!raw_json.empty()) {
    return R"({"id":")" + id + R"(","name":")" + name + R"(",)" + raw_json + "}";
  }
  std::string addresses = addresses_json;
  if (addresses.empty()) {
    const long number = std::strtol(id.substr(24).c_str(), nullptr, 16);
    addresses = R"("vpc-1":[{"addr":"10.0.)" + std::to_string(number / 256) + "." +
                std::to_string(number % 256) + R"(","version":"4","OS-EXT-IPS:type":"fixed"}])";
  }
  return R"({"id":")" + id + R"(","name":")" + name + R"(","status":")" + status +
         R"(","flavor":{"id":")" + flavor + R"(","vcpus":"1"},"OS-EXT-AZ:availability_zone":")" +
         zone + R"(","OS-EXT-STS:task_state":null,"addresses":{)" + addresses +
         R"(},"metadata":{"vpc_id":"vpc-1"},"new_in_a_later_release":[1,{"x":null}]})";
}

void FakeEcs::Add(FakeServer server) {
  std::lock_guard lock(mutex_);
  servers_.push_back(std::move(server));
}

void FakeEcs::AddMany(int count, const std::string& prefix) {
  for (int i = 0; i < count; ++i) {
    FakeServer server;
    server.id = Uuid(i);
    server.name = prefix + std::to_string(i);
    Add(std::move(server));
  }
}

FakeServer& FakeEcs::At(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const FakeServer& server) { return server.id == id; });
  if (found == servers_.end()) std::abort();
  return *found;
}

void FakeEcs::Remove(const std::string& id) {
  std::lock_guard lock(mutex_);
  std::erase_if(servers_, [&](const FakeServer& server) { return server.id == id; });
}

void FakeEcs::Clear() {
  std::lock_guard lock(mutex_);
  servers_.clear();
}

pb::CloudResponse FakeEcs::Answer(const pb::CloudRequest& request) {
  std::lock_guard lock(mutex_);
  requests_.push_back(request);
  const bool list = request.path() == std::string(kPath) + "detail";
  ++(list ? lists_ : gets_);
  if (hook_) {
    if (auto answer = hook_(request)) return *answer;
  }
  return list ? List(request) : Get(request.path().substr(sizeof(kPath) - 1));
}

pb::CloudResponse FakeEcs::List(const pb::CloudRequest& request) {
  const std::string name = QueryValue(request, "name");
  std::vector<const FakeServer*> matches;
  for (const FakeServer& server : servers_) {
    if (server.listed && server.name.find(name) != std::string::npos) matches.push_back(&server);
  }
  const std::size_t asked = std::strtoul(QueryValue(request, "limit").c_str(), nullptr, 10);
  const std::size_t limit = std::min(asked, page_cap_);
  const std::size_t page =
      std::max(1ul, std::strtoul(QueryValue(request, "offset").c_str(), nullptr, 10));
  std::string body = "{";
  if (!omit_count_) {
    body += "\"count\":" + std::to_string(count_.value_or(static_cast<long>(matches.size()))) + ",";
  }
  body += "\"servers\":[";
  const std::size_t begin = (page - 1) * limit;
  for (std::size_t i = begin; i < std::min(matches.size(), begin + limit); ++i) {
    body += (i == begin ? "" : ",") + matches[i]->ToJson();
  }
  return harness::ScriptedCloud::Reply(200, body + "]}");
}

pb::CloudResponse FakeEcs::Get(const std::string& id) {
  for (const FakeServer& server : servers_) {
    if (server.id == id && server.present) {
      return harness::ScriptedCloud::Reply(200, R"({"server":)" + server.ToJson() + "}");
    }
  }
  return harness::ScriptedCloud::Absent("Ecs.0114");
}

std::vector<pb::CloudRequest> FakeEcs::requests() const {
  std::lock_guard lock(mutex_);
  return requests_;
}

void FakeEcs::ResetCounts() {
  std::lock_guard lock(mutex_);
  lists_ = gets_ = 0;
  requests_.clear();
}

}  // namespace otc::node::testing
