#include "plugins/node/server.h"

#include <gtest/gtest.h>

#include "plugins/node/testing/fake_ecs.h"

namespace otc::node {
namespace {

using testing::FakeServer;
using testing::Uuid;

bool All(const std::string&, const std::string&) { return true; }

std::string Listed(int number, const std::string& name) {
  FakeServer server;
  server.id = Uuid(number);
  server.name = name;
  return server.ToJson();
}

std::string Single(const std::string& members) {
  return R"({"server":{"id":")" + Uuid(1) + R"(",)" + members + "}}";
}

TEST(ServerTest, ReadsWhatTheApiSends) {
  const auto server = ParseServer(Single(R"("name":"n1","status":"ACTIVE",
      "flavor":{"id":"s3.medium.2","name":"s3.medium.2","vcpus":"1","ram":"2048","disk":"0"},
      "OS-EXT-AZ:availability_zone":"eu-de-02",
      "addresses":{"VPC-A":[
        {"addr":"192.168.0.10","version":"4","OS-EXT-IPS:type":"fixed","primary":true},
        {"addr":"80.158.1.2","version":"4","OS-EXT-IPS:type":"floating"},
        {"addr":"fd00::1","version":6}]},
      "metadata":null,"OS-EXT-STS:task_state":null,"extra":{"deep":[[[]]]})"),
                                  Uuid(1));
  ASSERT_TRUE(server.ok()) << server.status().ToString();
  EXPECT_EQ(server->fault, "");
  EXPECT_EQ(server->name, "n1");
  EXPECT_EQ(server->status, "ACTIVE");
  EXPECT_EQ(server->flavor, "s3.medium.2");
  EXPECT_EQ(server->zone, "eu-de-02");
  ASSERT_EQ(server->addresses.size(), 3u);
  EXPECT_EQ(server->addresses[0].vpc, "vpc-a");
  EXPECT_TRUE(server->addresses[0].primary);
  EXPECT_FALSE(server->addresses[0].floating);
  EXPECT_TRUE(server->addresses[1].floating);
  EXPECT_FALSE(server->addresses[2].floating) << "a missing type means fixed";
}

TEST(ServerTest, MissingMembersAreTolerated) {
  const auto server = ParseServer(Single(R"("status":"BUILD")"), Uuid(1));
  ASSERT_TRUE(server.ok());
  EXPECT_EQ(server->fault, "");
  EXPECT_EQ(server->flavor, "");
  EXPECT_TRUE(server->addresses.empty());
  const auto named = ParseServer(Single(R"("status":"BUILD","flavor":{"name":"x1"})"), Uuid(1));
  EXPECT_EQ(named->flavor, "x1");
}

TEST(ServerTest, WrongTypesMakeAServerUntrusted) {
  const std::pair<const char*, const char*> cases[] = {
      {R"("name":"n")", "status is missing"},
      {R"("status":7)", "server.status: wanted string, found number"},
      {R"("status":"ACTIVE","name":[])", "server.name"},
      {R"("status":"ACTIVE","flavor":"s3")", "server.flavor: wanted object"},
      {R"("status":"ACTIVE","flavor":{"id":5})", "server.flavor.id"},
      {R"("status":"ACTIVE","OS-EXT-AZ:availability_zone":{})", "availability_zone"},
      {R"("status":"ACTIVE","addresses":[])", "server.addresses: wanted object"},
      {R"("status":"ACTIVE","addresses":{"v":{}})", "server.addresses.v: wanted array"},
      {R"("status":"ACTIVE","addresses":{"v":["10.0.0.1"]})", "server.addresses.v[0]"},
      {R"("status":"ACTIVE","addresses":{"v":[{"addr":1}]})", "addr: wanted string"},
      {R"("status":"ACTIVE","addresses":{"v":[{"addr":"1","primary":"yes"}]})", "primary"},
  };
  for (const auto& [members, fault] : cases) {
    const auto server = ParseServer(Single(members), Uuid(1));
    ASSERT_TRUE(server.ok()) << server.status().ToString();
    EXPECT_NE(server->fault.find(fault), std::string::npos) << server->fault;
  }
}

TEST(ServerTest, WhatIsNoServerIsABadAnswer) {
  for (const std::string& body :
       {std::string(), std::string("<html>"), std::string("{}"), std::string(R"({"server":[]})"),
        std::string(R"({"server":{"status":"ACTIVE"}})"), std::string(R"({"server":{"id":"x"}})"),
        Single(R"("status":"ACTIVE")").substr(0, 40)}) {
    const auto server = ParseServer(body, Uuid(1));
    ASSERT_FALSE(server.ok()) << body;
    EXPECT_EQ(server.status().reason(), "BadCloudAnswer");
  }
  EXPECT_FALSE(ParseServer(Single(R"("status":"ACTIVE")"), Uuid(2)).ok()) << "another server";
}

TEST(ServerTest, PagesKeepOnlyWhatIsWanted) {
  const std::string body = R"({"count":7,"servers":[)" + Listed(1, "a") + "," + Listed(2, "b") +
                           R"(,{"name":"no id"},"no object"]})";
  const auto page = ParseServerPage(
      body, [](const std::string&, const std::string& name) { return name == "b"; });
  ASSERT_TRUE(page.ok()) << page.status().ToString();
  EXPECT_EQ(page->entries, 4u);
  EXPECT_EQ(page->count, 7);
  EXPECT_EQ(page->ids, (std::vector<std::string>{Uuid(1), Uuid(2)}));
  ASSERT_EQ(page->servers.size(), 1u);
  EXPECT_EQ(page->servers[0].id, Uuid(2));
}

TEST(ServerTest, OneBadEntryDoesNotSpoilItsPage) {
  const auto page = ParseServerPage(
      R"({"servers":[{"id":")" + Uuid(1) + R"(","status":3},)" + Listed(2, "b") + "]}", All);
  ASSERT_TRUE(page.ok());
  ASSERT_EQ(page->servers.size(), 2u);
  EXPECT_NE(page->servers[0].fault.find("servers[0].status"), std::string::npos);
  EXPECT_EQ(page->servers[1].fault, "");
  EXPECT_FALSE(page->count);
}

TEST(ServerTest, WhatIsNoListIsABadAnswer) {
  for (const char* body : {"", "null", "[]", "{}", R"({"servers":null})", R"({"servers":{}})",
                           R"({"error":{"code":"Ecs.0005"}})", R"({"servers":[{"id":"x"})"}) {
    const auto page = ParseServerPage(body, All);
    ASSERT_FALSE(page.ok()) << body;
    EXPECT_EQ(page.status().reason(), "BadCloudAnswer");
  }
}

}  // namespace
}  // namespace otc::node
