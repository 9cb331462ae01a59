// FakeEcs: the two reads of ECS v1 that the plugin makes, with paging by page
// number, a fuzzy name filter and every answer that a test wants to spoil. For
// the tests of this folder; otc-sim is the full one.
#ifndef OTC_PLUGINS_NODE_TESTING_FAKE_ECS_H_
#define OTC_PLUGINS_NODE_TESTING_FAKE_ECS_H_

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "sdk/harness/fakes.h"

namespace otc::node::testing {

namespace pb = otc::plugin::v1;

struct FakeServer {
  std::string id;
  std::string name;
  std::string status = "ACTIVE";
  std::string zone = "eu-de-01";
  std::string flavor = "s3.medium.2";
  // The members of "addresses"; one fixed IPv4 address made from the id if empty.
  std::string addresses_json;
  // Whole object instead of all above, but for id and name.
  std::string raw_json;
  bool listed = true;   // false: only a GET by id shows it (the list lags)
  bool present = true;  // false: only the list shows it
  std::string ToJson() const;
};

// "00000000-0000-4000-8000-00000000002a" for 42.
std::string Uuid(int number);

class FakeEcs final : public harness::CloudClient {
 public:
  pb::CloudResponse Answer(const pb::CloudRequest& request) override;

  void Add(FakeServer server);
  // Servers 0 … count-1 named "<prefix>0" …
  void AddMany(int count, const std::string& prefix);
  FakeServer& At(const std::string& id);
  void Remove(const std::string& id);
  void Clear();

  // Spoils answers: what the hook returns is sent instead, if anything.
  using Hook = std::function<std::optional<pb::CloudResponse>(const pb::CloudRequest&)>;
  void SetHook(Hook hook) { hook_ = std::move(hook); }
  // The cloud sends no more than this many servers a page, whatever is asked for.
  void CapPages(std::size_t size) { page_cap_ = size; }
  void SetCount(std::optional<long> count) { count_ = count; }
  void OmitCount() { omit_count_ = true; }

  int lists() const { return lists_; }
  int gets() const { return gets_; }
  std::vector<pb::CloudRequest> requests() const;
  void ResetCounts();

 private:
  pb::CloudResponse List(const pb::CloudRequest& request);
  pb::CloudResponse Get(const std::string& id);

  mutable std::mutex mutex_;
  std::vector<FakeServer> servers_;
  Hook hook_;
  std::size_t page_cap_ = 1000;
  std::optional<long> count_;
  bool omit_count_ = false;
  int lists_ = 0;
  int gets_ = 0;
  std::vector<pb::CloudRequest> requests_;
};

}  // namespace otc::node::testing

#endif  // OTC_PLUGINS_NODE_TESTING_FAKE_ECS_H_
