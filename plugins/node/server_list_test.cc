#include "plugins/node/server_list.h"

#include <gtest/gtest.h>

#include <set>

#include "plugins/node/testing/fake_ecs.h"

namespace otc::node {
namespace {

using harness::ScriptedCloud;
using testing::FakeEcs;
using testing::Uuid;
namespace pb = otc::plugin::v1;

class ServerListTest : public ::testing::Test {
 protected:
  ListWalk Walk() {
    seen_.clear();
    calls_ = 0;
    const ReadPage read = [&](std::uint32_t page,
                              std::uint32_t limit) -> Result<pb::CloudResponse> {
      ++calls_;
      if (calls_ > 1000) return Status(Code::kInternal, "Endless", "the walk does not end");
      if (limit > too_large_from_) {
        pb::CloudResponse response;
        response.set_outcome(pb::OUTCOME_UNCLEAR);
        response.set_code(static_cast<std::int32_t>(Code::kResourceExhausted));
        return response;
      }
      pb::CloudRequest request;
      request.set_path("/v1/{project_id}/cloudservers/detail");
      const auto add = [&](const char* key, std::uint32_t value) {
        auto* pair = request.add_query();
        pair->set_key(key);
        pair->set_value(std::to_string(value));
      };
      add("offset", page);
      add("limit", limit);
      return ecs_.Answer(request);
    };
    return WalkServers(
        read, [](const std::string&, const std::string&) { return true; },
        [&](const Server& server) {
          seen_.insert(server.id);
          return Status::Ok();
        });
  }

  FakeEcs ecs_;
  std::uint32_t too_large_from_ = 1000;
  std::set<std::string> seen_;
  int calls_ = 0;
};

TEST_F(ServerListTest, CallsForEachSize) {
  // A full first page costs one call more: its count could be that of the page.
  const std::pair<int, int> cases[] = {{0, 1},   {1, 1},   {199, 1}, {200, 2},
                                       {201, 2}, {400, 2}, {401, 3}, {5000, 25}};
  for (const auto& [servers, calls] : cases) {
    ecs_.Clear();
    ecs_.AddMany(servers, "n");
    const ListWalk walk = Walk();
    EXPECT_TRUE(walk.status.ok()) << walk.status.ToString();
    EXPECT_EQ(seen_.size(), static_cast<std::size_t>(servers));
    EXPECT_EQ(calls_, calls) << servers;
  }
}

TEST_F(ServerListTest, TheCountIsNotTrusted) {
  ecs_.AddMany(450, "n");
  for (const long count : {0L, -1L, 200L, 100'000L}) {
    ecs_.SetCount(count);
    EXPECT_TRUE(Walk().status.ok());
    // A count that is too small may end the list early (whoever is missing is
    // asked for by id); too large a one costs an empty page.
    EXPECT_GE(seen_.size(), 400u) << count;
    EXPECT_LE(calls_, 4);
  }
  ecs_.OmitCount();
  Walk();
  EXPECT_EQ(seen_.size(), 450u);
  EXPECT_EQ(calls_, 3);
}

TEST_F(ServerListTest, PagesCappedByTheCloudAreReadToTheEnd) {
  ecs_.AddMany(250, "n");
  ecs_.CapPages(100);
  const ListWalk walk = Walk();
  EXPECT_TRUE(walk.status.ok());
  EXPECT_EQ(seen_.size(), 250u);
  EXPECT_EQ(calls_, 3);
}

TEST_F(ServerListTest, ACloudThatRepeatsItsFirstPageDoesNotHoldUs) {
  ecs_.AddMany(200, "n");
  ecs_.SetCount(1000);
  const std::string body = ecs_.Answer([] {
                                 pb::CloudRequest request;
                                 request.set_path("/v1/{project_id}/cloudservers/detail");
                                 auto* pair = request.add_query();
                                 pair->set_key("limit");
                                 pair->set_value("200");
                                 return request;
                               }())
                               .body();
  ecs_.SetHook([&](const pb::CloudRequest&) { return ScriptedCloud::Reply(200, body); });
  EXPECT_TRUE(Walk().status.ok());
  EXPECT_EQ(calls_, 2);
}

TEST_F(ServerListTest, PagesThatAreTooLargeAreHalved) {
  ecs_.AddMany(450, "n");
  too_large_from_ = 60;
  EXPECT_TRUE(Walk().status.ok());
  EXPECT_EQ(seen_.size(), 450u) << "no server is skipped by the change";
  EXPECT_EQ(calls_, 2 + 9);
  too_large_from_ = 10;
  const ListWalk walk = Walk();
  EXPECT_EQ(walk.status.reason(), "CloudUnreachable") << walk.status.ToString();
  EXPECT_LE(calls_, 4);
}

TEST_F(ServerListTest, AnEndlessListIsCutOff) {
  int next = 0;
  ecs_.SetHook([&](const pb::CloudRequest&) {
    std::string body = "{\"servers\":[";
    for (int i = 0; i < 200; ++i)
      body += (i == 0 ? "{\"id\":\"" : ",{\"id\":\"") + Uuid(next++) + "\",\"status\":\"ACTIVE\"}";
    return ScriptedCloud::Reply(200, body + "]}");
  });
  const ListWalk walk = Walk();
  EXPECT_EQ(walk.status.reason(), "LookupLimit");
  EXPECT_EQ(calls_, 250);
}

TEST_F(ServerListTest, ErrorsEndTheWalk) {
  ecs_.AddMany(450, "n");
  ecs_.SetHook([&](const pb::CloudRequest& request) -> std::optional<pb::CloudResponse> {
    if (request.query(0).value() != "2") return std::nullopt;
    return ScriptedCloud::Reply(200, "{\"servers\":[{\"id\"");
  });
  const ListWalk walk = Walk();
  EXPECT_EQ(walk.status.reason(), "BadCloudAnswer");
  EXPECT_EQ(seen_.size(), 200u) << "the first page was handed on";
  EXPECT_EQ(calls_, 2);
}

}  // namespace
}  // namespace otc::node
