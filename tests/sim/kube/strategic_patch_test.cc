#include "tests/sim/kube/strategic_patch.h"

#include <gtest/gtest.h>

namespace otc::kubesim {
namespace {

Json Parse(const char* text) { return *ParseJson(text); }

Json Merge(const char* original, const char* patch) {
  const ApiResult<Json> result = StrategicMergePatch(Parse(original), Parse(patch), NodeType());
  EXPECT_TRUE(result.ok());
  return result.ok() ? result.value() : Json();
}

TEST(StrategicPatch, TaintsAreAtomic) {
  EXPECT_EQ(Merge(R"({"spec":{"taints":[{"key":"a"},{"key":"b"}]}})",
                  R"({"spec":{"taints":[{"key":"c"}]}})"),
            Parse(R"({"spec":{"taints":[{"key":"c"}]}})"));
}

TEST(StrategicPatch, ConditionsMergeByType) {
  EXPECT_EQ(Merge(R"({"status":{"conditions":[{"type":"Ready","status":"True","reason":"x"},
                                              {"type":"Disk","status":"False"}]}})",
                  R"({"status":{"conditions":[{"type":"Ready","status":"False"}]}})"),
            Parse(R"({"status":{"conditions":[{"type":"Ready","status":"False","reason":"x"},
                                              {"type":"Disk","status":"False"}]}})"));
}

TEST(StrategicPatch, AddressesWithoutDirectiveMergeByTypeInTheOrderOfThePatch) {
  EXPECT_EQ(Merge(R"({"status":{"addresses":[{"type":"InternalIP","address":"1"}]}})",
                  R"({"status":{"addresses":[{"type":"ExternalIP","address":"5"},
                                             {"type":"InternalIP","address":"2"}]}})"),
            Parse(R"({"status":{"addresses":[{"type":"ExternalIP","address":"5"},
                                             {"type":"InternalIP","address":"2"}]}})"));
}

TEST(StrategicPatch, N18_ReplaceDirectiveMakesTheOthersTheWholeList) {
  EXPECT_EQ(Merge(R"({"status":{"addresses":[{"type":"Hostname","address":"old"}]}})",
                  R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},
                                             {"type":"InternalIP","address":"2"},
                                             {"$patch":"replace"}]}})"),
            Parse(R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},
                                             {"type":"InternalIP","address":"2"}]}})"));
}

TEST(StrategicPatch, DeleteDirectiveRemovesEveryElementWithTheKey) {
  EXPECT_EQ(Merge(R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},
                                             {"type":"InternalIP","address":"2"},
                                             {"type":"Hostname","address":"h"}]}})",
                  R"({"status":{"addresses":[{"type":"InternalIP","$patch":"delete"}]}})"),
            Parse(R"({"status":{"addresses":[{"type":"Hostname","address":"h"}]}})"));
}

TEST(StrategicPatch, S56_FinalizersAreASetAndKeepTheGivenOrder) {
  EXPECT_EQ(Merge(R"({"metadata":{"finalizers":["x/a","x/b"]}})",
                  R"({"metadata":{"$setElementOrder/finalizers":["x/a","x/b","x/c"],
                                  "finalizers":["x/c"]}})"),
            Parse(R"({"metadata":{"finalizers":["x/a","x/b","x/c"]}})"));
  EXPECT_EQ(Merge(R"({"metadata":{"finalizers":["x/a","x/b","x/c"]}})",
                  R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["x/b"]}})"),
            Parse(R"({"metadata":{"finalizers":["x/a","x/c"]}})"));
}

TEST(StrategicPatch, SetElementOrderAloneReorders) {
  EXPECT_EQ(Merge(R"({"status":{"addresses":[{"type":"InternalIP","address":"1"},
                                             {"type":"Hostname","address":"h"}]}})",
                  R"({"status":{"$setElementOrder/addresses":[{"type":"Hostname"},
                                                              {"type":"InternalIP"}]}})"),
            Parse(R"({"status":{"addresses":[{"type":"Hostname","address":"h"},
                                             {"type":"InternalIP","address":"1"}]}})"));
}

TEST(StrategicPatch, NullDeletesAndMapsMerge) {
  EXPECT_EQ(Merge(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                  R"({"metadata":{"labels":{"a":null,"c":"3"}}})"),
            Parse(R"({"metadata":{"labels":{"b":"2","c":"3"}}})"));
}

TEST(StrategicPatch, ObjectDirectives) {
  EXPECT_EQ(Merge(R"({"metadata":{"labels":{"a":"1"}}})",
                  R"({"metadata":{"labels":{"$patch":"replace","b":"2"}}})"),
            Parse(R"({"metadata":{"labels":{"b":"2"}}})"));
  EXPECT_EQ(Merge(R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                  R"({"metadata":{"labels":{"$retainKeys":["b","c"],"c":"3"}}})"),
            Parse(R"({"metadata":{"labels":{"b":"2","c":"3"}}})"));
}

TEST(StrategicPatch, N13_UnknownFieldsSurvive) {
  EXPECT_EQ(Merge(R"({"spec":{"future":{"x":[1]}}})", R"({"spec":{"providerID":"p"}})"),
            Parse(R"({"spec":{"future":{"x":[1]},"providerID":"p"}})"));
}

TEST(StrategicPatch, RefusesElementsWithoutMergeKeyAndUnknownDirectives) {
  const ApiResult<Json> keyless = StrategicMergePatch(
      Json::object(), Parse(R"({"status":{"addresses":[{"address":"1"}]}})"), NodeType());
  ASSERT_FALSE(keyless.ok());
  EXPECT_EQ(keyless.error().code, 500);  // as the real server
  const ApiResult<Json> unknown =
      StrategicMergePatch(Json::object(), Parse(R"({"status":{"$patch":"explode"}})"), NodeType());
  ASSERT_FALSE(unknown.ok());
  EXPECT_NE(unknown.error().message.find("explode"), std::string::npos);
}

TEST(MergePatch, ReplacesListsWhole) {
  EXPECT_EQ(JsonMergePatch(Parse(R"({"status":{"addresses":[{"type":"A"},{"type":"B"}]}})"),
                           Parse(R"({"status":{"addresses":[{"type":"C"}]}})")),
            Parse(R"({"status":{"addresses":[{"type":"C"}]}})"));
}

TEST(JsonPatch, TestOperationIsAPrecondition) {
  const Json original = Parse(R"({"metadata":{"labels":{"a":"b"}}})");
  const ApiResult<Json> good =
      JsonPatch(original, Parse(R"([{"op":"test","path":"/metadata/labels/a","value":"b"},
                          {"op":"replace","path":"/metadata/labels/a","value":"c"}])"));
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(TextAt(good.value(), {"metadata", "labels", "a"}), "c");
  const ApiResult<Json> bad =
      JsonPatch(original, Parse(R"([{"op":"test","path":"/metadata/labels/a","value":"x"}])"));
  ASSERT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().code, 422);
  EXPECT_EQ(bad.error().reason, "Invalid");
}

TEST(JsonPatch, RefusesWhatIsNoListOfOperations) {
  EXPECT_EQ(JsonPatch(Json::object(), Parse(R"({"op":"add"})")).error().code, 400);
  EXPECT_EQ(JsonPatch(Json::object(), Parse(R"([{"foo":1}])")).error().code, 422);
  EXPECT_EQ(JsonPatch(Json::object(), Parse(R"([{"op":"remove","path":"/x"}])")).error().code, 422);
}

}  // namespace
}  // namespace otc::kubesim
