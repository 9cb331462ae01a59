#include "plugins/node/describe.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugins/node/cloud_reader.h"
#include "plugins/node/decide.h"
#include "plugins/node/provider_id.h"
#include "plugins/node/server_list.h"

namespace otc::node {
namespace {

const char* StateName(pb::InstanceState state) {
  switch (state) {
    case pb::INSTANCE_STATE_RUNNING:
      return "running";
    case pb::INSTANCE_STATE_SHUT_DOWN:
      return "shut_down";
    case pb::INSTANCE_STATE_GONE:
      return "gone";
    case pb::INSTANCE_STATE_FOREIGN:
      return "foreign";
    default:
      return "unknown";
  }
}

// One question for one server.
struct Lookup {
  std::string server_id;
  std::vector<const pb::Node*> nodes;  // with this server as providerID; or
  const pb::Node* by_uuid = nullptr;   // a new node with this system UUID
};

class Description {
 public:
  Description(const pb::InstanceDescribeRequest& request, const Host& host,
              const Settings& settings, const DescribeMetrics& metrics, DescribeMemory* memory,
              InstanceEmitter& out)
      : request_(request),
        host_(host),
        settings_(settings),
        metrics_(metrics),
        memory_(memory),
        out_(out),
        reader_(host, out.call()) {}

  Status Run() {
    OTC_RETURN_IF_ERROR(SortNodes());
    if (Few(by_id_.size() + by_name_.size())) {
      OTC_RETURN_IF_ERROR(AskDirectly());
      OTC_RETURN_IF_ERROR(SearchNames());
    } else {
      OTC_RETURN_IF_ERROR(ReadList());
    }
    return LookUpTheRest();
  }

 private:
  using ByName = std::map<std::string, std::vector<Server>>;

  Status SortNodes() {
    for (const pb::Node& node : request_.nodes()) {
      const ProviderId id = ParseProviderId(node.provider_id());
      if (id.kind == ProviderIdKind::kOurs) {
        by_id_[id.server_id].push_back(&node);
      } else if (id.kind == ProviderIdKind::kNone) {
        by_name_.push_back(&node);
      } else {
        OTC_RETURN_IF_ERROR(
            Say(Foreign(node, id.kind == ProviderIdKind::kMalformed, host_.time().UnixMs())));
      }
    }
    return Status::Ok();
  }

  bool Few(std::size_t count) const {
    return count <= std::clamp<std::uint32_t>(memory_->list_pages.load(), 1, kMaxFew);
  }

  // A GET for each node. Leaves in by_id_ what a cached answer called gone, and in
  // by_name_ the new nodes whose server is not the one with their system UUID.
  Status AskDirectly() {
    std::vector<Lookup> lookups;
    for (const auto& [id, nodes] : by_id_) lookups.push_back({id, nodes, nullptr});
    AddUuids(&lookups);
    by_id_.clear();
    uuids_asked_ = request_.max_age_ms() == 0;
    return Ask(lookups, "describe", request_.max_age_ms());
  }

  void AddUuids(std::vector<Lookup>* lookups) const {
    for (const pb::Node* node : by_name_) {
      if (!IsUuid(node->system_uuid())) continue;
      lookups->push_back({LowerCase(node->system_uuid()), {}, node});
    }
  }

  // Asks for the servers of `lookups` and says what is certain. Answers from a
  // cache prove nothing: such absences go back to by_id_.
  Status Ask(const std::vector<Lookup>& lookups, const char* purpose, std::uint32_t max_age_ms) {
    for (std::size_t begin = 0; begin < lookups.size(); begin += kLookupsAtOnce) {
      const std::size_t end = std::min(lookups.size(), begin + kLookupsAtOnce);
      std::vector<std::string> ids;
      for (std::size_t i = begin; i < end; ++i) ids.push_back(lookups[i].server_id);
      const std::int64_t observed = host_.time().UnixMs();
      const auto responses = reader_.GetServers(ids, purpose, max_age_ms);
      if (!responses.ok()) return responses.status();
      metrics_.single_reads.Record(static_cast<double>(ids.size()), {purpose});
      for (std::size_t i = begin; i < end; ++i) {
        OTC_RETURN_IF_ERROR(Take(lookups[i], (*responses)[i - begin], max_age_ms > 0, observed));
      }
    }
    return Status::Ok();
  }

  Status Take(const Lookup& lookup, const pb::CloudResponse& response, bool maybe_cached,
              std::int64_t observed) {
    if (lookup.by_uuid != nullptr) return TakeByUuid(*lookup.by_uuid, response, observed);
    for (const pb::Node* node : lookup.nodes) {
      Verdict verdict =
          FromGet(*node, lookup.server_id, response, settings_, request_.want_metadata(), observed);
      if (maybe_cached && verdict.result.state() == pb::INSTANCE_STATE_GONE) {
        by_id_[lookup.server_id].push_back(node);
      } else {
        OTC_RETURN_IF_ERROR(Say(verdict));
      }
    }
    return Status::Ok();
  }

  // The server with a new node's system UUID is its server if it has its name too.
  Status TakeByUuid(const pb::Node& node, const pb::CloudResponse& response,
                    std::int64_t observed) {
    if (!AnswerProblem(response).ok()) return Status::Ok();
    const auto server = ParseServer(response.body(), node.system_uuid());
    if (!server.ok() || server->name != node.name() || IsDeletedStatus(server->status)) {
      return Status::Ok();
    }
    by_name_.erase(std::remove(by_name_.begin(), by_name_.end(), &node), by_name_.end());
    return Say(Found(node, *server, settings_, request_.want_metadata(), observed));
  }

  // The few new nodes that are left, each by a search for its name.
  Status SearchNames() {
    const std::vector<const pb::Node*> nodes = by_name_;
    for (const pb::Node* node : nodes) {
      ByName found;
      found[node->name()];
      const std::int64_t observed = host_.time().UnixMs();
      const ListWalk walk = Walk(node->name(), &found, observed);
      if (!walk.status.ok()) return walk.status;
      OTC_RETURN_IF_ERROR(Match(found, {node}, observed));
    }
    return Status::Ok();
  }

  Status ReadList() {
    ByName found;
    for (const pb::Node* node : by_name_) found[node->name()];
    const std::int64_t observed = host_.time().UnixMs();
    const ListWalk walk = Walk("", &found, observed);
    if (!walk.status.ok()) return walk.status;
    memory_->list_pages = walk.pages;
    return Match(found, by_name_, observed);
  }

  // Says at once what is seen of nodes with a providerID; gathers in `found` the
  // servers with a wanted name.
  ListWalk Walk(const std::string& name, ByName* found, std::int64_t observed) {
    const ReadPage read = [&](std::uint32_t page, std::uint32_t limit) {
      auto response = reader_.ListPage(page, limit, name, request_.max_age_ms());
      if (response.ok()) metrics_.list_pages.Record(1);
      return response;
    };
    const Wanted wanted = [&](const std::string& id, const std::string& server_name) {
      return by_id_.count(id) != 0 || found->count(server_name) != 0;
    };
    const TakeServer take = [&](const Server& server) -> Status {
      if (IsDeletedStatus(server.status)) return Status::Ok();  // the GET decides
      if (const auto named = found->find(server.name); named != found->end()) {
        auto& list = named->second;
        const bool twice = std::any_of(list.begin(), list.end(),
                                       [&](const Server& other) { return other.id == server.id; });
        if (!twice) list.push_back(server);
      }
      const auto nodes = by_id_.find(server.id);
      if (nodes == by_id_.end()) return Status::Ok();
      const std::vector<const pb::Node*> known = std::move(nodes->second);
      by_id_.erase(nodes);
      for (const pb::Node* node : known) {
        OTC_RETURN_IF_ERROR(
            Say(Found(*node, server, settings_, request_.want_metadata(), observed)));
      }
      return Status::Ok();
    };
    return WalkServers(read, wanted, take);
  }

  // Settles the new nodes of `nodes` by what was found of their names. Those
  // without any server stay in by_name_.
  Status Match(const ByName& found, const std::vector<const pb::Node*>& nodes,
               std::int64_t observed) {
    std::vector<const pb::Node*> left;
    for (const pb::Node* node : by_name_) {
      if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) left.push_back(node);
    }
    for (const pb::Node* node : nodes) {
      std::vector<const Server*> named;
      for (const Server& server : found.at(node->name())) named.push_back(&server);
      if (named.empty()) {
        left.push_back(node);
        continue;
      }
      const NameMatch match = MatchByName(*node, named);
      OTC_RETURN_IF_ERROR(
          Say(match.server != nullptr
                  ? Found(*node, *match.server, settings_, request_.want_metadata(), observed)
                  : Unknown(*node, match.reason, match.message, observed)));
    }
    by_name_ = std::move(left);
    return Status::Ok();
  }

  // What the list did not show: one GET each, within the limit, never cached.
  Status LookUpTheRest() {
    std::vector<Lookup> lookups;
    for (const auto& [id, nodes] : by_id_) lookups.push_back({id, nodes, nullptr});
    if (!uuids_asked_) AddUuids(&lookups);
    by_id_.clear();
    if (lookups.size() > kMaxLookups) OTC_RETURN_IF_ERROR(Defer(&lookups));
    OTC_RETURN_IF_ERROR(Ask(lookups, "prove", 0));
    for (const pb::Node* node : by_name_) {
      const NameMatch match = MatchByName(*node, {});
      OTC_RETURN_IF_ERROR(Say(Unknown(*node, match.reason, match.message, host_.time().UnixMs())));
    }
    return Status::Ok();
  }

  // Cuts `lookups` to the limit; other ones than last time.
  Status Defer(std::vector<Lookup>* lookups) {
    const std::size_t start = memory_->next_lookup.fetch_add(kMaxLookups) % lookups->size();
    std::rotate(lookups->begin(), lookups->begin() + static_cast<std::ptrdiff_t>(start),
                lookups->end());
    const std::size_t over = lookups->size() - kMaxLookups;
    metrics_.deferred.Record(static_cast<double>(over));
    for (std::size_t i = kMaxLookups; i < lookups->size(); ++i) {
      for (const pb::Node* node : (*lookups)[i].nodes) {
        OTC_RETURN_IF_ERROR(
            Say(Unknown(*node, kLookupLimit,
                        "server " + (*lookups)[i].server_id + " is not in the list, and " +
                            std::to_string(kMaxLookups) + " others are looked up first",
                        host_.time().UnixMs())));
      }
    }
    lookups->resize(kMaxLookups);
    return Status::Ok();
  }

  Status Say(const Verdict& verdict) {
    metrics_.results.Record(1, {StateName(verdict.result.state())});
    for (const pb::EventRecord& event : verdict.events) {
      OTC_RETURN_IF_ERROR(out_.call().EmitEvent(event));
    }
    return out_.Emit(verdict.result);
  }

  const pb::InstanceDescribeRequest& request_;
  const Host& host_;
  const Settings& settings_;
  const DescribeMetrics& metrics_;
  DescribeMemory* const memory_;
  InstanceEmitter& out_;
  const CloudReader reader_;
  // Nodes of which nothing has been said yet.
  std::map<std::string, std::vector<const pb::Node*>> by_id_;  // by server id
  std::vector<const pb::Node*> by_name_;                       // without a providerID
  bool uuids_asked_ = false;  // their system UUIDs were asked for, past any cache
};

}  // namespace

Result<DescribeMetrics> DescribeMetrics::Define(const Metrics& metrics) {
  const auto results =
      metrics.Counter("results_total", "What describe said about nodes, by state.", {"state"});
  if (!results.ok()) return results.status();
  const auto pages =
      metrics.Counter("list_pages_total", "Pages of the server list that were read.");
  if (!pages.ok()) return pages.status();
  const auto reads =
      metrics.Counter("single_reads_total", "Servers that were read one by one.", {"purpose"});
  if (!reads.ok()) return reads.status();
  const auto deferred = metrics.Counter(
      "lookups_deferred_total", "Servers that were not read because of the limit of one call.");
  if (!deferred.ok()) return deferred.status();
  return DescribeMetrics{*results, *pages, *reads, *deferred};
}

Status DescribeNodes(const pb::InstanceDescribeRequest& request, const Host& host,
                     const Settings& settings, const DescribeMetrics& metrics,
                     DescribeMemory* memory, InstanceEmitter& out) {
  return Description(request, host, settings, metrics, memory, out).Run();
}

}  // namespace otc::node
