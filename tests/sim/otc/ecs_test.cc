// ECS v1 against ecs.md: list, filters, paging, types as sent, single server,
// interfaces, disks, flavors, tags, actions by job.
#include "host/base/strings.h"
#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class EcsTest : public SimTest {};

constexpr char kUnknownId[] = "4f4b3dfa-eb70-47cf-a60a-998a53bd598a";

TEST_F(EcsTest, OffsetIsAPageNumberFromOne) {
  for (int i = 0; i < 5; ++i) AddServer("node-" + std::to_string(i));
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?limit=2&offset=1"))), "node-0 node-1");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?limit=2&offset=0"))), "node-0 node-1");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?limit=2&offset=2"))), "node-2 node-3");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?limit=2&offset=3"))), "node-4");
  const Answer past = client_.Get(Ecs("/cloudservers/detail?limit=2&offset=4"));
  EXPECT_EQ(past.SizeOf("servers"), 0U);
  EXPECT_EQ(past.At("count"), "5");
}

TEST_F(EcsTest, DefaultPageHoldsTwentyFive) {
  for (int i = 0; i < 30; ++i) AddServer("node-" + std::to_string(i));
  const Answer answer = client_.Get(Ecs("/cloudservers/detail"));
  EXPECT_EQ(answer.SizeOf("servers"), 25U);
  EXPECT_EQ(answer.At("count"), "30");
}

TEST_F(EcsTest, BadParametersAre400Ecs0005) {
  for (const char* query :
       {"limit=0", "limit=1001", "limit=x", "limit=-1", "offset=-1", "offset=a", "name=%5B"}) {
    const Answer answer = client_.Get(Ecs(std::string("/cloudservers/detail?") + query));
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_EQ(answer.At("error.code"), "\"Ecs.0005\"") << query;
  }
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/not-a-uuid")).At("error.code"), "\"Ecs.0005\"");
}

TEST_F(EcsTest, NameFilterIsFuzzyAndLikeARegularExpression) {
  for (const char* name : {"node-1", "node-10", "nodex1", "other"}) AddServer(name);
  const auto names = [&](const std::string& filter) {
    return Names(client_.Get(Ecs("/cloudservers/detail?name=" + filter)));
  };
  EXPECT_EQ(names("node-1"), "node-1 node-10");
  EXPECT_EQ(names("node.1"), "node-1 node-10 nodex1");
  EXPECT_EQ(names("%5Enode-1%24"), "node-1");
}

TEST_F(EcsTest, NameFilterOtherReadings) {
  for (const char* name : {"node-1", "node-10"}) AddServer(name);
  sim_.behaviour().Change([](Behaviour& b) { b.name_filter = "substring"; });
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?name=%5Enode-1%24"))), "");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?name=node-1"))), "node-1 node-10");
  sim_.behaviour().Change([](Behaviour& b) { b.name_filter = "ignored"; });
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?name=other"))), "node-1 node-10");
}

TEST_F(EcsTest, StableStatusAlsoMatchesItsTransientOnes) {
  for (const char* status : {"ACTIVE", "REBOOT", "HARD_REBOOT", "REBUILD", "MIGRATING", "RESIZE",
                             "SHUTOFF", "ERROR", "BUILD"}) {
    const std::string id = AddServer(host::ToLower(status));
    ASSERT_TRUE(sim_.SetServerStatus(id, status).ok());
  }
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?status=ACTIVE"))),
            "active reboot hard_reboot rebuild migrating resize");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?status=SHUTOFF"))),
            "rebuild resize shutoff");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?status=ERROR"))), "error");
}

TEST_F(EcsTest, AddressFilterMatchesPrefixesAndIpEqOnlyWhenSwitchedOn) {
  Server server;
  server.name = "a";
  server.nics.emplace_back().ips = {"192.168.0.1"};
  ASSERT_TRUE(sim_.AddServer(server).ok());
  server.name = "b";
  server.nics[0].ips = {"192.168.0.10"};
  ASSERT_TRUE(sim_.AddServer(server).ok());
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?ip=192.168.0.1"))), "a b");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?ip_eq=192.168.0.1"))), "a b");
  sim_.behaviour().Change([](Behaviour& b) { b.ip_eq_filter = true; });
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?ip_eq=192.168.0.1"))), "a");
}

TEST_F(EcsTest, TagAndFlavorFilters) {
  Server server;
  server.name = "vm";
  server.tags = {"cluster=blue", "pool"};
  ASSERT_TRUE(sim_.AddServer(server).ok());
  server.name = "metal";
  server.tags = {"__type_baremetal"};
  server.flavor = "m4.xlarge.8";
  ASSERT_TRUE(sim_.AddServer(server).ok());
  const auto names = [&](const std::string& query) {
    return Names(client_.Get(Ecs("/cloudservers/detail?" + query)));
  };
  EXPECT_EQ(names("not-tags=__type_baremetal"), "vm");
  EXPECT_EQ(names("tags=cluster%3Dblue"), "vm");
  EXPECT_EQ(names("tags=cluster"), "vm");
  EXPECT_EQ(names("tags=cluster%3Dred"), "");
  EXPECT_EQ(names("flavor=m4.xlarge.8"), "metal");
  EXPECT_EQ(names("no_such_filter=1"), "vm metal");
}

// ecs.md section 2, table of fields: what is a string there is one here.
TEST_F(EcsTest, TypesAsSent) {
  const std::string id = AddServer("node-1");
  ASSERT_TRUE(sim_.world().GiveServerPublicIp(id, "80.158.7.7").ok());
  const Answer answer = client_.Get(Ecs("/cloudservers/" + id));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.At("server.flavor.vcpus"), "\"2\"");
  EXPECT_EQ(answer.At("server.flavor.ram"), "\"4096\"");
  EXPECT_EQ(answer.At("server.flavor.id"), "\"s3.large.2\"");
  EXPECT_EQ(answer.At("server.OS-EXT-STS:task_state"), "null");
  EXPECT_EQ(answer.At("server.OS-EXT-AZ:availability_zone"), "\"eu-de-01\"");
  const auto server = sim_.world().FindServer(id);
  const std::string addresses = "server.addresses." + server->vpc_id;
  EXPECT_EQ(answer.SizeOf(addresses), 2U);
  EXPECT_EQ(answer.At(addresses + ".0.version"), "\"4\"");
  EXPECT_EQ(answer.At(addresses + ".0.OS-EXT-IPS:type"), "\"fixed\"");
  EXPECT_EQ(answer.At(addresses + ".0.primary"), "true");
  EXPECT_EQ(answer.At(addresses + ".1.addr"), "\"80.158.7.7\"");
  EXPECT_EQ(answer.At(addresses + ".1.OS-EXT-IPS:type"), "\"floating\"");
  EXPECT_EQ(answer.At("server.metadata.vpc_id"), "\"" + server->vpc_id + "\"");
  const std::string volume = "server.os-extended-volumes:volumes_attached.0";
  EXPECT_EQ(answer.At(volume + ".bootIndex"), "\"0\"");
  EXPECT_EQ(answer.At(volume + ".delete_on_termination"), "\"true\"");
  EXPECT_EQ(answer.At("server.created").back(), '"');
  EXPECT_EQ(answer.At("server.created").substr(20, 1), "Z");
  EXPECT_EQ(answer.At("server.accessIPv4"), "\"\"");
  EXPECT_EQ(answer.At("server.fault"), "(absent)");
}

TEST_F(EcsTest, TwoNicsAndIPv6) {
  Server server;
  server.name = "dual";
  server.nics.resize(2);
  server.nics[0].ips = {"10.1.0.5"};
  server.nics[1].ips = {"10.2.0.5", "fd00::5"};
  server.nics[1].primary = true;
  const auto id = sim_.AddServer(server);
  ASSERT_TRUE(id.ok());
  const Answer answer = client_.Get(Ecs("/cloudservers/" + *id));
  const std::string list = "server.addresses." + sim_.world().FindServer(*id)->vpc_id;
  EXPECT_EQ(answer.At(list + ".0.primary"), "false");
  EXPECT_EQ(answer.At(list + ".1.primary"), "true");
  EXPECT_EQ(answer.At(list + ".2.version"), "\"6\"");
}

TEST_F(EcsTest, FaultOnlyWhenThereIsOne) {
  const std::string id = AddServer("broken");
  ASSERT_TRUE(sim_.world()
                  .ChangeServer(id,
                                [](Server& server) {
                                  server.status = "ERROR";
                                  server.fault = ServerFault{500, "No valid host was found"};
                                })
                  .ok());
  const Answer answer = client_.Get(Ecs("/cloudservers/" + id));
  EXPECT_EQ(answer.At("server.fault.code"), "500");
  EXPECT_EQ(answer.At("server.fault.message"), "\"No valid host was found\"");
}

TEST_F(EcsTest, MissingServerIs404WithAServiceCode) {
  const Answer answer = client_.Get(Ecs(std::string("/cloudservers/") + kUnknownId));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.At("error.code"), "\"Ecs.0114\"");
}

TEST_F(EcsTest, ServersOfOtherProjectsAreNotSeen) {
  Server server;
  server.name = "foreign";
  server.project_id = "ffffffffffffffffffffffffffffffff";
  const auto id = sim_.AddServer(server);
  ASSERT_TRUE(id.ok());
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).At("count"), "0");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + *id)).status, 404);
}

TEST_F(EcsTest, InterfacesNameTheNetworkAndTheSubnet) {
  const std::string id = AddServer("node");
  const Answer answer = client_.Get(Ecs("/cloudservers/" + id + "/os-interface"));
  const auto server = sim_.world().FindServer(id);
  EXPECT_EQ(answer.At("interfaceAttachments.0.net_id"), "\"" + server->nics[0].network_id + "\"");
  EXPECT_EQ(answer.At("interfaceAttachments.0.fixed_ips.0.subnet_id"),
            "\"" + server->nics[0].subnet_id + "\"");
  EXPECT_EQ(answer.At("attachableQuantity.free_nic"), "11");
}

TEST_F(EcsTest, DisksWithFreeSlots) {
  const std::string id = AddServer("node");
  const std::string volume = sim_.world().FindServer(id)->volumes[0].id;
  const Answer list = client_.Get(Ecs("/cloudservers/" + id + "/block_device"));
  EXPECT_EQ(list.At("volumeAttachments.0.size"), "10");
  EXPECT_EQ(list.At("volumeAttachments.0.bootIndex"), "0");
  EXPECT_EQ(list.At("attachableQuantity.free_blk"), "23");
  EXPECT_EQ(list.At("attachableQuantity.free_scsi"), "59");
  const Answer one = client_.Get(Ecs("/cloudservers/" + id + "/block_device/" + volume));
  EXPECT_EQ(one.At("volumeAttachment.id"), "\"" + volume + "\"");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id + "/block_device/" + kUnknownId)).status, 404);
}

TEST_F(EcsTest, FlavorsOfAZone) {
  const Answer all = client_.Get(Ecs("/cloudservers/flavors?availability_zone=eu-de-02"));
  EXPECT_GE(all.SizeOf("flavors"), 8U);
  EXPECT_EQ(all.At("flavors.0.vcpus").front(), '"');
  EXPECT_NE(all.At("flavors.0.ram").front(), '"');
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/flavors?availability_zone=mars-1")).SizeOf("flavors"),
            0U);
}

TEST_F(EcsTest, TagsAreCreatedOverwrittenAndDeleted) {
  const std::string id = AddServer("node");
  const auto act = [&](const std::string& body) {
    return client_.Call("POST", Ecs("/cloudservers/" + id + "/tags/action"), body);
  };
  EXPECT_EQ(act(R"({"action":"create","tags":[{"key":"a","value":"1"}]})").status, 204);
  EXPECT_EQ(act(R"({"action":"create","tags":[{"key":"a","value":"2"}]})").status, 204);
  const Answer tags = client_.Get(Ecs("/cloudservers/" + id + "/tags"));
  EXPECT_EQ(tags.SizeOf("tags"), 1U);
  EXPECT_EQ(tags.At("tags.0.value"), "\"2\"");
  EXPECT_EQ(act(R"({"action":"delete","tags":[{"key":"a","value":""}]})").status, 204);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id + "/tags")).SizeOf("tags"), 0U);
  EXPECT_EQ(act(R"({"action":"create","tags":[{"key":"a/b","value":"1"}]})").status, 400);
  EXPECT_EQ(act(R"({"action":"replace","tags":[]})").status, 400);
  EXPECT_EQ(act("nonsense").status, 400);
}

class EcsActionTest : public EcsTest {
 protected:
  Answer Act(const std::string& path, const std::string& body) {
    return client_.Call("POST", Ecs("/cloudservers/" + path), body);
  }
  std::string Job(const Answer& answer, const std::string& path) {
    const std::string quoted = answer.At("job_id");
    return client_.Get(Ecs("/jobs/" + quoted.substr(1, quoted.size() - 2))).At(path);
  }
  void EndJobs() { sim_.time().Advance(10'000); }
};

TEST_F(EcsActionTest, StopIsAJobThatEndsInShutoff) {
  const std::string id = AddServer("node");
  sim_.behaviour().Change([](Behaviour& b) { b.job_ms = 5000; });
  const Answer started = Act("action", R"({"os-stop":{"servers":[{"id":")" + id + R"("}]}})");
  ASSERT_EQ(started.status, 200);
  EXPECT_EQ(Job(started, "status"), "\"RUNNING\"");
  const Answer during = client_.Get(Ecs("/cloudservers/" + id));
  EXPECT_EQ(during.At("server.status"), "\"ACTIVE\"");
  EXPECT_EQ(during.At("server.OS-EXT-STS:task_state"), "\"powering-off\"");
  EndJobs();
  EXPECT_EQ(Job(started, "status"), "\"SUCCESS\"");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id)).At("server.status"), "\"SHUTOFF\"");
}

TEST_F(EcsActionTest, DeleteEndsIn404) {
  const std::string id = AddServer("node");
  const Answer started = Act("delete", R"({"servers":[{"id":")" + id + R"("}]})");
  ASSERT_EQ(started.status, 200);
  EndJobs();
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id)).status, 404);
  EXPECT_EQ(Job(started, "entities.sub_jobs.0.entities.server_id"), "\"" + id + "\"");
}

TEST_F(EcsActionTest, BatchMayFailInPart) {
  const std::string good = AddServer("good"), locked = AddServer("locked");
  ASSERT_TRUE(sim_.world().ChangeServer(locked, [](Server& s) { s.locked = true; }).ok());
  const Answer started =
      Act("delete", R"({"servers":[{"id":")" + good + R"("},{"id":")" + locked + R"("}]})");
  EndJobs();
  EXPECT_EQ(Job(started, "status"), "\"FAIL\"");
  EXPECT_EQ(Job(started, "error_code"), "\"Ecs.0605\"");
  EXPECT_EQ(Job(started, "entities.sub_jobs.0.status"), "\"SUCCESS\"");
  EXPECT_EQ(Job(started, "entities.sub_jobs.1.status"), "\"FAIL\"");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + good)).status, 404);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + locked)).status, 200);
}

TEST_F(EcsActionTest, BadBatchesAreRefused) {
  EXPECT_EQ(Act("delete", "{}").status, 400);
  EXPECT_EQ(Act("delete", "[").status, 400);
  EXPECT_EQ(Act("action", R"({"os-fly":{"servers":[]}})").status, 400);
  EXPECT_EQ(Act("delete", std::string(R"({"servers":[{"id":")") + kUnknownId + R"("}]})").status,
            404);
  const Answer job = client_.Get(Ecs("/jobs/ff8080814dbd65d7014dbe0d84db0013"));
  EXPECT_EQ(job.status, 400);
  EXPECT_EQ(job.At("error.code"), "\"Common.0011\"");
}

TEST_F(EcsTest, PageOfAThousandOfFiveThousand) {
  const auto ids =
      sim_.Load(R"({"servers":[{"name":"node-%04d","count":5000,"public_ip":"auto"}]})");
  ASSERT_TRUE(ids.ok()) << ids.status().ToString();
  EXPECT_EQ(ids->size(), 5000U);
  const Answer answer = client_.Get(Ecs("/cloudservers/detail?limit=1000&offset=5"));
  EXPECT_EQ(answer.SizeOf("servers"), 1000U);
  EXPECT_EQ(answer.At("servers.999.name"), "\"node-4999\"");
  EXPECT_EQ(answer.At("count"), "5000");
}

}  // namespace
}  // namespace otc::sim
