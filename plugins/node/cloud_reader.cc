#include "plugins/node/cloud_reader.h"

#include <utility>

namespace otc::node {
namespace {

namespace pb = otc::plugin::v1;

constexpr char kServers[] = "/v1/{project_id}/cloudservers/";

pb::CloudRequest Get(const std::string& path, const char* purpose, std::uint32_t max_age_ms) {
  pb::CloudRequest request;
  request.set_service("ecs");
  request.set_method("GET");
  request.set_path(path);
  request.set_effect(pb::EFFECT_READ);
  request.set_idempotent(true);
  request.set_purpose(purpose);
  request.set_max_age_ms(max_age_ms);
  return request;
}

void AddQuery(const char* key, std::string value, pb::CloudRequest* request) {
  pb::Pair* pair = request->add_query();
  pair->set_key(key);
  pair->set_value(std::move(value));
}

}  // namespace

Result<pb::CloudResponse> CloudReader::ListPage(std::uint32_t page, std::uint32_t limit,
                                                const std::string& name,
                                                std::uint32_t max_age_ms) const {
  pb::CloudRequest request =
      Get(std::string(kServers) + "detail", name.empty() ? "list" : "find-by-name", max_age_ms);
  AddQuery("limit", std::to_string(limit), &request);
  AddQuery("offset", std::to_string(page), &request);
  if (!name.empty()) AddQuery("name", name, &request);
  return host_.cloud().Exchange(call_, std::move(request));
}

Result<std::vector<pb::CloudResponse>> CloudReader::GetServers(const std::vector<std::string>& ids,
                                                               const char* purpose,
                                                               std::uint32_t max_age_ms) const {
  pb::CloudBatch batch;
  batch.set_max_parallel(kMaxParallel);
  for (const std::string& id : ids) *batch.add_requests() = Get(kServers + id, purpose, max_age_ms);
  return host_.cloud().Exchange(call_, std::move(batch));
}

}  // namespace otc::node
