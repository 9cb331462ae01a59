// The verifier against signing.md: its 25 vectors, both header forms, and the
// client variants that only compatibility mode takes.
#include "tests/sim/otc/signature.h"

#include <Poco/JSON/Parser.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace otc::sim {
namespace {

using Poco::JSON::Array;
using Poco::JSON::Object;

struct Vector {
  int number = 0;
  std::string secret, date, canonical_sha256, canonical;
  Request request;
  ParsedAuthorization authorization;
};

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::vector<Vector> Vectors() {
  std::ifstream file(OTC_SIGNING_VECTORS);
  std::ostringstream text;
  text << file.rdbuf();
  const auto list = Poco::JSON::Parser().parse(text.str()).extract<Array::Ptr>();
  std::vector<Vector> vectors;
  for (const auto& item : *list) {
    const auto& object = item.extract<Object::Ptr>();
    Vector vector;
    vector.number = object->getValue<int>("number");
    vector.secret = object->getValue<std::string>("sk");
    vector.date = object->getValue<std::string>("date");
    vector.canonical_sha256 = object->getValue<std::string>("canonical_sha256");
    vector.request.method = object->getValue<std::string>("method");
    vector.request.target = object->getValue<std::string>("target");
    vector.request.body = FromHex(object->getValue<std::string>("body_hex"));
    for (const char* key : {"signed_headers", "unsigned_headers"}) {
      for (const auto& pair : *object->getArray(key)) {
        const auto& header = pair.extract<Array::Ptr>();
        vector.request.headers.push_back(
            {header->getElement<std::string>(0), header->getElement<std::string>(1)});
      }
    }
    if (!vector.request.FindHeader("X-Sdk-Date")) {
      vector.request.headers.push_back({"X-Sdk-Date", vector.date});
    }
    // Vector 15 is published without its header.
    const std::string header =
        object->has("authorization")
            ? object->getValue<std::string>("authorization")
            : "SDK-HMAC-SHA256 Access=" + object->getValue<std::string>("ak") +
                  ", SignedHeaders=content-type;host;x-sdk-date, Signature=" +
                  object->getValue<std::string>("signature");
    const auto parsed = ParseAuthorization(header);
    EXPECT_TRUE(parsed.ok()) << vector.number << ": " << parsed.status().message();
    if (parsed.ok()) vector.authorization = *parsed;
    vectors.push_back(std::move(vector));
  }
  return vectors;
}

TEST(SignatureTest, AcceptsEveryVectorOfTheDocument) {
  const auto vectors = Vectors();
  ASSERT_EQ(vectors.size(), 25U);
  for (const Vector& vector : vectors) {
    const auto canonical = StrictCanonical(vector.request, vector.authorization);
    ASSERT_TRUE(canonical.has_value()) << vector.number;
    EXPECT_EQ(host::cloud::Sha256Hex(*canonical), vector.canonical_sha256) << vector.number;
    EXPECT_TRUE(SignatureMatches(vector.authorization, vector.secret, vector.date, *canonical))
        << vector.number;
  }
}

TEST(SignatureTest, RefusesEveryVectorWithAnotherSecretOrBodyOrPath) {
  for (Vector vector : Vectors()) {
    const auto canonical = StrictCanonical(vector.request, vector.authorization);
    EXPECT_FALSE(
        SignatureMatches(vector.authorization, vector.secret + "x", vector.date, canonical.value()))
        << vector.number;
    vector.request.target = "/other" + vector.request.target;
    EXPECT_FALSE(SignatureMatches(vector.authorization, vector.secret, vector.date,
                                  StrictCanonical(vector.request, vector.authorization).value()))
        << vector.number;
  }
}

TEST(SignatureTest, Vector23NeedsTheFinalLineFeedOfTheBody) {
  for (Vector vector : Vectors()) {
    if (vector.number != 23) continue;
    vector.request.body.pop_back();
    EXPECT_FALSE(SignatureMatches(vector.authorization, vector.secret, vector.date,
                                  StrictCanonical(vector.request, vector.authorization).value()));
  }
}

// signing.md section 8, vector 17: the signature that gophertelekomcloud makes of
// repeated keys.
TEST(SignatureTest, RepeatedKeysOfTheGoSdkOnlyInCompatMode) {
  for (Vector vector : Vectors()) {
    if (vector.number != 17) continue;
    vector.authorization.form = host::cloud::SignForm::kCredential;
    vector.authorization.scope_date = "20250102";
    vector.authorization.signature =
        "b744c4b97acc406f4458fd63e2d1be411c52b89c9f8b892f9d95e4c193a3d6bd";
    EXPECT_FALSE(SignatureMatches(vector.authorization, vector.secret, vector.date,
                                  StrictCanonical(vector.request, vector.authorization).value()));
    const auto variants = CompatCanonicals(vector.request, vector.authorization);
    EXPECT_TRUE(std::any_of(variants.begin(), variants.end(), [&](const std::string& variant) {
      return SignatureMatches(vector.authorization, vector.secret, vector.date, variant);
    }));
  }
}

// Pitfall 10: POST without body but with query.
TEST(SignatureTest, QueryInTheBodyHashOnlyInCompatMode) {
  Request request;
  request.method = "POST";
  request.target = "/v1/x?b=2&a=1";
  request.headers = {{"Host", "h"}, {"X-Sdk-Date", "20250102T030405Z"}};
  ParsedAuthorization authorization;
  authorization.signed_headers = {"host", "x-sdk-date"};
  const std::string strict = StrictCanonical(request, authorization).value();
  const auto variants = CompatCanonicals(request, authorization);
  const std::string hashed = host::cloud::Sha256Hex("a=1&b=2");
  EXPECT_EQ(strict.find(hashed), std::string::npos);
  EXPECT_TRUE(std::any_of(variants.begin(), variants.end(), [&](const std::string& variant) {
    return variant.find("\n\nhost:h\n") != std::string::npos &&
           variant.substr(variant.rfind('\n') + 1) == hashed;
  }));
}

TEST(SignatureTest, ListedHeaderThatWasNotSentIsRefused) {
  Request request;
  request.method = "GET";
  request.target = "/";
  request.headers = {{"Host", "h"}};
  ParsedAuthorization authorization;
  authorization.signed_headers = {"host", "x-sdk-date"};
  EXPECT_FALSE(StrictCanonical(request, authorization).has_value());
}

TEST(SignatureTest, ListMustBeLowerCaseAndSorted) {
  Request request;
  request.method = "GET";
  request.target = "/";
  request.headers = {{"Host", "h"}, {"X-Sdk-Date", "20250102T030405Z"}};
  ParsedAuthorization authorization;
  authorization.signed_headers = {"x-sdk-date", "host"};
  EXPECT_FALSE(StrictCanonical(request, authorization).has_value());
  authorization.signed_headers = {"Host", "X-Sdk-Date"};
  EXPECT_FALSE(StrictCanonical(request, authorization).has_value());
}

TEST(ParseAuthorizationTest, ReadsBothForms) {
  const auto credential = ParseAuthorization(
      "SDK-HMAC-SHA256 Credential=AK/20250102/eu-de/vpc/sdk_request, SignedHeaders=host;x-sdk-date,"
      " Signature=ab");
  ASSERT_TRUE(credential.ok());
  EXPECT_EQ(credential->access_key, "AK");
  EXPECT_EQ(credential->scope_date, "20250102");
  EXPECT_EQ(credential->region, "eu-de");
  EXPECT_EQ(credential->service, "vpc");
  EXPECT_EQ(credential->signed_headers.size(), 2U);
  const auto access =
      ParseAuthorization("SDK-HMAC-SHA256 Access=AK, SignedHeaders=x-sdk-date, Signature=ab");
  ASSERT_TRUE(access.ok());
  EXPECT_EQ(access->form, host::cloud::SignForm::kAccess);
}

TEST(ParseAuthorizationTest, RefusesEveryOtherSpelling) {
  for (const char* header :
       {"", "Bearer x", "SDK-HMAC-SHA256", "SDK-HMAC-SHA256 Access=AK",
        "SDK-HMAC-SHA256 Access=AK,SignedHeaders=host,Signature=ab",
        "SDK-HMAC-SHA256 Access=AK,  SignedHeaders=host, Signature=ab",
        "SDK-HMAC-SHA256 Access=AK, SignedHeaders=, Signature=ab",
        "SDK-HMAC-SHA256 Access=AK, SignedHeaders=host, Signature=",
        "SDK-HMAC-SHA256 Credential=AK/20250102/x/sdk_request, SignedHeaders=host, Signature=ab",
        "SDK-HMAC-SHA256 Credential=AK/20250102///aws4_request, SignedHeaders=host, Signature=ab",
        "V11-HMAC-SHA256 Access=AK, SignedHeaders=host, Signature=ab"}) {
    EXPECT_FALSE(ParseAuthorization(header).ok()) << header;
  }
}

TEST(ParseSdkDateTest, TakesTheBasicFormOnly) {
  EXPECT_EQ(ParseSdkDate("20250102T030405Z"), host::WallFromUnixMillis(1'735'787'045'000));
  for (const char* text : {"", "2025-01-02T03:04:05Z", "20250102T030405", "20251302T030405Z",
                           "20250102T250405Z", "20250100T030405Z", "2025010xT030405Z"}) {
    EXPECT_FALSE(ParseSdkDate(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace otc::sim
