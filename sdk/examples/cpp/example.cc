// A plugin on the C++ layer: asks the cloud for each node's server by its UUID.
// Small on purpose: one GET for each node, no batching, no proof of absence.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "otc/cpp/plugin.h"

namespace pb = otc::plugin::v1;

class Example : public otc::Plugin, public otc::InstancesV2 {
 public:
  static otc::Result<std::unique_ptr<Example>> Create(const otc::Host& host, const otc::Call&,
                                                      std::string_view /*config*/) {
    return std::make_unique<Example>(host);
  }

  explicit Example(const otc::Host& host) : host_(host) {}

  otc::Status Describe(const pb::InstanceDescribeRequest& request,
                       otc::InstanceEmitter& out) override {
    for (const pb::Node& node : request.nodes()) {
      pb::CloudRequest get;
      get.set_service("ecs");
      get.set_method("GET");
      get.set_path("/v1/{project_id}/cloudservers/" + node.system_uuid());
      get.set_effect(pb::EFFECT_READ);
      get.set_purpose("describe");
      auto answer = host_.cloud().Exchange(out.call(), std::move(get));
      if (!answer.ok()) return answer.status();
      pb::InstanceDescribeResult result;
      result.set_node_name(node.name());
      result.set_node_uid(node.uid());
      result.set_observed_unix_ms(host_.time().UnixMs());
      result.set_state(answer->http_status() == 200 ? pb::INSTANCE_STATE_RUNNING
                                                    : pb::INSTANCE_STATE_UNKNOWN);
      OTC_RETURN_IF_ERROR(out.Emit(result));
    }
    host_.log().Debug(&out.call(), "described nodes");
    return otc::Status::Ok();
  }

 private:
  otc::Host host_;
};

OTC_DEFINE_PLUGIN(Example, otc::InstancesV2Interface<Example>);
