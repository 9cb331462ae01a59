// Nova, EVS discovery and the EIP list: ecs.md sections 3 and 10, eip.md section 1.
#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class NovaTest : public SimTest {};

TEST_F(NovaTest, VersionDocumentNames260WithoutCredentials) {
  client_.sign = false;
  const Answer answer = client_.Get(sim_.url("ecs") + "/v2.1");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.At("version.version"), "\"2.60\"");
  EXPECT_EQ(client_.Get(sim_.url("evs") + "/v3/").At("versions.0.version"), "\"3.50\"");
}

TEST_F(NovaTest, TypesDifferFromV1) {
  const std::string id = AddServer("node");
  const Answer answer = client_.Get(Nova("/servers/" + id));
  ASSERT_EQ(answer.status, 200);
  const std::string vpc = sim_.world().FindServer(id)->vpc_id;
  EXPECT_EQ(answer.At("server.addresses." + vpc + ".0.version"), "4");
  EXPECT_EQ(answer.At("server.os-extended-volumes:volumes_attached.0.delete_on_termination"),
            "true");
  EXPECT_EQ(answer.At("server.flavor.id"), "\"s3.large.2\"");
  EXPECT_EQ(answer.At("server.flavor.original_name"), "(absent)");
  EXPECT_EQ(answer.At("server.tags"), "(absent)");
  EXPECT_EQ(answer.At("server.image.id").front(), '"');
}

TEST_F(NovaTest, MicroversionBringsFlavorNameAndTags) {
  const std::string id = AddServer("node");
  client_.headers = {{"X-OpenStack-Nova-API-Version", "2.60"}};
  Answer answer = client_.Get(Nova("/servers/" + id));
  EXPECT_EQ(answer.At("server.flavor.original_name"), "\"s3.large.2\"");
  EXPECT_EQ(answer.At("server.flavor.id"), "(absent)");
  EXPECT_EQ(answer.At("server.tags"), "[]");
  EXPECT_EQ(answer.headers.at("x-openstack-nova-api-version"), "2.60");
  client_.headers = {{"OpenStack-API-Version", "compute 2.30"}};
  answer = client_.Get(Nova("/servers/" + id));
  EXPECT_EQ(answer.At("server.flavor.id"), "\"s3.large.2\"");
  EXPECT_EQ(answer.At("server.tags"), "[]");
  client_.headers = {{"X-OpenStack-Nova-API-Version", "2.61"}};
  EXPECT_EQ(client_.Get(Nova("/servers/" + id)).status, 406);
}

// eu-ch2: ecs.md section 3, TF issue 2663.
TEST_F(NovaTest, MicroversionMayBeIgnored) {
  const std::string id = AddServer("node");
  sim_.behaviour().Change([](Behaviour& b) { b.nova_microversions = false; });
  client_.headers = {{"X-OpenStack-Nova-API-Version", "2.60"}};
  EXPECT_EQ(client_.Get(Nova("/servers/" + id)).At("server.flavor.id"), "\"s3.large.2\"");
}

TEST_F(NovaTest, PagesByMarker) {
  std::vector<std::string> ids;
  for (int i = 0; i < 5; ++i) ids.push_back(AddServer("node-" + std::to_string(i)));
  const Answer first = client_.Get(Nova("/servers/detail?limit=2"));
  EXPECT_EQ(Names(first), "node-0 node-1");
  EXPECT_EQ(first.At("servers_links.0.rel"), "\"next\"");
  EXPECT_NE(first.At("servers_links.0.href").find(sim_.url("ecs")), std::string::npos);
  const Answer last = client_.Get(Nova("/servers/detail?limit=2&marker=" + ids[3]));
  EXPECT_EQ(Names(last), "node-4");
  EXPECT_EQ(last.At("servers_links"), "(absent)");
  EXPECT_EQ(client_.Get(Nova("/servers/detail?marker=gone")).status, 400);
  sim_.behaviour().Change([](Behaviour& b) { b.internal_links = true; });
  EXPECT_NE(
      client_.Get(Nova("/servers/detail?limit=2")).At("servers_links.0.href").find("nova.internal"),
      std::string::npos);
}

TEST_F(NovaTest, InvalidStatusFilterFrom238) {
  AddServer("node");
  EXPECT_EQ(client_.Get(Nova("/servers/detail?status=WRONG")).SizeOf("servers"), 0U);
  client_.headers = {{"X-OpenStack-Nova-API-Version", "2.38"}};
  const Answer answer = client_.Get(Nova("/servers/detail?status=WRONG"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.At("badRequest.code"), "400");
}

TEST_F(NovaTest, MissingServerIsItemNotFound) {
  const Answer answer = client_.Get(Nova("/servers/4f4b3dfa-eb70-47cf-a60a-998a53bd598a"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.At("itemNotFound.code"), "404");
}

TEST_F(NovaTest, ZonesAndFlavors) {
  const Answer zones = client_.Get(Nova("/os-availability-zone"));
  EXPECT_EQ(zones.SizeOf("availabilityZoneInfo"), 3U);
  EXPECT_EQ(zones.At("availabilityZoneInfo.0.zoneState.available"), "true");
  EXPECT_EQ(client_.Get(Nova("/flavors/s3.large.4")).At("flavor.vcpus"), "2");
  EXPECT_EQ(client_.Get(Nova("/flavors/none")).status, 404);
  EXPECT_EQ(client_.Get(Nova("/flavors/detail")).At("flavors.0.ram").find('"'), std::string::npos);
  EXPECT_EQ(client_.Get(Nova("/servers")).SizeOf("servers"), 0U);
}

TEST_F(NovaTest, VolumeTypesAndZonesOfEvs) {
  const Answer types = client_.Get(sim_.url("evs") + "/v2/" + kProjectId + "/types");
  EXPECT_EQ(types.SizeOf("volume_types"), 3U);
  EXPECT_EQ(client_.Get(sim_.url("evs") + "/v3/" + kProjectId + "/os-availability-zone")
                .SizeOf("availabilityZoneInfo"),
            3U);
}

TEST(NovaZonesTest, SwissZonesHaveNoDash) {
  const host::SystemClock clock;
  const SimTime time(&clock);
  World world(&time, 1, "eu-ch2");
  EXPECT_EQ(world.Zones(), (std::vector<std::string>{"eu-ch2a", "eu-ch2b"}));
}

class EipTest : public SimTest {
 protected:
  std::string AddIp(const std::string& port = "") {
    PublicIp ip;
    ip.project_id = kProjectId;
    ip.port_id = port;
    if (!port.empty()) {
      ip.status = "ACTIVE";
      ip.private_ip = "10.0.0.4";
    }
    const auto id = sim_.world().AddPublicIp(ip);
    EXPECT_TRUE(id.ok());
    return id.ok() ? *id : "";
  }
};

TEST_F(EipTest, UnboundAddressHasNoPort) {
  const std::string id = AddIp();
  const Answer answer = client_.Get(Vpc("/publicips/" + id));
  EXPECT_EQ(answer.At("publicip.status"), "\"DOWN\"");
  EXPECT_EQ(answer.At("publicip.port_id"), "(absent)");
  EXPECT_EQ(answer.At("publicip.private_ip_address"), "(absent)");
  EXPECT_EQ(answer.At("publicip.bandwidth_size"), "5");
  EXPECT_EQ(answer.At("publicip.create_time").substr(11, 1), " ");
}

TEST_F(EipTest, BoundAddressNamesPortAndPrivateAddress) {
  const Answer answer = client_.Get(Vpc("/publicips/" + AddIp("port-1")));
  EXPECT_EQ(answer.At("publicip.port_id"), "\"port-1\"");
  EXPECT_EQ(answer.At("publicip.private_ip_address"), "\"10.0.0.4\"");
  EXPECT_EQ(answer.At("publicip.status"), "\"ACTIVE\"");
}

TEST_F(EipTest, MarkerPagesEndInAnEmptyPage) {
  std::vector<std::string> ids;
  for (int i = 0; i < 3; ++i) ids.push_back(AddIp());
  EXPECT_EQ(client_.Get(Vpc("/publicips?limit=2")).SizeOf("publicips"), 2U);
  const Answer next = client_.Get(Vpc("/publicips?limit=2&marker=" + ids[1]));
  EXPECT_EQ(next.SizeOf("publicips"), 1U);
  EXPECT_EQ(next.At("publicips.0.id"), "\"" + ids[2] + "\"");
  EXPECT_EQ(client_.Get(Vpc("/publicips?marker=" + ids[2])).SizeOf("publicips"), 0U);
  EXPECT_EQ(client_.Get(Vpc("/publicips?marker=gone")).status, 400);
  EXPECT_EQ(client_.Get(Vpc("/publicips?limit=x")).At("code"), "\"VPC.0501\"");
}

TEST_F(EipTest, PortFilterIsIgnoredUnlessSwitchedOn) {
  AddIp("port-1");
  AddIp("port-2");
  AddIp();
  EXPECT_EQ(client_.Get(Vpc("/publicips?port_id=port-1")).SizeOf("publicips"), 3U);
  sim_.behaviour().Change([](Behaviour& b) { b.eip_port_filter = true; });
  EXPECT_EQ(client_.Get(Vpc("/publicips?port_id=port-1")).SizeOf("publicips"), 1U);
  EXPECT_EQ(client_.Get(Vpc("/publicips?port_id=port-1&port_id=port-2")).SizeOf("publicips"), 2U);
}

TEST_F(EipTest, MissingAddressIsVpc0504) {
  const Answer answer = client_.Get(Vpc("/publicips/nope"));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.At("code"), "\"VPC.0504\"");
}

TEST_F(EipTest, AddressOfADeletedServerIsFreed) {
  const std::string server = AddServer("node");
  const auto ip = sim_.world().GiveServerPublicIp(server, "");
  ASSERT_TRUE(ip.ok());
  ASSERT_TRUE(sim_.world().RemoveServer(server).ok());
  const Answer answer = client_.Get(Vpc("/publicips/" + *ip));
  EXPECT_EQ(answer.At("publicip.status"), "\"DOWN\"");
  EXPECT_EQ(answer.At("publicip.port_id"), "(absent)");
}

}  // namespace
}  // namespace otc::sim
