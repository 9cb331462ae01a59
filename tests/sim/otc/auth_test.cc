// The gateway's view of credentials: signing.md sections 5 to 7.
#include "tests/sim/otc/auth.h"

#include <gtest/gtest.h>

#include "host/base/fake_clock.h"
#include "host/cloud/signer.h"

namespace otc::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class AuthTest : public testing::Test {
 protected:
  Request Signed(const host::cloud::Credentials& credentials,
                 std::chrono::nanoseconds skew = {}) const {
    Request request;
    request.service = "ecs";
    request.method = "GET";
    request.target = "/v1/p/cloudservers/detail?limit=10";
    request.headers = {{"Host", "ecs.example"}};
    const host::cloud::Signer signer(credentials, host::cloud::SignForm::kCredential);
    for (auto& header :
         signer.Sign("GET", request.target, "ecs.example", {}, "", clock_.Wall() + skew)) {
      request.headers.push_back(header);
    }
    return request;
  }
  host::cloud::Credentials Right() const { return {kAccessKey, kSecretKey, ""}; }
  host::cloud::Credentials Wrong() const { return {kAccessKey, "another secret", ""}; }

  // "" for yes, else "<status> <body>".
  std::string Check(const Request& request) {
    auto verdict = authenticator_.Check(request, behaviour_, "req-1");
    if (const auto* response = std::get_if<Response>(&verdict)) {
      return std::to_string(response->status) + " " + response->body;
    }
    principal_ = std::get<Principal>(verdict);
    return "";
  }
  bool Refused(const Request& request, const std::string& status, const std::string& words) {
    const std::string answer = Check(request);
    const bool as_wanted = answer.substr(0, 3) == status && answer.find(words) != std::string::npos;
    if (!as_wanted) ADD_FAILURE() << "got: " << answer;
    return as_wanted;
  }

  host::FakeClock clock_;
  SimTime time_{&clock_};
  Identity identity_{&time_, 1, "eu-de"};
  Authenticator authenticator_{&identity_, &time_};
  Behaviour behaviour_;
  Principal principal_;
};

TEST_F(AuthTest, RightSignatureNamesTheCaller) {
  EXPECT_EQ(Check(Signed(Right())), "");
  EXPECT_EQ(principal_.kind, Principal::Kind::kSignature);
  EXPECT_EQ(principal_.access_key, kAccessKey);
  EXPECT_EQ(principal_.domain_id, kDomainId);
}

TEST_F(AuthTest, WrongSecretIs401WithTheGatewaysCanonicalRequest) {
  const std::string answer = Check(Signed(Wrong()));
  EXPECT_EQ(answer.substr(0, 3), "401");
  EXPECT_NE(answer.find("APIGW.0301"), std::string::npos);
  EXPECT_NE(answer.find("verify aksk signature fail"), std::string::npos);
  EXPECT_NE(answer.find("GET|/v1/p/cloudservers/detail/|limit=10|"), std::string::npos);
  EXPECT_NE(answer.find("req-1"), std::string::npos);
  behaviour_.canonical_in_error = false;
  EXPECT_EQ(Check(Signed(Wrong())).find("GET|"), std::string::npos);
}

TEST_F(AuthTest, UnknownKeyIsNamed) {
  Refused(Signed({"AKUNKNOWN", "x", ""}), "401", "Get secretKey failed, ak:AKUNKNOWN, err: ak not");
}

TEST_F(AuthTest, NothingSentAndTokenBesideSignatureAreRefused) {
  Request request;
  Refused(request, "401", "APIGW.0301");
  request = Signed(Right());
  request.headers.push_back({"X-Auth-Token", "t"});
  Refused(request, "401", "APIGW.0303");
}

TEST_F(AuthTest, ClockWindowIsFifteenMinutesEitherWay) {
  EXPECT_EQ(Check(Signed(Right(), minutes(14))), "");
  EXPECT_EQ(Check(Signed(Right(), -minutes(14))), "");
  Refused(Signed(Right(), minutes(15) + seconds(2)), "401", "signature expired");
  Refused(Signed(Right(), -minutes(15) - seconds(2)), "401", "signature expired");
}

TEST_F(AuthTest, FiveWrongSignaturesInARowLockTheKeyForFiveMinutes) {
  for (int i = 0; i < 5; ++i) Refused(Signed(Wrong()), "401", "verify aksk");
  Refused(Signed(Right()), "401", "reach the limit, forbidden");
  clock_.Advance(minutes(5) - seconds(1));
  Refused(Signed(Right()), "401", "reach the limit, forbidden");
  clock_.Advance(seconds(2));
  EXPECT_EQ(Check(Signed(Right())), "");
}

TEST_F(AuthTest, ARightSignatureStartsTheCountAnew) {
  for (int i = 0; i < 4; ++i) Refused(Signed(Wrong()), "401", "verify aksk");
  EXPECT_EQ(Check(Signed(Right())), "");
  for (int i = 0; i < 4; ++i) Refused(Signed(Wrong()), "401", "verify aksk");
  EXPECT_EQ(Check(Signed(Right())), "");
}

TEST_F(AuthTest, ExpiredDatesDoNotCountTowardsTheLock) {
  for (int i = 0; i < 9; ++i) Refused(Signed(Right(), minutes(60)), "401", "expired");
  EXPECT_EQ(Check(Signed(Right())), "");
}

TEST_F(AuthTest, UnsignedDateIsRefused) {
  Request request = Signed(Right());
  for (auto& header : request.headers) {
    if (header.name != "Authorization") continue;
    const auto at = header.value.find("host;x-sdk-date");
    header.value.replace(at, 15, "host");
  }
  Refused(request, "401", "verify aksk");
}

TEST_F(AuthTest, ScopeDateMustBeThatOfTheRequest) {
  Request request = Signed(Right());
  for (auto& header : request.headers) {
    if (header.name != "Authorization") continue;
    const auto at = header.value.find("/2026");
    header.value.replace(at, 9, "/20250101");
  }
  Refused(request, "401", "verify aksk");
}

TEST_F(AuthTest, TemporaryKeyNeedsItsToken) {
  const AccessKey key = identity_.IssueTemporaryKey(kUserId, kDomainId, 900);
  EXPECT_EQ(Check(Signed({key.access, key.secret, key.security_token})), "");
  Refused(Signed({key.access, key.secret, "another"}), "401", "security token");
  Refused(Signed({key.access, key.secret, ""}), "401", "security token");
  Refused(Signed({kAccessKey, kSecretKey, key.security_token}), "401", "security token");
}

TEST_F(AuthTest, UnsignedTokenHeaderIsTaken) {
  const AccessKey key = identity_.IssueTemporaryKey(kUserId, kDomainId, 900);
  Request request = Signed({key.access, key.secret, ""});
  request.headers.push_back({"X-Security-Token", key.security_token});
  EXPECT_EQ(Check(request), "");
}

TEST_F(AuthTest, ExpiredAndInactiveKeysHaveTheirOwnCodes) {
  const AccessKey key = identity_.IssueTemporaryKey(kUserId, kDomainId, 900);
  clock_.Advance(seconds(901));
  Refused(Signed({key.access, key.secret, key.security_token}), "400", "IAM.1108");
  identity_.SetAccessKeyActive(kAccessKey, false);
  Refused(Signed(Right()), "400", "IAM.1107");
}

TEST_F(AuthTest, TokensEndAfterADayOrWhenForgotten) {
  const auto user = identity_.FindUser(kUserId);
  Request request;
  request.headers = {{"X-Auth-Token", identity_.IssueToken(*user, kProjectId).id}};
  EXPECT_EQ(Check(request), "");
  EXPECT_EQ(principal_.project_id, kProjectId);
  clock_.Advance(std::chrono::hours(24) + seconds(1));
  Refused(request, "401", "APIGW.0307");
  request.headers = {{"X-Auth-Token", identity_.IssueToken(*user, kProjectId).id}};
  identity_.ForgetTokens();
  Refused(request, "401", "APIGW.0307");
}

TEST_F(AuthTest, SwitchedOffOnlyTheSignatureIsNotChecked) {
  behaviour_.signatures = SignatureMode::kOff;
  EXPECT_EQ(Check(Signed(Wrong())), "");
  Refused(Signed({"AKUNKNOWN", "x", ""}), "401", "ak not exist");
}

}  // namespace
}  // namespace otc::sim
