// A plugin that knows nothing of any server, and says so.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "otc/cpp/json.h"
#include "otc/cpp/plugin.h"

namespace pb = otc::plugin::v1;

class Hello : public otc::Plugin, public otc::InstancesV2 {
 public:
  static otc::Result<std::unique_ptr<Hello>> Create(const otc::Host& host, const otc::Call&,
                                                    std::string_view config) {
    auto document = otc::json::Parse(config);
    if (!document.ok()) return document.status();
    otc::json::Errors errors(*document);
    const otc::json::Value settings = document->root().Object("settings", &errors);
    const std::string greeting = settings.String("greeting", &errors, "hello");
    OTC_RETURN_IF_ERROR(errors.ToStatus("BadSettings"));
    return std::make_unique<Hello>(host, greeting);
  }

  Hello(const otc::Host& host, std::string greeting)
      : host_(host), greeting_(std::move(greeting)) {}

  otc::Status Describe(const pb::InstanceDescribeRequest& request,
                       otc::InstanceEmitter& out) override {
    for (const pb::Node& node : request.nodes()) {
      OTC_RETURN_IF_ERROR(out.call().Cancelled());
      pb::InstanceDescribeResult result;
      result.set_node_name(node.name());
      result.set_node_uid(node.uid());
      result.set_state(pb::INSTANCE_STATE_UNKNOWN);
      result.set_reason("NothingKnown");
      result.set_message(greeting_);
      result.set_observed_unix_ms(host_.time().UnixMs());
      OTC_RETURN_IF_ERROR(out.Emit(result));
    }
    host_.log().Info(&out.call(), "described nodes");
    return otc::Status::Ok();
  }

 private:
  otc::Host host_;
  std::string greeting_;
};

OTC_DEFINE_PLUGIN(Hello, otc::InstancesV2Interface<Hello>);
