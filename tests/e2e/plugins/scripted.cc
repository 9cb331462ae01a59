// A plugin whose answers are written in its settings, for tests that need a cloud
// to say what OTC never says:
//
//   settings: {nodes: {<name>: {providerID, type, zone, region, labels: {}}}}
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "otc/cpp/json.h"
#include "otc/cpp/plugin.h"

namespace pb = otc::plugin::v1;

class Scripted : public otc::Plugin, public otc::InstancesV2 {
 public:
  static otc::Result<std::unique_ptr<Scripted>> Create(const otc::Host& host, const otc::Call&,
                                                       std::string_view config) {
    auto document = otc::json::Parse(config);
    if (!document.ok()) return document.status();
    return std::make_unique<Scripted>(host, std::move(document).value());
  }

  Scripted(const otc::Host& host, otc::json::Document config)
      : host_(host), config_(std::move(config)) {}

  otc::Status Describe(const pb::InstanceDescribeRequest& request,
                       otc::InstanceEmitter& out) override {
    const otc::json::Value nodes = config_.root()["settings"]["nodes"];
    for (const pb::Node& node : request.nodes()) {
      const otc::json::Value script = nodes[node.name()];
      if (!script.exists()) continue;
      pb::InstanceDescribeResult result;
      result.set_node_name(node.name());
      result.set_node_uid(node.uid());
      result.set_state(pb::INSTANCE_STATE_RUNNING);
      result.set_observed_unix_ms(host_.time().UnixMs());
      pb::InstanceMetadata* metadata = result.mutable_metadata();
      metadata->set_provider_id(script.String("providerID", nullptr));
      metadata->set_instance_type(script.String("type", nullptr));
      metadata->set_zone(script.String("zone", nullptr));
      metadata->set_region(script.String("region", nullptr));
      script["labels"].ForEachMember([&](std::string_view key, otc::json::Value value) {
        (*metadata->mutable_additional_labels())[std::string(key)] = value.AsString(nullptr);
      });
      OTC_RETURN_IF_ERROR(out.Emit(result));
    }
    return otc::Status::Ok();
  }

 private:
  otc::Host host_;
  otc::json::Document config_;
};

OTC_DEFINE_PLUGIN(Scripted, otc::InstancesV2Interface<Scripted>);
