// The vectors of testdata/signing_vectors.json (byte-equal to the official
// signers) and the negative checks that go with them.
#include "host/cloud/signer.h"

#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

struct Vector {
  int number = 0;
  SignForm form = SignForm::kCredential;
  std::string ak, sk, date, region, service, method, host, target, body;
  std::vector<http::Header> signed_headers;
  std::string canonical_sha256, canonical_request, string_to_sign, derived_key, authorization,
      signature;
};

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

std::vector<Vector> LoadVectors() {
  std::ifstream file(OTC_CLOUD_TESTDATA "/signing_vectors.json");
  std::stringstream text;
  text << file.rdbuf();
  const auto array = Poco::JSON::Parser().parse(text.str()).extract<Poco::JSON::Array::Ptr>();
  std::vector<Vector> vectors;
  for (std::size_t i = 0; i < array->size(); ++i) {
    const auto o = array->getObject(static_cast<unsigned>(i));
    const auto text_of = [&](const char* key) { return o->optValue<std::string>(key, ""); };
    Vector v;
    v.number = o->getValue<int>("number");
    v.form = text_of("form") == "access" ? SignForm::kAccess : SignForm::kCredential;
    v.ak = text_of("ak");
    v.sk = text_of("sk");
    v.date = text_of("date");
    v.region = text_of("region");
    v.service = text_of("service");
    v.method = text_of("method");
    v.host = text_of("host");
    v.target = text_of("target");
    v.body = FromHex(text_of("body_hex"));
    const auto headers = o->getArray("signed_headers");
    for (std::size_t h = 0; h < headers->size(); ++h) {
      const auto pair = headers->getArray(static_cast<unsigned>(h));
      v.signed_headers.push_back(
          {pair->getElement<std::string>(0), pair->getElement<std::string>(1)});
    }
    v.canonical_sha256 = text_of("canonical_sha256");
    v.canonical_request = text_of("canonical_request");
    v.string_to_sign = text_of("string_to_sign");
    v.derived_key = text_of("derived_key");
    v.authorization = text_of("authorization");
    v.signature = text_of("signature");
    vectors.push_back(std::move(v));
  }
  return vectors;
}

const Vector& VectorNumber(int number) {
  static const std::vector<Vector> vectors = LoadVectors();
  for (const Vector& v : vectors) {
    if (v.number == number) return v;
  }
  throw std::out_of_range("no such vector");
}

CanonicalRequest CanonicalOf(const Vector& v) {
  std::vector<http::Header> headers = v.signed_headers;
  headers.push_back({"X-Sdk-Date", v.date});
  return Canonicalise(v.method, v.target, headers, v.body);
}

std::string SignatureOf(const Vector& v) {
  const std::string scope = SigningScope(v.date, v.region, v.service);
  return Signature(SigningKey(v.form, v.sk, v.date, v.region, v.service),
                   StringToSign(v.form, v.date, scope, CanonicalOf(v).text));
}

WallTime DateOf(const Vector& v) {
  // The two dates that occur in the vectors.
  return WallFromUnixMillis(v.date == "20191115T033655Z" ? 1'573'789'015'000 : 1'735'787'045'000);
}

TEST(SignerTest, AllVectorsByThePureFunctions) {
  const std::vector<Vector> vectors = LoadVectors();
  ASSERT_EQ(vectors.size(), 25u);
  for (const Vector& v : vectors) {
    SCOPED_TRACE("vector " + std::to_string(v.number));
    const CanonicalRequest canonical = CanonicalOf(v);
    EXPECT_EQ(Sha256Hex(canonical.text), v.canonical_sha256);
    // Vector 15 is published by its digest and its signature alone.
    EXPECT_TRUE(v.canonical_request.empty() || canonical.text == v.canonical_request)
        << canonical.text;
    const std::string scope = SigningScope(v.date, v.region, v.service);
    const std::string to_sign = StringToSign(v.form, v.date, scope, canonical.text);
    EXPECT_TRUE(v.string_to_sign.empty() || to_sign == v.string_to_sign) << to_sign;
    const std::string key = SigningKey(v.form, v.sk, v.date, v.region, v.service);
    EXPECT_TRUE(v.derived_key.empty() || HexEncode(key) == v.derived_key) << HexEncode(key);
    const std::string expected =
        v.signature.empty() ? v.authorization.substr(v.authorization.rfind('=') + 1) : v.signature;
    EXPECT_EQ(Signature(key, to_sign), expected);
  }
}

// The class signs `host` always, which vector 22 does not.
TEST(SignerTest, AllVectorsThatSignTheHostByTheClass) {
  int checked = 0;
  for (const Vector& v : LoadVectors()) {
    if (v.number == 22) continue;
    SCOPED_TRACE("vector " + std::to_string(v.number));
    std::vector<http::Header> headers;
    std::string token;
    for (const http::Header& header : v.signed_headers) {
      if (header.name == "Host") continue;
      if (header.name == "X-Security-Token") {
        token = header.value;
      } else {
        headers.push_back(header);
      }
    }
    const Signer signer({v.ak, v.sk, token}, v.form, v.region, v.service);
    const auto added = signer.Sign(v.method, v.target, v.host, headers, v.body, DateOf(v));
    EXPECT_EQ(added.front().name, "X-Sdk-Date");
    EXPECT_EQ(added.front().value, v.date);
    EXPECT_EQ(added.size(), token.empty() ? 2u : 3u);
    EXPECT_EQ(added.back().name, "Authorization");
    if (v.authorization.empty()) {
      EXPECT_NE(added.back().value.find("Signature=" + v.signature), std::string::npos);
    } else {
      EXPECT_EQ(added.back().value, v.authorization);
    }
    ++checked;
  }
  EXPECT_EQ(checked, 24);
}

TEST(SignerTest, TheSlashAtTheEndMatters) {
  const Vector& v = VectorNumber(1);
  std::string without = CanonicalOf(v).text;
  const std::size_t slash = without.find("/\n");
  ASSERT_NE(slash, std::string::npos);
  without.erase(slash, 1);
  EXPECT_NE(Sha256Hex(without), v.canonical_sha256);
}

TEST(SignerTest, PlusInAQueryIsABlank) {
  Vector v = VectorNumber(2);
  const std::size_t blank = v.target.find("node%20a");
  ASSERT_NE(blank, std::string::npos);
  v.target.replace(blank, 8, "node+a");
  EXPECT_EQ(Sha256Hex(CanonicalOf(v).text), v.canonical_sha256);
}

TEST(SignerTest, OneSecondLaterIsAnotherSignature) {
  const Vector& v = VectorNumber(1);
  const Signer signer({v.ak, v.sk, ""}, v.form);
  const auto first = signer.Sign(v.method, v.target, v.host, {}, "", DateOf(v));
  const auto second =
      signer.Sign(v.method, v.target, v.host, {}, "", DateOf(v) + std::chrono::seconds(1));
  EXPECT_NE(first.back().value, second.back().value);
}

TEST(SignerTest, BlanksAroundTheKeysAreDropped) {
  const Vector& v = VectorNumber(1);
  const Signer signer({" " + v.ak + "\r\n", "\t" + v.sk + "\n", ""}, v.form);
  EXPECT_EQ(signer.Sign(v.method, v.target, v.host, {}, "", DateOf(v)).back().value,
            v.authorization);
}

TEST(SignerTest, TheLastByteOfTheBodyCounts) {
  Vector v = VectorNumber(23);
  ASSERT_EQ(v.body.back(), '\n');
  const std::string right = SignatureOf(v);
  v.body.pop_back();
  EXPECT_NE(SignatureOf(v), right);
}

TEST(SignerTest, TheOrderOfQueryPairsOnTheWireDoesNotCount) {
  const Vector& v = VectorNumber(17);
  const std::string right = SignatureOf(v);
  Vector other = v;
  other.target =
      v.target.substr(0, v.target.find('?')) + "?limit=10&name=lb-a&id=10&id=2&name=lb-b";
  EXPECT_EQ(SignatureOf(other), right);
}

TEST(SignerTest, OddTargets) {
  EXPECT_EQ(CanonicalPath(""), "/");
  EXPECT_EQ(CanonicalPath("/"), "/");
  EXPECT_EQ(CanonicalPath("/a//b/../c"), "/a//b/../c/");
  EXPECT_EQ(CanonicalPath("/a%2fb"), "/a/b/");
  EXPECT_EQ(CanonicalPath("/100%"), "/100%25/");
  EXPECT_EQ(CanonicalPath("/%zz%4"), "/%25zz%254/");
  EXPECT_EQ(CanonicalQuery(""), "");
  EXPECT_EQ(CanonicalQuery("&&a&"), "a=");
  EXPECT_EQ(CanonicalQuery("a=b=c"), "a=b%3Dc");
  EXPECT_EQ(CanonicalQuery("=x"), "=x");
}

TEST(SignerTest, ANameThatExtendsAnotherSortsBehindIt) {
  const CanonicalRequest canonical =
      Canonicalise("get", "/", {{"X-B-C", "2"}, {"X-B", "1"}, {"Host", " h "}}, "");
  EXPECT_EQ(canonical.signed_headers, "host;x-b;x-b-c");
  EXPECT_EQ(canonical.text, "GET\n/\n\nhost:h\nx-b:1\nx-b-c:2\n\nhost;x-b;x-b-c\n" + Sha256Hex(""));
}

}  // namespace
}  // namespace otc::host::cloud
