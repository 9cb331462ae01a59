// Answers of ECS as the node plugin reads them: lists and single servers.
// FUZZ_DEPS: otc_node_core
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "plugins/node/addresses.h"
#include "plugins/node/decide.h"
#include "plugins/node/labels.h"
#include "plugins/node/provider_id.h"
#include "plugins/node/server.h"

namespace {

using namespace otc::node;

void Judge(const Server& server) {
  pb::Node node;
  node.set_name("node");
  const Verdict verdict = Found(node, server, Settings(), true, 1);
  const pb::InstanceDescribeResult& result = verdict.result;
  if (result.state() == pb::INSTANCE_STATE_GONE || result.has_proof()) std::abort();
  if (!server.fault.empty() && result.state() != pb::INSTANCE_STATE_UNKNOWN) std::abort();
  for (const std::string& value : {result.metadata().zone(), result.metadata().instance_type()}) {
    if (!value.empty() && !IsLabelValue(value)) std::abort();
  }
  for (const auto& address : result.metadata().addresses()) {
    if (address.type() != "Hostname" && !ParseIp(address.address())) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body(reinterpret_cast<const char*>(data), size);
  const auto page =
      ParseServerPage(body, [](const std::string&, const std::string&) { return true; });
  if (page.ok()) {
    if (page->servers.size() > page->entries) std::abort();
    for (const Server& server : page->servers) Judge(server);
  }
  const std::string id = "00000000-0000-4000-8000-000000000001";
  if (const auto server = ParseServer(body, id); server.ok()) {
    if (server->id != id) std::abort();
    Judge(*server);
  }
  pb::CloudResponse response;
  response.set_outcome(pb::OUTCOME_ANSWERED);
  response.set_http_status(200);
  response.set_body(std::string(body));
  const Verdict verdict = FromGet(pb::Node(), id, response, Settings(), true, 1);
  if (verdict.result.state() == pb::INSTANCE_STATE_GONE &&
      verdict.result.proof().method() != pb::PROOF_METHOD_STATUS_DELETED) {
    std::abort();
  }
  return 0;
}
