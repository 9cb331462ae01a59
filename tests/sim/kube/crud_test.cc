#include <gtest/gtest.h>

#include "tests/sim/kube/testing/sim_fixture.h"

namespace otc::kubesim {
namespace {

class CrudTest : public SimTest {};

Json NodeNamed(const std::string& name) {
  return {{"apiVersion", "v1"}, {"kind", "Node"}, {"metadata", {{"name", name}}}};
}

std::string CauseField(const SimResponse& response) {
  const Json document = response.json();
  const Json* causes = Find(document, {"details", "causes"});
  return causes != nullptr && !causes->empty() ? TextAt((*causes)[0], {"field"}) : "";
}

TEST_F(CrudTest, CreateFillsWhatTheServerFills) {
  const SimResponse created = Post(kNodes, NodeNamed("a"));
  EXPECT_EQ(created.status, 201);
  const Json node = created.json();
  EXPECT_FALSE(TextAt(node, {"metadata", "uid"}).empty());
  EXPECT_EQ(TextAt(node, {"metadata", "creationTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_FALSE(TextAt(node, {"metadata", "resourceVersion"}).empty());
  EXPECT_EQ(TextAt(node["spec"]["taints"][0], {"key"}), "node.kubernetes.io/not-ready");
  EXPECT_TRUE(node["status"]["nodeInfo"].contains("kubeletVersion"));
}

TEST_F(CrudTest, NotReadyTaintCanBeOff) {
  Options options;
  options.not_ready_taint = false;
  StartWith(options);
  EXPECT_EQ(Find(Post(kNodes, NodeNamed("a")).json(), {"spec", "taints"}), nullptr);
}

TEST_F(CrudTest, CreateRefusesWhatTheRealServerRefuses) {
  AddNode("a");
  EXPECT_EQ(Post(kNodes, NodeNamed("a")).reason(), "AlreadyExists");
  EXPECT_EQ(Post(kNodes, NodeNamed("Bad_Name")).status, 422);
  EXPECT_EQ(Post(kNodes, Json::object()).status, 422);  // no name
  Json versioned = NodeNamed("b");
  versioned["metadata"]["resourceVersion"] = "7";
  EXPECT_EQ(Post(kNodes, versioned).status, 500);
  Json label = NodeNamed("b");
  label["metadata"]["labels"] = {{"a b", "c"}};
  EXPECT_EQ(Post(kNodes, label).status, 422);
  Json wrong_type = NodeNamed("b");
  wrong_type["spec"]["unschedulable"] = "yes";
  EXPECT_EQ(Post(kNodes, wrong_type).status, 400);
  EXPECT_EQ(Post(kNodes, {{"kind", "Pod"}, {"metadata", {{"name", "b"}}}}).status, 400);
  EXPECT_EQ(SimClient(port_).Do("POST", kNodes, "no json", "Content-Type: application/json").status,
            400);
  EXPECT_EQ(SimClient(port_)
                .Do("POST", kNodes, "k8s", "Content-Type: application/vnd.kubernetes.protobuf")
                .status,
            415);
}

TEST_F(CrudTest, TaintsAreChecked) {
  Json node = NodeNamed("a");
  node["spec"]["taints"] = {{{"key", "k"}, {"effect", "NoSchedule"}},
                            {{"key", "k"}, {"effect", "NoSchedule"}}};
  const SimResponse twice = Post(kNodes, node);
  EXPECT_EQ(twice.status, 422);
  EXPECT_EQ(CauseField(twice), "metadata.taints[1]");
  node["spec"]["taints"] = Json::array({{{"key", "k"}, {"effect", "Sometimes"}}});
  EXPECT_EQ(Post(kNodes, node).status, 422);
}

TEST_F(CrudTest, GenerateNameMakesFreshNames) {
  const Json map = {{"metadata", {{"generateName", "gen-"}}}};
  const std::string target = "/api/v1/namespaces/default/configmaps";
  const std::string first = TextAt(Post(target, map).json(), {"metadata", "name"});
  const std::string second = TextAt(Post(target, map).json(), {"metadata", "name"});
  EXPECT_EQ(first.rfind("gen-", 0), 0u);
  EXPECT_EQ(first.size(), 9u);
  EXPECT_NE(first, second);
}

TEST_F(CrudTest, ProviderIdCannotChange) {
  AddNode("a", {{"spec", {{"providerID", "otc:///1"}}}});
  const SimResponse changed =
      Patch("/api/v1/nodes/a", "strategic", {{"spec", {{"providerID", "otc:///2"}}}});
  EXPECT_EQ(changed.status, 422);
  EXPECT_EQ(CauseField(changed), "spec.providerID");
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"spec", {{"providerID", nullptr}}}}).status, 422);
}

TEST_F(CrudTest, DuplicateAddressesAreRefused) {
  AddNode("a");
  const Json address = {{"type", "InternalIP"}, {"address", "1.1.1.1"}};
  const SimResponse patched =
      Patch("/api/v1/nodes/a/status", "merge", {{"status", {{"addresses", {address, address}}}}});
  EXPECT_EQ(patched.status, 422);
  EXPECT_EQ(CauseField(patched), "status.addresses[1]");
}

TEST_F(CrudTest, SubresourcesChangeOnlyTheirPart) {
  AddNode("a");
  const Json both = {{"metadata", {{"labels", {{"l", "1"}}}}},
                     {"spec", {{"unschedulable", true}}},
                     {"status", {{"phase", "Running"}}}};
  const Json after_status = Patch("/api/v1/nodes/a/status", "merge", both).json();
  EXPECT_FALSE(BoolAt(after_status, {"spec", "unschedulable"}));
  EXPECT_EQ(TextAt(after_status, {"status", "phase"}), "Running");
  EXPECT_EQ(TextAt(after_status, {"metadata", "labels", "l"}), "1");
  const Json after_main =
      Patch("/api/v1/nodes/a", "merge",
            {{"spec", {{"unschedulable", true}}}, {"status", {{"phase", "Other"}}}})
          .json();
  EXPECT_TRUE(BoolAt(after_main, {"spec", "unschedulable"}));
  EXPECT_EQ(TextAt(after_main, {"status", "phase"}), "Running");
}

TEST_F(CrudTest, N20_WritesThatChangeNothingKeepTheVersion) {
  AddNode("a", {{"metadata", {{"labels", {{"l", "1"}}}}}});
  const std::string before = Version("/api/v1/nodes/a");
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"labels", {{"l", "1"}}}}}}).status,
            200);
  EXPECT_EQ(Version("/api/v1/nodes/a"), before);
  EXPECT_EQ(server_->resource_version(), std::stoull(before));
}

TEST_F(CrudTest, L09_StaleVersionIsAConflict) {
  AddNode("a");
  const std::string version = Version("/api/v1/nodes/a");
  const Json patch = {{"metadata", {{"resourceVersion", version}, {"labels", {{"x", "1"}}}}}};
  EXPECT_EQ(Patch("/api/v1/nodes/a", "strategic", patch).status, 200);
  const SimResponse stale = Patch("/api/v1/nodes/a", "strategic", patch);
  EXPECT_EQ(stale.status, 409);
  EXPECT_EQ(stale.reason(), "Conflict");
  Json put = Get("/api/v1/nodes/a").json();
  put["metadata"]["resourceVersion"] = version;
  EXPECT_EQ(Put("/api/v1/nodes/a", put).reason(), "Conflict");
}

TEST_F(CrudTest, N13_PutKeepsUnknownFieldsThatItCarries) {
  AddNode("a", {{"spec", {{"future", {{"x", 1}}}}}});
  Json node = Get("/api/v1/nodes/a").json();
  EXPECT_EQ(node["spec"]["future"]["x"], 1);
  node["spec"].erase("future");
  EXPECT_EQ(Put("/api/v1/nodes/a", node).status, 200);
  EXPECT_EQ(Find(Get("/api/v1/nodes/a").json(), {"spec", "future"}), nullptr);
}

TEST_F(CrudTest, DeleteAnswersAStatus) {
  AddNode("a");
  const SimResponse deleted = Delete("/api/v1/nodes/a");
  EXPECT_EQ(deleted.status, 200);
  EXPECT_EQ(TextAt(deleted.json(), {"status"}), "Success");
  EXPECT_EQ(TextAt(deleted.json(), {"details", "name"}), "a");
  EXPECT_EQ(Delete("/api/v1/nodes/a").reason(), "NotFound");
}

TEST_F(CrudTest, L11_DeletePreconditions) {
  AddNode("a");
  const std::string uid = TextAt(Get("/api/v1/nodes/a").json(), {"metadata", "uid"});
  const SimResponse wrong = Delete("/api/v1/nodes/a", {{"preconditions", {{"uid", "another"}}}});
  EXPECT_EQ(wrong.status, 409);
  EXPECT_EQ(wrong.reason(), "Conflict");
  EXPECT_EQ(Delete("/api/v1/nodes/a", {{"preconditions", {{"resourceVersion", "1"}}}}).status, 409);
  EXPECT_EQ(Delete("/api/v1/nodes/a?dryRun=All").status, 200);
  EXPECT_EQ(Get("/api/v1/nodes/a").status, 200);
  EXPECT_EQ(Delete("/api/v1/nodes/a", {{"preconditions", {{"uid", uid}}}}).status, 200);
}

TEST_F(CrudTest, S57_FinalizersHoldAnObject) {
  AddNode("a", {{"metadata", {{"finalizers", {"example.com/f"}}}}});
  EXPECT_EQ(Delete("/api/v1/nodes/a").status, 200);
  const Json held = Get("/api/v1/nodes/a").json();
  EXPECT_EQ(TextAt(held, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:00Z");
  const Json kept =
      Patch("/api/v1/nodes/a", "merge",
            {{"metadata",
              {{"deletionTimestamp", nullptr}, {"creationTimestamp", "2020-01-01T00:00:00Z"}}}})
          .json();
  EXPECT_EQ(TextAt(kept, {"metadata", "deletionTimestamp"}), "2026-01-01T00:00:00Z");
  EXPECT_EQ(TextAt(kept, {"metadata", "creationTimestamp"}), "2026-01-01T00:00:00Z");
  const SimResponse added = Patch("/api/v1/nodes/a", "merge",
                                  {{"metadata", {{"finalizers", {"example.com/f", "x.y/z"}}}}});
  EXPECT_EQ(added.status, 422);
  EXPECT_EQ(CauseField(added), "metadata.finalizers");
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"finalizers", nullptr}}}}).status,
            200);
  EXPECT_EQ(Get("/api/v1/nodes/a").status, 404);
}

TEST_F(CrudTest, E02_MicroTimeNeedsExactlySixDigits) {
  const auto lease = [](const char* name, const char* time) {
    return Json{{"metadata", {{"name", name}}}, {"spec", {{"renewTime", time}}}};
  };
  EXPECT_EQ(Post(kLeases, lease("ok", "2026-01-01T00:00:00.000000Z")).status, 201);
  for (const char* bad : {"2026-01-01T00:00:00Z", "2026-01-01T00:00:00.000Z",
                          "2026-01-01T00:00:00.000000000Z", "yesterday"}) {
    EXPECT_EQ(Post(kLeases, lease("bad", bad)).status, 400) << bad;
    EXPECT_EQ(Patch(std::string(kLeases) + "/ok", "merge", {{"spec", {{"renewTime", bad}}}}).status,
              422)
        << bad;
  }
}

TEST_F(CrudTest, E21_LeasePutNeedsAVersionAndMakesADeletedOneAnew) {
  const std::string target = std::string(kLeases) + "/l";
  Json lease = Post(kLeases, {{"metadata", {{"name", "l"}}}}).json();
  Json unversioned = lease;
  unversioned["metadata"].erase("resourceVersion");
  EXPECT_EQ(Put(target, unversioned).status, 422);
  lease["spec"]["holderIdentity"] = "me";
  EXPECT_EQ(Put(target, lease).status, 200);
  EXPECT_EQ(Put(target, lease).reason(), "Conflict");
  EXPECT_EQ(Delete(target).status, 200);
  EXPECT_EQ(Put(target, unversioned).status, 422);
  EXPECT_EQ(Put(target, lease).status, 201);  // as the real server does
}

TEST_F(CrudTest, LeaseNumbersAreChecked) {
  EXPECT_EQ(Post(kLeases, {{"metadata", {{"name", "l"}}}, {"spec", {{"leaseDurationSeconds", 0}}}})
                .status,
            422);
  EXPECT_EQ(
      Post(kLeases, {{"metadata", {{"name", "l"}}}, {"spec", {{"leaseTransitions", -1}}}}).status,
      422);
}

TEST_F(CrudTest, Q07_EventsArePostedAndPatched) {
  const Json event = {{"metadata", {{"name", "e"}, {"namespace", "default"}}},
                      {"involvedObject", {{"kind", "Node"}, {"name", "a"}}},
                      {"reason", "R"},
                      {"count", 1}};
  EXPECT_EQ(Post(kEvents, event).status, 201);
  const SimResponse patched = Patch(std::string(kEvents) + "/e", "strategic", {{"count", 2}});
  EXPECT_EQ(IntAt(patched.json(), {"count"}), 2);
  EXPECT_EQ(Patch(std::string(kEvents) + "/gone", "strategic", {{"count", 2}}).status, 404);
  Json elsewhere = event;
  elsewhere["metadata"]["name"] = "f";
  elsewhere["involvedObject"]["namespace"] = "kube-system";
  EXPECT_EQ(Post(kEvents, elsewhere).status, 422);
}

TEST_F(CrudTest, NamespacesMustExist) {
  const SimResponse created =
      Post("/api/v1/namespaces/nowhere/configmaps", {{"metadata", {{"name", "c"}}}});
  EXPECT_EQ(created.status, 404);
  EXPECT_EQ(TextAt(created.json(), {"details", "kind"}), "namespaces");
  EXPECT_FALSE(TextAt(Get("/api/v1/namespaces/kube-system").json(), {"metadata", "uid"}).empty());
}

TEST_F(CrudTest, S40_ServiceStatusGetsItsMode) {
  const std::string target = "/api/v1/namespaces/default/services";
  EXPECT_EQ(Post(target, {{"metadata", {{"name", "s"}}},
                          {"spec", {{"type", "LoadBalancer"}, {"ports", {{{"port", 80}}}}}}})
                .status,
            201);
  const Json patched = Patch(target + "/s/status", "merge",
                             {{"status", {{"loadBalancer", {{"ingress", {{{"ip", "9.9.9.9"}}}}}}}}})
                           .json();
  EXPECT_EQ(patched["status"]["loadBalancer"]["ingress"][0]["ipMode"], "VIP");
  EXPECT_EQ(Patch(target + "/s", "merge", {{"spec", {{"loadBalancerClass", "a/b"}}}}).status, 422);
}

TEST_F(CrudTest, StrictFieldValidationNamesUnknownFields) {
  Json node = NodeNamed("a");
  node["spec"]["providerId"] = "x";
  const SimResponse refused = Post(std::string(kNodes) + "?fieldValidation=Strict", node);
  EXPECT_EQ(refused.status, 400);
  EXPECT_NE(refused.body.find("spec.providerId"), std::string::npos);
  EXPECT_EQ(Post(std::string(kNodes) + "?fieldValidation=Ignore", node).status, 201);
}

TEST_F(CrudTest, PatchRefusals) {
  AddNode("a");
  EXPECT_EQ(SimClient(port_)
                .Do("PATCH", "/api/v1/nodes/a", "{}", "Content-Type: application/apply-patch+yaml")
                .status,
            415);
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"name", "b"}}}}).status, 400);
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"metadata", {{"uid", "x"}}}}).status, 422);
  EXPECT_EQ(Patch("/api/v1/nodes/a", "merge", {{"kind", "Pod"}}).status, 422);
  EXPECT_EQ(Patch("/api/v1/nodes/gone", "merge", Json::object()).status, 404);
}

TEST_F(CrudTest, ManagersAreRecorded) {
  AddNode("a");
  SimClient client(port_);
  client.Do("PATCH", "/api/v1/nodes/a/status?fieldManager=me", R"({"status":{"phase":"x"}})",
            "Content-Type: application/merge-patch+json");
  const Json node = Get("/api/v1/nodes/a").json();
  const Json& last = node["metadata"]["managedFields"].back();
  EXPECT_EQ(TextAt(last, {"manager"}), "me");
  EXPECT_EQ(TextAt(last, {"subresource"}), "status");
}

TEST_F(CrudTest, UnknownPathsAndMethods) {
  EXPECT_EQ(Get("/api/v1/foos").reason(), "NotFound");
  EXPECT_EQ(Get("/apis/unknown.group/v1/foos").body, "404 page not found\n");
  AddNode("a");
  EXPECT_EQ(Get("/api/v1/nodes/a/foo").status, 404);
  EXPECT_EQ(SimClient(port_).Do("PUT", kNodes, "{}").status, 405);
  EXPECT_EQ(Get("/api/v1/nodes/a", "Accept: text/html").status, 406);
}

}  // namespace
}  // namespace otc::kubesim
