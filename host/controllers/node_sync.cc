#include "host/controllers/node_sync.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <utility>

#include "host/controllers/describe.h"
#include "host/controllers/node_names.h"
#include "host/controllers/node_patches.h"

namespace otc::host {
namespace {

// Runs `work(0)` … `work(count - 1)`, each once, on at most `threads` threads
// (this one included).
void ForEach(std::size_t count, int threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  const auto loop = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::thread> helpers;
  const std::size_t wanted = std::min<std::size_t>(count, static_cast<std::size_t>(threads));
  for (std::size_t i = 1; i < wanted; ++i) helpers.emplace_back(loop);
  loop();
  for (std::thread& helper : helpers) helper.join();
}

}  // namespace

NodeSync::NodeSync(const ControllerDeps& deps, const NodeControllerOptions& options)
    : deps_(deps),
      options_(options),
      writer_(deps.api, deps.gate, deps.random, options.write_timeout) {}

void NodeSync::SyncAll(const CallContext& context) {
  std::vector<kube::NodePtr> nodes = deps_.nodes.List();
  std::erase_if(nodes, [](const kube::NodePtr& node) { return IsUninitialized(*node); });

  DescribeOptions describe;
  describe.want_metadata = true;
  std::vector<Change> changes;
  std::size_t unknown = 0;
  std::string example;
  const Status status = DescribeNodes(
      *deps_.instances, nodes, describe, context.WithTimeout(options_.describe_timeout),
      deps_.events, kNodeComponent,
      [&](const kube::NodePtr& node, const plugin::v1::InstanceDescribeResult& result) {
        if (result.state() == plugin::v1::INSTANCE_STATE_UNKNOWN && unknown++ == 0) {
          example = node->meta.name + ": " + AnswerText(result);
        }
        const bool known = result.state() == plugin::v1::INSTANCE_STATE_RUNNING ||
                           result.state() == plugin::v1::INSTANCE_STATE_SHUT_DOWN;
        if (!known || !result.has_metadata()) return;
        Change change = Plan(*node, result.metadata());
        if (!change.labels.empty() || !change.addresses.empty()) {
          changes.push_back(std::move(change));
        }
      });
  if (!status.ok()) deps_.log.Warn("describing nodes failed", {{"why", status}});
  if (unknown > 0) {
    deps_.log.Warn("some nodes are not known to the cloud at present",
                   {{"nodes", std::uint64_t{unknown}}, {"example", example}});
  }
  const int threads = options_.concurrent_status_updates > 0 ? options_.concurrent_status_updates
                                                             : options_.concurrent_syncs;
  ForEach(changes.size(), threads, [&](std::size_t i) { Write(changes[i], context); });
}

NodeSync::Change NodeSync::Plan(const kube::Node& node,
                                const plugin::v1::InstanceMetadata& metadata) {
  Change change;
  change.name = node.meta.name;
  change.labels = PlanLabelCorrection(node, metadata);
  Result<AddressList> wanted = WantedAddresses(node, CloudAddresses(metadata));
  if (!wanted.ok()) {
    deps_.log.Warn("addresses left as they are",
                   {{"node", node.meta.name}, {"why", wanted.status()}});
  } else if (!wanted->empty() && AddressesDiffer(node.addresses, *wanted)) {
    change.addresses = std::move(*wanted);
  }
  return change;
}

void NodeSync::Write(const Change& change, const CallContext& context) {
  if (!change.labels.empty()) {
    LogWrite(deps_.log, "labels corrected", change.name,
             writer_.MergePatch(change.name, LabelsPatch(change.labels), "", context));
  }
  if (!change.addresses.empty()) {
    LogWrite(deps_.log, "addresses written", change.name,
             writer_.MergePatch(change.name, AddressesPatch(change.addresses), "status", context));
  }
}

}  // namespace otc::host
