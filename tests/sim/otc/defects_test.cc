// Every deliberate defect really changes what it says (a defect without effect
// would make the tests that rely on it prove nothing).
#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class DefectsTest : public SimTest {
 protected:
  void Set(const std::string& defect) {
    ASSERT_EQ(KnownDefects().count(defect), 1U);
    sim_.behaviour().Change([&](Behaviour& behaviour) { behaviour.defects = {defect}; });
  }
};

TEST_F(DefectsTest, AnySignature) {
  client_.credentials.secret_key = "wrong";
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
  Set("any-signature");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

TEST_F(DefectsTest, CatalogStarOnly) {
  Set("catalog-star-only");
  EXPECT_EQ(client_.Get(Iam("/v3/auth/catalog")).At("catalog.0.type"), "\"ecs\"");
}

TEST_F(DefectsTest, EipIgnoresMarker) {
  PublicIp ip;
  ip.project_id = kProjectId;
  const auto id = sim_.world().AddPublicIp(ip);
  ASSERT_TRUE(id.ok());
  Set("eip-ignores-marker");
  EXPECT_EQ(client_.Get(Vpc("/publicips?marker=" + *id)).SizeOf("publicips"), 1U);
}

TEST_F(DefectsTest, FlavorNumbersAndTimesWithoutZ) {
  const std::string id = AddServer("node");
  Set("flavor-numbers");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id)).At("server.flavor.vcpus"), "2");
  Set("times-without-z");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/" + id)).At("server.created").find('Z'),
            std::string::npos);
}

TEST_F(DefectsTest, NovaNoMicroversion) {
  Set("nova-no-microversion");
  EXPECT_EQ(client_.Get(sim_.url("ecs") + "/v2.1").At("version.version"), "\"\"");
}

TEST_F(DefectsTest, OffsetIsRecord) {
  for (const char* name : {"a", "b", "c"}) AddServer(name);
  Set("offset-is-record");
  EXPECT_EQ(Names(client_.Get(Ecs("/cloudservers/detail?limit=2&offset=1"))), "b c");
}

TEST_F(DefectsTest, ProjectsByPrefix) {
  Set("projects-by-prefix");
  EXPECT_EQ(client_.Get(Iam("/v3/projects?name=eu")).SizeOf("projects"), 1U);
}

TEST_F(DefectsTest, SecurityTokenUnchecked) {
  client_.credentials.security_token = "made up";
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
  Set("security-token-unchecked");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

TEST_F(DefectsTest, NoDateAndStrictHost) {
  Set("no-date");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).headers.count("date"), 0U);
  // Our signer always signs Host; the Go client of tests/interop does not.
  Set("strict-host");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

}  // namespace
}  // namespace otc::sim
