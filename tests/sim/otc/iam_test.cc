// IAM against iam.md and signing.md section 7.
#include "tests/sim/otc/sim_test_base.h"

namespace otc::sim {
namespace {

class IamTest : public SimTest {
 protected:
  void SetUp() override {
    SimTest::SetUp();
    sim_.identity().AddProject({"11111111111111111111111111111111", "eu-de_prod", kDomainId, true});
    sim_.identity().AddProject({"22222222222222222222222222222222", "eu-de", "other-domain", true});
    client_.project_id.clear();
  }
  Answer Token(const std::string& password, const std::string& scope) {
    TestClient open;
    open.sign = false;
    open.project_id.clear();
    return open.Call("POST", Iam("/v3/auth/tokens"),
                     R"({"auth":{"identity":{"methods":["password"],"password":{"user":{"name":")" +
                         std::string(kUserName) + R"(","password":")" + password +
                         R"(","domain":{"name":")" + kDomainName + R"("}}}},"scope":)" + scope +
                         "}}");
  }
};

TEST_F(IamTest, VersionsNeedNoCredentials) {
  client_.sign = false;
  const Answer versions = client_.Get(Iam("/"));
  EXPECT_EQ(versions.status, 300);
  EXPECT_EQ(versions.At("versions.values.0.status"), "\"stable\"");
  const Answer version = client_.Get(Iam("/v3/"));
  EXPECT_EQ(version.status, 200);
  EXPECT_EQ(version.At("version.id").substr(0, 3), "\"v3");
}

TEST_F(IamTest, ProjectNameMatchesWholeNamesOfTheOwnDomain) {
  const Answer answer = client_.Get(Iam("/v3/projects?name=eu-de"));
  ASSERT_EQ(answer.status, 200);
  EXPECT_EQ(answer.SizeOf("projects"), 1U);
  EXPECT_EQ(answer.At("projects.0.id"), "\"" + std::string(kProjectId) + "\"");
  EXPECT_EQ(answer.At("projects.0.domain_id"), "\"" + std::string(kDomainId) + "\"");
  EXPECT_EQ(client_.Get(Iam("/v3/projects?name=eu")).SizeOf("projects"), 0U);
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).SizeOf("projects"), 2U);
}

TEST_F(IamTest, ProjectPagesNeedBothParameters) {
  EXPECT_EQ(client_.Get(Iam("/v3/projects?page=1")).status, 400);
  EXPECT_EQ(client_.Get(Iam("/v3/projects?per_page=1")).status, 400);
  EXPECT_EQ(client_.Get(Iam("/v3/projects?page=0&per_page=1")).status, 400);
  EXPECT_EQ(client_.Get(Iam("/v3/projects?page=1&per_page=5001")).status, 400);
  const Answer first = client_.Get(Iam("/v3/projects?page=1&per_page=1"));
  EXPECT_EQ(first.SizeOf("projects"), 1U);
  EXPECT_NE(first.At("links.next"), "null");
  EXPECT_EQ(client_.Get(Iam("/v3/projects?page=2&per_page=1")).At("links.next"), "null");
}

TEST_F(IamTest, OneProject) {
  EXPECT_EQ(client_.Get(Iam(std::string("/v3/projects/") + kProjectId)).At("project.name"),
            "\"eu-de\"");
  const Answer foreign = client_.Get(Iam("/v3/projects/22222222222222222222222222222222"));
  EXPECT_EQ(foreign.status, 404);
  EXPECT_EQ(foreign.At("error.code"), "404");
  EXPECT_EQ(foreign.At("error.title"), "\"Not Found\"");
}

TEST_F(IamTest, DomainsByName) {
  EXPECT_EQ(
      client_.Get(Iam(std::string("/v3/auth/domains?name=") + kDomainName)).At("domains.0.id"),
      "\"" + std::string(kDomainId) + "\"");
  EXPECT_EQ(client_.Get(Iam("/v3/auth/domains?name=nobody")).SizeOf("domains"), 0U);
}

// iam.md section 3: identity twice, region * last.
TEST_F(IamTest, CatalogHoldsIdentityTwice) {
  client_.project_id = kProjectId;
  const Answer answer = client_.Get(Iam("/v3/auth/catalog"));
  const std::size_t size = answer.SizeOf("catalog");
  const std::string last = "catalog." + std::to_string(size - 1);
  EXPECT_EQ(answer.At("catalog.0.type"), "\"identity\"");
  EXPECT_EQ(answer.At("catalog.0.endpoints.0.region"), "\"eu-de\"");
  EXPECT_EQ(answer.At(last + ".type"), "\"identity\"");
  EXPECT_EQ(answer.At(last + ".endpoints.0.region"), "\"*\"");
  EXPECT_EQ(answer.At("catalog.0.id"), answer.At(last + ".id"));
  EXPECT_EQ(answer.At("catalog.1.endpoints.0.url"),
            "\"" + sim_.url("ecs") + "/v1/" + kProjectId + "\"");
  EXPECT_EQ(answer.At("catalog.8.type"), "\"network\"");
  EXPECT_EQ(answer.At("catalog.8.endpoints.0.url"), "\"" + sim_.url("vpc") + "\"");
}

TEST_F(IamTest, PasswordTokenOpensTheServices) {
  const Answer answer = Token(kUserPassword, R"({"project":{"name":"eu-de"}})");
  ASSERT_EQ(answer.status, 201);
  EXPECT_EQ(answer.At("token.project.id"), "\"" + std::string(kProjectId) + "\"");
  EXPECT_GT(answer.SizeOf("token.catalog"), 10U);
  client_.token = answer.headers.at("x-subject-token");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).status, 200);
  sim_.identity().ForgetTokens();
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
}

TEST_F(IamTest, TokenRefusals) {
  EXPECT_EQ(Token("wrong", R"({"project":{"name":"eu-de"}})").status, 401);
  EXPECT_EQ(Token(kUserPassword, R"({"project":{"name":"nowhere"}})").status, 401);
  TestClient open;
  open.sign = false;
  open.project_id.clear();
  EXPECT_EQ(open.Call("POST", Iam("/v3/auth/tokens"), "{}").status, 400);
  EXPECT_EQ(open.Call("POST", Iam("/v3/auth/tokens"), "no json").status, 400);
}

TEST_F(IamTest, DomainTokenHasNoProject) {
  const Answer answer =
      Token(kUserPassword, R"({"domain":{"name":")" + std::string(kDomainName) + R"("}})");
  ASSERT_EQ(answer.status, 201);
  EXPECT_EQ(answer.At("token.project"), "(absent)");
  client_.token = answer.headers.at("x-subject-token");
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
}

TEST_F(IamTest, TemporaryKeysForATokenOrAnAgency) {
  const std::string url = Iam("/v3.0/OS-CREDENTIAL/securitytokens");
  const Answer answer = client_.Call(
      "POST", url,
      R"({"auth":{"identity":{"methods":["token"],"token":{"duration_seconds":1000,"x":1}}}})");
  ASSERT_EQ(answer.status, 201);
  const auto text = [&](const char* name) {
    const std::string quoted = answer.At(std::string("credential.") + name);
    return quoted.substr(1, quoted.size() - 2);
  };
  TestClient temporary;
  temporary.credentials = {text("access"), text("secret"), text("securitytoken")};
  EXPECT_EQ(temporary.Get(Ecs("/cloudservers/detail")).status, 200);
  EXPECT_EQ(text("expires_at").size(), 27U);  // six digits and a Z
  EXPECT_EQ(client_
                .Call("POST", url,
                      R"({"auth":{"identity":{"methods":["token"],)"
                      R"("token":{"duration_seconds":899}}}})")
                .status,
            400);
  EXPECT_EQ(client_
                .Call("POST", url,
                      R"({"auth":{"identity":{"methods":["assume_role"],"assume_role":)"
                      R"({"agency_name":"a","domain_name":")" +
                          std::string(kDomainName) + R"("}}}})")
                .status,
            201);
  EXPECT_EQ(client_.Call("POST", url, R"({"auth":{"identity":{"methods":["saml"]}}})").status, 400);
}

TEST_F(IamTest, CredentialOfAKey) {
  const Answer answer =
      client_.Get(Iam(std::string("/v3.0/OS-CREDENTIAL/credentials/") + kAccessKey));
  EXPECT_EQ(answer.At("credential.status"), "\"active\"");
  const Answer unknown = client_.Get(Iam("/v3.0/OS-CREDENTIAL/credentials/AKNONE"));
  EXPECT_EQ(unknown.status, 404);
  EXPECT_EQ(unknown.At("error_code"), "\"IAM.0004\"");
}

}  // namespace
}  // namespace otc::sim
