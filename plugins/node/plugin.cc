// The node plugin: otc.instances-v2/1 over ECS (see README.md).
#include "otc/cpp/plugin.h"

#include <memory>
#include <string_view>
#include <utility>

#include "plugins/node/describe.h"
#include "plugins/node/settings.h"

namespace otc::node {

class NodePlugin : public Plugin, public InstancesV2 {
 public:
  static Result<std::unique_ptr<NodePlugin>> Create(const Host& host, const Call&,
                                                    std::string_view config) {
    auto settings = ParseSettings(config);
    if (!settings.ok()) return settings.status();
    const auto metrics = DescribeMetrics::Define(host.metrics());
    if (!metrics.ok()) return metrics.status();
    return std::make_unique<NodePlugin>(host, std::move(settings).value(), *metrics);
  }

  NodePlugin(const Host& host, Settings settings, const DescribeMetrics& metrics)
      : host_(host), settings_(std::move(settings)), metrics_(metrics) {}

  // No describe runs meanwhile: that is the ABI's rule for this slot.
  Status Reconfigure(const Call&, std::string_view config) override {
    auto settings = ParseSettings(config);
    if (!settings.ok()) return settings.status();
    settings_ = std::move(settings).value();
    return Status::Ok();
  }

  Status Describe(const plugin::v1::InstanceDescribeRequest& request,
                  InstanceEmitter& out) override {
    return DescribeNodes(request, host_, settings_, metrics_, &memory_, out);
  }

 private:
  const Host host_;
  Settings settings_;
  const DescribeMetrics metrics_;
  DescribeMemory memory_;
};

}  // namespace otc::node

OTC_DEFINE_PLUGIN(otc::node::NodePlugin, otc::InstancesV2Interface<otc::node::NodePlugin>);
