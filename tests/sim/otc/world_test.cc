// The store: versions and their bounds, jobs by time, what happens to addresses.
#include "tests/sim/otc/world.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"
#include "tests/sim/otc/json.h"

namespace otc::sim {
namespace {

using IntMap = VersionedMap<int>;

std::string Values(const IntMap::List& list) {
  std::string text;
  for (const auto& value : *list) text += std::to_string(*value) + " ";
  return text;
}

TEST(VersionedMapTest, ListsKeepTheOrderOfCreation) {
  IntMap map;
  map.Put("z", std::make_shared<const int>(1), 1);
  map.Put("a", std::make_shared<const int>(2), 2);
  map.Put("z", std::make_shared<const int>(3), 3);
  EXPECT_EQ(Values(map.All()), "3 2 ");
  EXPECT_EQ(map.size(), 2U);
}

TEST(VersionedMapTest, ShowsThePast) {
  IntMap map;
  map.Put("a", std::make_shared<const int>(1), 1);
  map.Put("b", std::make_shared<const int>(2), 2);
  map.Put("a", std::make_shared<const int>(10), 3);
  EXPECT_TRUE(map.Erase("b", 4));
  EXPECT_FALSE(map.Erase("b", 5));
  EXPECT_EQ(Values(map.All(0)), "");
  EXPECT_EQ(Values(map.All(1)), "1 ");
  EXPECT_EQ(Values(map.All(2)), "1 2 ");
  EXPECT_EQ(Values(map.All(3)), "10 2 ");
  EXPECT_EQ(Values(map.All(4)), "10 ");
  EXPECT_EQ(Values(map.All()), "10 ");
  EXPECT_EQ(map.Get("b"), nullptr);
}

TEST(VersionedMapTest, ANameMayComeBack) {
  IntMap map;
  map.Put("a", std::make_shared<const int>(1), 1);
  map.Erase("a", 2);
  map.Put("a", std::make_shared<const int>(5), 3);
  EXPECT_EQ(Values(map.All(1)), "1 ");
  EXPECT_EQ(Values(map.All(2)), "");
  EXPECT_EQ(Values(map.All()), "5 ");
}

TEST(VersionedMapTest, KeepsSixteenVersions) {
  IntMap map;
  for (int i = 1; i <= 40; ++i) map.Put("a", std::make_shared<const int>(i), Revision(i));
  EXPECT_EQ(Values(map.All(40)), "40 ");
  EXPECT_EQ(Values(map.All(25)), "25 ");
  EXPECT_EQ(Values(map.All(24)), "");
}

class WorldTest : public testing::Test {
 protected:
  std::string Add(const std::string& name) {
    Server server;
    server.name = name;
    server.project_id = "p";
    return *world_.AddServer(std::move(server));
  }
  host::FakeClock clock_;
  SimTime time_{&clock_};
  World world_{&time_, 1, "eu-de"};
};

TEST_F(WorldTest, FillsWhatEveryServerHas) {
  const auto server = world_.FindServer(Add("node"));
  EXPECT_EQ(server->id.size(), 36U);
  EXPECT_EQ(server->availability_zone, "eu-de-01");
  ASSERT_EQ(server->nics.size(), 1U);
  EXPECT_TRUE(server->nics[0].primary);
  EXPECT_EQ(server->nics[0].mac.substr(0, 9), "fa:16:3e:");
  EXPECT_EQ(server->metadata.at("vpc_id"), server->vpc_id);
  EXPECT_EQ(server->metadata.at("EcmResStatus"), "normal");
  EXPECT_EQ(server->volumes.at(0).boot_index, 0);
}

TEST_F(WorldTest, GivenValuesWin) {
  Server server;
  server.name = "own";
  server.metadata["os_type"] = "Windows";
  server.nics.resize(2);
  server.nics[1].primary = true;
  const auto added = world_.FindServer(*world_.AddServer(server));
  EXPECT_EQ(added->metadata.at("os_type"), "Windows");
  EXPECT_FALSE(added->nics[0].primary);
  EXPECT_NE(added->nics[0].ips, added->nics[1].ips);
}

TEST_F(WorldTest, RefusesDoublesAndUnknownNames) {
  Server server;
  server.id = Add("node");
  EXPECT_EQ(world_.AddServer(server).status().code(), Code::kAlreadyExists);
  server.id.clear();
  server.flavor = "none";
  EXPECT_NE(world_.AddServer(server).status().message().find("s3.large.2"), std::string::npos);
  EXPECT_EQ(world_.ChangeServer("x", [](Server&) {}).code(), Code::kNotFound);
  EXPECT_EQ(world_.RemoveServer("x").code(), Code::kNotFound);
  EXPECT_EQ(world_.ChangePublicIp("x", [](PublicIp&) {}).code(), Code::kNotFound);
  EXPECT_EQ(world_.RemovePublicIp("x").code(), Code::kNotFound);
  EXPECT_EQ(world_.GiveServerPublicIp("x", "").status().code(), Code::kNotFound);
}

TEST_F(WorldTest, JobsEndInOrderOfTime) {
  std::string order;
  const auto job = [&](std::int64_t ms, const char* mark) {
    return world_.StartJob({}, ms, [&order, mark](World&, Job&) { order += mark; });
  };
  job(2000, "b");
  const std::string first = job(1000, "a");
  clock_.Advance(std::chrono::milliseconds(500));
  EXPECT_EQ(world_.FindJob(first)->status, "RUNNING");
  clock_.Advance(std::chrono::milliseconds(2000));
  EXPECT_EQ(world_.FindJob(first)->status, "SUCCESS");
  EXPECT_EQ(order, "ab");
}

TEST_F(WorldTest, RevisionOfAnAge) {
  const Revision before = world_.CurrentRevision();
  clock_.Advance(std::chrono::seconds(10));
  Add("node");
  EXPECT_EQ(world_.RevisionBefore(5000), before);
  EXPECT_GT(world_.RevisionBefore(0), before);
  EXPECT_EQ(world_.RevisionBefore(60'000), 0U);
}

TEST_F(WorldTest, ResetGivesTheSameIdsAgain) {
  const std::string first = Add("node");
  world_.Reset();
  EXPECT_EQ(world_.FindServer(first), nullptr);
  EXPECT_EQ(Add("node"), first);
}

TEST(JsonWriterTest, NestsSeparatesAndEscapes) {
  JsonWriter json;
  json.BeginObject().Field("a", "x\"y\n").Field("b", 1).Field("c", nullptr).Field("d", true);
  json.Key("e").BeginArray().Int(1).BeginObject().EndObject().String("ü").EndArray();
  EXPECT_EQ(json.EndObject().Take(),
            "{\"a\":\"x\\\"y\\n\",\"b\":1,\"c\":null,\"d\":true,\"e\":[1,{},\"ü\"]}");
}

TEST(JsonFieldsTest, WrongTypesAreNamedWithTheirPath) {
  const auto object = ParseJsonObject(
      R"({"s":1,"i":"1","b":0,"l":[1],"m":{"k":1},"o":[],"os":[1],"n":-1,"big":9})");
  std::vector<std::string> errors;
  JsonFields fields(*object, "top", &errors);
  std::string text;
  std::int64_t number = 0;
  double real = 0;
  bool flag = false;
  std::vector<std::string> list;
  std::map<std::string, std::string> map;
  EXPECT_FALSE(fields.String("s", &text));
  EXPECT_FALSE(fields.Int("i", &number, 0, 10));
  EXPECT_FALSE(fields.Int("big", &number, 0, 8));
  EXPECT_FALSE(fields.Bool("b", &flag));
  EXPECT_FALSE(fields.Strings("l", &list));
  EXPECT_FALSE(fields.StringMap("m", &map));
  EXPECT_TRUE(fields.Object("o").isNull());
  EXPECT_TRUE(fields.Objects("os").empty());
  EXPECT_FALSE(fields.Number("n", &real));
  EXPECT_FALSE(fields.String("absent", &text));
  fields.Finish();
  EXPECT_EQ(errors.size(), 9U);
  EXPECT_EQ(errors[0], "top.s: must be a string, is 1");
  EXPECT_EQ(errors[2], "top.big: must be a whole number from 0 to 8, is 9");
}

}  // namespace
}  // namespace otc::sim
