#include <gtest/gtest.h>

#include "tests/sim/kube/proto_encode.h"
#include "tests/sim/kube/testing/sim_fixture.h"

namespace otc::kubesim {
namespace {

class ListWatchTest : public SimTest {
 protected:
  // Opens a watch and reads its head.
  std::unique_ptr<SimClient> Watch(const std::string& query) {
    auto client = std::make_unique<SimClient>(port_);
    client->Send("GET", std::string(kNodes) + "?watch=1&" + query);
    const SimResponse head = client->ReadHead();
    EXPECT_EQ(head.status, 200);
    return client;
  }
  static std::string TypeOf(const std::optional<Json>& event) {
    return event ? TextAt(*event, {"type"}) : "none";
  }
  static std::string NameOf(const std::optional<Json>& event) {
    return event ? TextAt(*event, {"object", "metadata", "name"}) : "none";
  }
  std::string Now() { return std::to_string(server_->resource_version()); }
};

TEST_F(ListWatchTest, ListHasItemsWithoutKindInOrderOfNames) {
  AddNode("b");
  AddNode("a");
  const Json list = Get(kNodes).json();
  EXPECT_EQ(TextAt(list, {"kind"}), "NodeList");
  ASSERT_EQ(list["items"].size(), 2u);
  EXPECT_EQ(list["items"][0]["metadata"]["name"], "a");
  EXPECT_FALSE(list["items"][0].contains("kind"));
  EXPECT_EQ(TextAt(list, {"metadata", "resourceVersion"}), Now());
}

TEST_F(ListWatchTest, C05_PagesAreOneConsistentList) {
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    AddNode(name);
  }
  const std::string version = Now();
  Json page = Get(std::string(kNodes) + "?limit=2").json();
  EXPECT_EQ(page["items"].size(), 2u);
  EXPECT_EQ(IntAt(page, {"metadata", "remainingItemCount"}), 3);
  ASSERT_TRUE(server_->DeleteObject("nodes", "", "d").ok());  // between the pages
  std::vector<std::string> names;
  std::string token = TextAt(page, {"metadata", "continue"});
  while (!token.empty()) {
    page = Get(std::string(kNodes) + "?limit=2&continue=" + token).json();
    EXPECT_EQ(TextAt(page, {"metadata", "resourceVersion"}), version);
    for (const Json& item : page["items"]) {
      names.push_back(TextAt(item, {"metadata", "name"}));
    }
    token = TextAt(page, {"metadata", "continue"});
  }
  EXPECT_EQ(names, (std::vector<std::string>{"c", "d", "e"}));
}

TEST_F(ListWatchTest, C05_LastPageOfASelectionMayBeEmpty) {
  for (const char* name : {"a", "b"}) {
    AddNode(name, {{"metadata", {{"labels", {{"x", "1"}}}}}});
  }
  AddNode("c");
  const std::string target = std::string(kNodes) + "?limit=2&labelSelector=x";
  const Json first = Get(target).json();
  EXPECT_EQ(first["items"].size(), 2u);
  EXPECT_EQ(Find(first, {"metadata", "remainingItemCount"}), nullptr);
  const Json second = Get(target + "&continue=" + TextAt(first, {"metadata", "continue"})).json();
  EXPECT_TRUE(second["items"].empty());
  EXPECT_EQ(TextAt(second, {"metadata", "continue"}), "");
}

TEST_F(ListWatchTest, C05_ListFromTheCacheIgnoresTheLimit) {
  AddNode("a");
  AddNode("b");
  EXPECT_EQ(Get(std::string(kNodes) + "?limit=1&resourceVersion=0").json()["items"].size(), 2u);
}

TEST_F(ListWatchTest, C06_ContinueIsTooOldAfterCompaction) {
  AddNode("a");
  AddNode("b");
  const Json page = Get(std::string(kNodes) + "?limit=1").json();
  AddNode("c");
  server_->Compact();
  const SimResponse second =
      Get(std::string(kNodes) + "?limit=1&continue=" + TextAt(page, {"metadata", "continue"}));
  EXPECT_EQ(second.status, 410);
  EXPECT_EQ(second.reason(), "Expired");
  // The token in the answer goes on, with what is there now.
  const Json rest =
      Get(std::string(kNodes) + "?continue=" + TextAt(second.json(), {"metadata", "continue"}))
          .json();
  EXPECT_EQ(rest["items"].size(), 2u);
}

TEST_F(ListWatchTest, ExactAndTooNewVersions) {
  AddNode("a");
  const std::string version = Now();
  AddNode("b");
  const std::string target = std::string(kNodes) + "?resourceVersion=" + version;
  EXPECT_EQ(Get(target + "&resourceVersionMatch=Exact").json()["items"].size(), 1u);
  EXPECT_EQ(Get(target + "&resourceVersionMatch=NotOlderThan").json()["items"].size(), 2u);
  EXPECT_EQ(Get(target).json()["items"].size(), 2u);
  server_->Compact();
  EXPECT_EQ(Get(target + "&resourceVersionMatch=Exact").status, 410);
  const SimResponse future = Get(std::string(kNodes) + "?resourceVersion=99999");
  EXPECT_EQ(future.status, 504);
  EXPECT_EQ(future.reason(), "Timeout");
  EXPECT_EQ(future.headers.at("retry-after"), "1");
  EXPECT_EQ(future.json()["details"]["causes"][0]["reason"], "ResourceVersionTooLarge");
}

TEST_F(ListWatchTest, BadListOptionsAre422) {
  for (const char* query :
       {"resourceVersionMatch=Exact", "resourceVersionMatch=Odd&resourceVersion=5",
        "resourceVersionMatch=Exact&resourceVersion=0", "sendInitialEvents=true",
        "watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=5",
        "watch=1&sendInitialEvents=true",
        "continue=x&resourceVersionMatch=Exact&resourceVersion=5"}) {
    const SimResponse response = Get(std::string(kNodes) + "?" + query);
    EXPECT_EQ(response.status, 422) << query;
    EXPECT_EQ(TextAt(response.json(), {"details", "kind"}), "ListOptions") << query;
  }
  for (const char* query : {"limit=x", "resourceVersion=x", "continue=x", "fieldSelector=spec.x=1",
                            "fieldSelector=x", "labelSelector=a%20b", "timeoutSeconds=x"}) {
    EXPECT_EQ(Get(std::string(kNodes) + "?" + query).status, 400) << query;
  }
}

TEST_F(ListWatchTest, Selectors) {
  AddNode("a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  AddNode("b", {{"metadata", {{"labels", {{"x", "2"}}}}}, {"spec", {{"unschedulable", true}}}});
  AddNode("c");
  const auto names = [&](const std::string& query) {
    std::string text;
    const Json list = Get(std::string(kNodes) + "?" + query).json();
    for (const Json& item : list["items"]) {
      text += TextAt(item, {"metadata", "name"});
    }
    return text;
  };
  EXPECT_EQ(names("labelSelector=x%3D1"), "a");
  EXPECT_EQ(names("labelSelector=x!%3D1"), "bc");
  EXPECT_EQ(names("labelSelector=x"), "ab");
  EXPECT_EQ(names("labelSelector=!x"), "c");
  EXPECT_EQ(names("labelSelector=x%20in%20(1,2)"), "ab");
  EXPECT_EQ(names("labelSelector=x%20notin%20(1)"), "bc");
  EXPECT_EQ(names("fieldSelector=metadata.name%3Db"), "b");
  EXPECT_EQ(names("fieldSelector=metadata.name!%3Db"), "ac");
  EXPECT_EQ(names("fieldSelector=spec.unschedulable%3Dtrue"), "b");
}

TEST_F(ListWatchTest, WatchDeliversChangesAfterAVersion) {
  AddNode("a");
  auto watch = Watch("resourceVersion=" + Now());
  AddNode("b");
  const auto added = watch->NextEvent();
  EXPECT_EQ(TypeOf(added), "ADDED");
  EXPECT_EQ(NameOf(added), "b");
  EXPECT_EQ(TextAt(*added, {"object", "kind"}), "Node");
  Patch("/api/v1/nodes/b", "merge", {{"spec", {{"unschedulable", true}}}});
  EXPECT_EQ(TypeOf(watch->NextEvent()), "MODIFIED");
  Delete("/api/v1/nodes/a");
  const auto deleted = watch->NextEvent();
  EXPECT_EQ(TypeOf(deleted), "DELETED");
  EXPECT_EQ(TextAt(*deleted, {"object", "metadata", "resourceVersion"}), Now());
}

TEST_F(ListWatchTest, WatchWithoutVersionBeginsWithEverything) {
  AddNode("a");
  auto watch = Watch("");
  EXPECT_EQ(NameOf(watch->NextEvent()), "a");
  AddNode("b");
  EXPECT_EQ(NameOf(watch->NextEvent()), "b");
}

TEST_F(ListWatchTest, SelectionIsLeftAndEntered) {
  AddNode("a", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  auto watch = Watch("labelSelector=x%3D1&resourceVersion=" + Now());
  Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"labels", {{"x", "2"}}}}}});
  const auto left = watch->NextEvent();
  EXPECT_EQ(TypeOf(left), "DELETED");
  EXPECT_EQ(TextAt(*left, {"object", "metadata", "labels", "x"}), "1");  // as it was
  EXPECT_EQ(TextAt(*left, {"object", "metadata", "resourceVersion"}), Now());
  Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"labels", {{"x", "1"}}}}}});
  EXPECT_EQ(TypeOf(watch->NextEvent()), "ADDED");
}

TEST_F(ListWatchTest, C03_TooOldVersionIsAnErrorInsideThe200Stream) {
  const std::string old = Now();
  AddNode("a");
  server_->Compact();
  auto watch = Watch("resourceVersion=" + old);
  const auto error = watch->NextEvent();
  EXPECT_EQ(TypeOf(error), "ERROR");
  EXPECT_EQ(IntAt(*error, {"object", "code"}), 410);
  EXPECT_EQ(TextAt(*error, {"object", "reason"}), "Expired");
  EXPECT_EQ(TypeOf(watch->NextEvent()), "none");
}

TEST_F(ListWatchTest, C07_BookmarksMoveTheVersion) {
  server_->SetBookmarkInterval(20);
  auto watch = Watch("allowWatchBookmarks=true&resourceVersion=" + Now());
  const auto bookmark = watch->NextEvent();
  EXPECT_EQ(TypeOf(bookmark), "BOOKMARK");
  EXPECT_EQ(TextAt(*bookmark, {"object", "metadata", "resourceVersion"}), Now());
  EXPECT_EQ(TextAt(*bookmark, {"object", "kind"}), "Node");
}

TEST_F(ListWatchTest, C08_StreamingListMarksItsEnd) {
  AddNode("a");
  AddNode("b");
  auto watch =
      Watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true");
  EXPECT_EQ(NameOf(watch->NextEvent()), "a");
  EXPECT_EQ(NameOf(watch->NextEvent()), "b");
  const auto end = watch->NextEvent();
  EXPECT_EQ(TypeOf(end), "BOOKMARK");
  EXPECT_EQ(TextAt(*end, {"object", "metadata", "annotations", "k8s.io/initial-events-end"}),
            "true");
  AddNode("c");
  EXPECT_EQ(NameOf(watch->NextEvent()), "c");
}

TEST_F(ListWatchTest, C10_StreamingListFromTooNewAVersionFailsInsideTheStream) {
  auto watch = Watch(
      "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
      "&resourceVersion=99999");
  const auto error = watch->NextEvent();
  EXPECT_EQ(TypeOf(error), "ERROR");
  EXPECT_EQ(IntAt(*error, {"object", "code"}), 504);
}

TEST_F(ListWatchTest, EndOfTheInitialEventsIsMarkedWithoutAskingToo) {
  AddNode("a");
  auto watch = Watch("allowWatchBookmarks=true");
  EXPECT_EQ(NameOf(watch->NextEvent()), "a");
  EXPECT_EQ(TypeOf(watch->NextEvent()), "BOOKMARK");
}

TEST_F(ListWatchTest, C02_TimeoutEndsInGoodOrder) {
  auto watch = Watch("timeoutSeconds=1&resourceVersion=" + Now());
  EXPECT_FALSE(watch->NextEvent(3000));
  EXPECT_EQ(watch->end(), ReadEnd::kClosed);
}

TEST_F(ListWatchTest, C02_EndWatchesEndsThemAll) {
  auto first = Watch("resourceVersion=" + Now());
  auto second = Watch("resourceVersion=" + Now());
  EXPECT_EQ(server_->active_watches(), 2u);
  server_->EndWatches();
  EXPECT_FALSE(first->NextEvent());
  EXPECT_FALSE(second->NextEvent());
}

TEST_F(ListWatchTest, C11_HeldCacheLagsBehind) {
  AddNode("a");
  ASSERT_TRUE(server_->HoldCache("nodes").ok());
  const std::string held = Now();
  auto watch = Watch("resourceVersion=" + held);
  AddNode("b");
  EXPECT_EQ(Get(std::string(kNodes) + "?resourceVersion=0").json()["items"].size(), 1u);
  EXPECT_EQ(Get(kNodes).json()["items"].size(), 2u);  // quorum
  EXPECT_EQ(Get("/api/v1/nodes/b?resourceVersion=0").status, 404);
  EXPECT_EQ(Get("/api/v1/nodes/b").status, 200);
  EXPECT_EQ(Get(std::string(kNodes) + "?resourceVersion=" + Now()).status, 504);
  EXPECT_FALSE(watch->NextEvent(50));
  ASSERT_TRUE(server_->ReleaseCache("nodes").ok());
  EXPECT_EQ(NameOf(watch->NextEvent()), "b");
  EXPECT_FALSE(server_->HoldCache("gadgets").ok());
}

TEST_F(ListWatchTest, HistoryIsBounded) {
  Options options;
  options.history_limit = 3;
  StartWith(options);
  const std::string old = Now();
  for (const char* name : {"a", "b", "c", "d", "e"}) {
    AddNode(name);
  }
  EXPECT_EQ(TypeOf(Watch("resourceVersion=" + old)->NextEvent()), "ERROR");
}

TEST_F(ListWatchTest, ProtobufListAndWatchCarryTheSameObjects) {
  AddNode("a");
  const std::string accept = "Accept: application/vnd.kubernetes.protobuf,application/json";
  const SimResponse list = Get(kNodes, accept);
  EXPECT_EQ(list.headers.at("content-type"), "application/vnd.kubernetes.protobuf");
  EXPECT_EQ(list.body.substr(0, 4), std::string("k8s\0", 4));
  const SimResponse node = Get("/api/v1/nodes/a", accept);
  SimClient watch(port_);
  watch.Send("GET", std::string(kNodes) + "?watch=1&timeoutSeconds=1", "", accept);
  EXPECT_EQ(watch.ReadHead().headers.at("content-type"),
            "application/vnd.kubernetes.protobuf;stream=watch");
  const std::string chunk = watch.ReadSome();
  EXPECT_NE(chunk.find(WatchFrame("ADDED", node.body)), std::string::npos);
}

TEST_F(ListWatchTest, ManyNodesOfRealisticSize) {
  ASSERT_TRUE(server_->AddManyNodes(50, "bulk").ok());
  const SimResponse json = Get(kNodes);
  const std::size_t each = json.body.size() / 50;
  EXPECT_GT(each, 12'000u);
  EXPECT_LT(each, 13'200u);
  const Json node = json.json()["items"][7];
  EXPECT_EQ(node["metadata"]["name"], "bulk-00007");
  EXPECT_EQ(node["metadata"]["labels"].size(), 14u);
  EXPECT_EQ(node["metadata"]["managedFields"].size(), 3u);
  EXPECT_EQ(node["status"]["conditions"].size(), 5u);
  EXPECT_EQ(node["status"]["images"].size(), 40u);
}

}  // namespace
}  // namespace otc::kubesim
