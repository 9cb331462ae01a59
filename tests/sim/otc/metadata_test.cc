// The metadata service: ecs.md section 9, signing.md section 7.
#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class MetadataTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    client_.sign = false;
    client_.project_id.clear();
    id_ = AddServer("node-1");
  }
  Answer Meta(const std::string& path) { return client_.Get(sim_.url("metadata") + path); }
  Answer PutToken(const std::string& ttl) {
    client_.headers = {{"X-Metadata-Token-Ttl-Seconds", ttl}};
    return client_.Call("PUT", sim_.url("metadata") + "/meta-data/latest/api/token");
  }
  void SetAgency() {
    ASSERT_TRUE(
        sim_.world().ChangeServer(id_, [](Server& s) { s.metadata["agency_name"] = "ccm"; }).ok());
  }
  std::string id_;
};

TEST_F(MetadataTest, MetaDataHasTheUuidButNoRegionOrFlavor) {
  const Answer answer = Meta("/openstack/latest/meta_data.json");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.At("uuid"), "\"" + id_ + "\"");
  EXPECT_EQ(answer.At("hostname"), "\"node-1.novalocal\"");
  EXPECT_EQ(answer.At("project_id"), "\"" + std::string(kProjectId) + "\"");
  EXPECT_EQ(answer.At("region"), "(absent)");
  EXPECT_EQ(answer.At("flavor"), "(absent)");
  EXPECT_NE(Meta("/latest/meta-data/instance-id").body, id_);
  EXPECT_EQ(Meta("/latest/meta-data/instance-type").body, "s3.large.2");
  EXPECT_EQ(Meta("/latest/meta-data/placement/availability-zone").body, "eu-de-01");
  EXPECT_EQ(Meta("/openstack/latest/user_data").status, 404);
  EXPECT_EQ(Meta("/openstack/latest/network_data.json").At("links.0.mtu"), "null");
}

TEST_F(MetadataTest, WhichInstanceIsASwitch) {
  const std::string second = AddServer("node-2");
  sim_.behaviour().Change([&](Behaviour& b) { b.metadata_server = second; });
  EXPECT_EQ(Meta("/openstack/latest/meta_data.json").At("name"), "\"node-2\"");
  sim_.behaviour().Change([&](Behaviour& b) { b.metadata_server = "nobody"; });
  EXPECT_EQ(Meta("/openstack/latest/meta_data.json").status, 404);
}

TEST_F(MetadataTest, TokenStatusIsASwitch) {
  for (const int status : {404, 405, 503}) {
    sim_.behaviour().Change([&](Behaviour& b) { b.metadata_token_status = status; });
    EXPECT_EQ(PutToken("21600").status, status);
  }
  sim_.behaviour().Change([](Behaviour& b) { b.metadata_token_status = 200; });
  const Answer token = PutToken("21600");
  EXPECT_EQ(token.status, 200);
  EXPECT_EQ(token.body.substr(0, 4), "mdt-");
  EXPECT_EQ(PutToken("0").status, 400);
}

TEST_F(MetadataTest, NoAgencyNoKey) {
  EXPECT_EQ(Meta("/openstack/latest/securitykey").status, 404);
}

TEST_F(MetadataTest, KeyOpensTheServicesAndRotatesTenMinutesBeforeItsEnd) {
  SetAgency();
  const auto fetch = [&] {
    const Answer answer = Meta("/openstack/latest/securitykey");
    const auto text = [&](const char* name) {
      const std::string quoted = answer.At(std::string("credential.") + name);
      return quoted.substr(1, quoted.size() - 2);
    };
    return host::cloud::Credentials{text("access"), text("secret"), text("securitytoken")};
  };
  const auto works = [&](const host::cloud::Credentials& key, std::int64_t client_ahead_s) {
    TestClient client;
    client.credentials = key;
    client.skew_s = client_ahead_s;
    return client.Get(Ecs("/cloudservers/detail")).status == 200;
  };
  const auto first = fetch();
  EXPECT_TRUE(works(first, 0));
  EXPECT_EQ(fetch(), first);
  sim_.time().Advance(49 * 60'000);
  EXPECT_EQ(fetch(), first);
  sim_.time().Advance(2 * 60'000);
  const auto second = fetch();
  EXPECT_NE(second, first);
  EXPECT_TRUE(works(first, 51 * 60));
  EXPECT_TRUE(works(second, 51 * 60));
  sim_.time().Advance(10 * 60'000);
  EXPECT_FALSE(works(first, 61 * 60));
  EXPECT_TRUE(works(second, 61 * 60));
}

}  // namespace
}  // namespace otc::sim
