// What stands before every service: errors-and-limits.md sections 1, 2 and 4,
// signing.md section 3 (scoping), and the wire.
#include <sys/stat.h>

#include <filesystem>

#include "tests/sim/otc/sim_test_base.h"
#include "tests/sim/otc/tls_files.h"

namespace otc::sim {
namespace {

class GatewayTest : public SimTest {};

TEST_F(GatewayTest, UnknownPathOrMethodIsApigw0101) {
  const std::string urls[] = {Iam("/v3/nothing"), Ecs("/cloudservers/a/b/c"),
                              sim_.url("elb") + "/v3/" + kProjectId + "/elb/loadbalancers"};
  for (const std::string& url : urls) {
    const Answer answer = client_.Get(url);
    EXPECT_EQ(answer.status, 404) << url;
    EXPECT_EQ(answer.At("error_code"), "\"APIGW.0101\"") << url;
    EXPECT_EQ(answer.At("request_id"), "\"" + answer.headers.at("x-request-id") + "\"");
  }
  EXPECT_EQ(client_.Call("DELETE", Iam("/v3/projects")).At("error_code"), "\"APIGW.0101\"");
}

TEST_F(GatewayTest, EveryAnswerCarriesRequestIdAndDate) {
  const Answer answer = client_.Get(Iam("/v3"));
  EXPECT_EQ(answer.headers.at("x-request-id").size(), 32U);
  EXPECT_NE(answer.headers.at("date").find(" GMT"), std::string::npos);
  EXPECT_NE(client_.Get(Iam("/v3")).headers.at("x-request-id"), answer.headers.at("x-request-id"));
}

TEST_F(GatewayTest, DateShowsTheSkewOfTheCloudsClock) {
  sim_.time().SetSkew(2 * 3600 * 1000);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 401);
  client_.skew_s = 2 * 3600;
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

TEST_F(GatewayTest, FinalSlashMakesNoDifference) {
  EXPECT_EQ(client_.Get(Iam("/v3/projects/?name=eu-de")).SizeOf("projects"), 1U);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail/")).status, 200);
}

TEST_F(GatewayTest, AConnectionServesManyRequests) {
  const std::string get = "GET /v3 HTTP/1.1\r\nHost: h\r\n";
  const Answer both = Exchange("127.0.0.1", sim_.port("iam"),
                               get + "\r\n" + get + "Connection: close\r\n\r\n", 5000);
  const auto second = both.raw.find("HTTP/1.1 200", 1);
  EXPECT_EQ(both.status, 200);
  EXPECT_NE(second, std::string::npos);
}

TEST_F(GatewayTest, BothHeaderFormsAreTaken) {
  client_.form = host::cloud::SignForm::kAccess;
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

// signing.md section 3, last paragraph.
TEST_F(GatewayTest, DomainScopeOnAProjectCall) {
  client_.project_id.clear();
  client_.headers = {{"X-Domain-Id", kDomainId}};
  Answer answer = client_.Get(Ecs("/cloudservers/detail"));
  EXPECT_EQ(answer.status, 401);
  EXPECT_EQ(answer.At("badRequest.code"), "\"401\"");
  EXPECT_NE(answer.body.find("doesn't match Context's project_id 'null'"), std::string::npos);
  answer = client_.Get(Nova("/servers/detail"));
  EXPECT_EQ(answer.status, 401);
  answer = client_.Get(Vpc("/publicips"));
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.At("code"), "\"VPC.0007\"");
}

TEST_F(GatewayTest, ProjectOfTheUrlMustBeThatOfTheHeader) {
  const std::string other = "ffffffffffffffffffffffffffffffff";
  Answer answer = client_.Get(sim_.url("ecs") + "/v1/" + other + "/cloudservers/detail");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.At("error.code"), "\"Ecs.0023\"");
  answer = client_.Get(sim_.url("ecs") + "/v2.1/" + other + "/servers/detail");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.At("badRequest.code"), "400");
  answer = client_.Get(sim_.url("vpc") + "/v1/" + other + "/publicips");
  EXPECT_EQ(answer.At("code"), "\"VPC.0007\"");
  client_.project_id = other;
  answer = client_.Get(Ecs("/cloudservers/detail"));
  EXPECT_EQ(answer.status, 403);
  EXPECT_EQ(answer.At("error_code"), "\"APIGW.0302\"");
}

TEST_F(GatewayTest, WithoutAScopeTheDefaultProjectIsMeant) {
  client_.project_id.clear();
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
}

TEST_F(GatewayTest, BodiesAboveTwelveMegabytesAre413) {
  client_.sign = false;
  const Answer answer =
      client_.Call("POST", Iam("/v3/auth/tokens"), std::string((std::size_t{12} << 20) + 1, 'x'));
  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.At("error_code"), "\"APIGW.0201\"");
}

TEST_F(GatewayTest, BodyShorterThanPromisedIs400) {
  const std::string head = "POST /v3/auth/tokens HTTP/1.1\r\nHost: h\r\nContent-Length: 50\r\n\r\n";
  const Answer answer = Exchange("127.0.0.1", sim_.port("iam"), head + "{}", 5000, true);
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.At("error_code"), "\"APIGW.0106\"");
}

TEST_F(GatewayTest, RateLimitOfTheGatewayWithRetryAfter) {
  ASSERT_EQ(Control("PUT", "rate_limits",
                    R"({"rate_limits":[{"service":"ecs","calls":"read","rate":0,"burst":2,)"
                    R"("retry_after_s":7},{"service":"iam","rate":0,"burst":1}]})")
                .status,
            200);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
  Answer answer = client_.Get(Ecs("/cloudservers/detail"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.At("error_code"), "\"APIGW.0308\"");
  EXPECT_EQ(answer.headers.at("retry-after"), "7");
  EXPECT_EQ(client_.Get(Vpc("/publicips")).status, 200);
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).status, 200);
  answer = client_.Get(Iam("/v3/projects"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.At("error_code"), "\"IAM.0012\"");
  EXPECT_EQ(answer.headers.count("retry-after"), 0U);
}

TEST_F(GatewayTest, BucketsFillAgainAndOtherAnswers) {
  sim_.rate_limits().Set({{"ecs", "write", 1, 1, 0, "accepted"}, {"ecs", "read", 1, 1, 0, "ecs"}});
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
  Answer answer = client_.Get(Ecs("/cloudservers/detail"));
  EXPECT_EQ(answer.status, 429);
  EXPECT_EQ(answer.At("error.code"), "\"Common.1503\"");
  sim_.time().Advance(1000);
  client_.skew_s = 1;
  EXPECT_EQ(client_.Get(Ecs("/cloudservers/detail")).status, 200);
  const std::string id = AddServer("node");
  const std::string body = R"({"servers":[{"id":")" + id + R"("}]})";
  EXPECT_EQ(client_.Call("POST", Ecs("/cloudservers/delete"), body).status, 200);
  answer = client_.Call("POST", Ecs("/cloudservers/delete"), body);
  EXPECT_EQ(answer.status, 202);
  EXPECT_EQ(answer.At("error.code"), "\"Common.0024\"");
}

TEST_F(GatewayTest, LatencyDelaysTheAnswerOfOneService) {
  sim_.behaviour().Change([](Behaviour& b) { b.latency["ecs"] = {300, 0}; });
  client_.timeout_ms = 100;
  EXPECT_TRUE(client_.Get(Ecs("/cloudservers/detail")).timed_out);
  EXPECT_EQ(client_.Get(Iam("/v3/projects")).status, 200);
}

TEST_F(GatewayTest, StopCutsAnswersUnderWay) {
  sim_.behaviour().Change([](Behaviour& b) { b.latency[""] = {60'000, 0}; });
  client_.timeout_ms = 50;
  EXPECT_TRUE(client_.Get(Iam("/v3")).timed_out);
  sim_.Stop();  // must not wait for the minute; the test's own time-out guards it
}

TEST_F(GatewayTest, CallLogTellsRequestsButNoSecrets) {
  client_.headers = {{"X-Mark", "blue"}};
  client_.Get(Ecs("/cloudservers/detail?limit=3"));
  TestClient open;
  open.sign = false;
  open.project_id.clear();
  open.Call("POST", Iam("/v3/auth/tokens"), R"({"secret":"hunter2"})");
  const auto calls = sim_.log().Since(0);
  ASSERT_EQ(calls.size(), 2U);
  EXPECT_EQ(calls[0].operation, "ecs.servers.list");
  EXPECT_EQ(calls[0].auth, "signature");
  EXPECT_EQ(calls[0].project_id, kProjectId);
  EXPECT_TRUE(calls[0].handled);
  const std::string text = calls[0].ToJson() + calls[1].ToJson();
  EXPECT_NE(text.find(R"("X-Mark":"blue")"), std::string::npos);
  EXPECT_NE(text.find("limit=3"), std::string::npos);
  EXPECT_EQ(text.find("Signature="), std::string::npos);
  EXPECT_EQ(text.find("hunter2"), std::string::npos);
  EXPECT_EQ(sim_.log().Count("ecs.servers.list"), 1);
  EXPECT_EQ(sim_.log().Counters().at("iam.token.create 400"), 1);
}

TEST(RouterTest, LiteralPartsWinOverPlaceholders) {
  Router router;
  const auto handle = [](Call&) { return Response{}; };
  router.Add({"ecs", "GET", "/v1/{}/cloudservers/{}", "one", Scope::kOpen, handle});
  router.Add({"ecs", "GET", "/v1/{}/cloudservers/detail", "list", Scope::kOpen, handle});
  EXPECT_EQ(router.Find("ecs", "GET", "/v1/p/cloudservers/detail")->route->operation, "list");
  const auto match = router.Find("ecs", "GET", "/v1/p/cloudservers/a%20b/");
  EXPECT_EQ(match->route->operation, "one");
  EXPECT_EQ(match->args, (std::vector<std::string>{"p", "a b"}));
  EXPECT_FALSE(router.Find("ecs", "POST", "/v1/p/cloudservers/detail").has_value());
  EXPECT_FALSE(router.Find("iam", "GET", "/v1/p/cloudservers/detail").has_value());
  EXPECT_FALSE(router.Find("ecs", "GET", "/v1//cloudservers/detail").has_value());
}

TEST(TlsFilesTest, MadeOnceAndKeyIsPrivate) {
  const std::string directory = testing::TempDir() + "otc-sim-tls-" + std::to_string(getpid());
  ASSERT_TRUE(MakeTlsFiles(directory).ok());
  struct stat info {};
  ASSERT_EQ(stat((directory + "/server-key.pem").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  const auto written = std::filesystem::last_write_time(directory + "/ca.pem");
  ASSERT_TRUE(MakeTlsFiles(directory).ok());
  EXPECT_EQ(std::filesystem::last_write_time(directory + "/ca.pem"), written);
  std::filesystem::remove_all(directory);
  EXPECT_FALSE(MakeTlsFiles("/dev/null/x").ok());
}

TEST(SimulatorTest, PortInUseIsAnErrorThatNamesIt) {
  Simulator first({});
  ASSERT_TRUE(first.Start().ok());
  Options options;
  options.ports["ecs"] = first.port("ecs");
  Simulator second(options);
  const Status status = second.Start();
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.message().find("ecs on 127.0.0.1:" + std::to_string(first.port("ecs"))),
            std::string::npos);
}

TEST(SimulatorTest, EqualSeedsGiveEqualWorlds) {
  const auto ids = [](std::uint64_t seed) {
    Options options;
    options.seed = seed;
    Simulator sim(options);
    return *sim.Load(R"({"servers":[{"name":"n%d","count":3}]})");
  };
  EXPECT_EQ(ids(7), ids(7));
  EXPECT_NE(ids(7), ids(8));
}

}  // namespace
}  // namespace otc::sim
