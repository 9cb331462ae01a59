#include "host/http/url.h"

#include <gtest/gtest.h>

#include "host/http/client.h"

namespace otc::host::http {
namespace {

TEST(UrlTest, C36_OnlyUnreservedBytesStayAsTheyAre) {
  EXPECT_EQ(PercentEncode("AZaz09-._~"), "AZaz09-._~");
  EXPECT_EQ(PercentEncode(":/+ %*'()ä"), "%3A%2F%2B%20%25%2A%27%28%29%C3%A4");
  EXPECT_EQ(PercentEncode(std::string("\0\xff", 2)), "%00%FF");
  EXPECT_EQ(PercentEncode(""), "");
}

TEST(UrlTest, C36_PathsAndQueriesAreBuiltFromEncodedParts) {
  EXPECT_EQ(JoinPath({"api", "v1", "a/b c"}), "/api/v1/a%2Fb%20c");
  EXPECT_EQ(JoinPath({}), "/");
  EXPECT_EQ(BuildQuery({{"watch", "true"}, {"labelSelector", "a=b,c"}, {"e", ""}}),
            "watch=true&labelSelector=a%3Db%2Cc&e=");
  EXPECT_EQ(BuildQuery({}), "");
}

TEST(UrlTest, DecodingUndoesEncoding) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_EQ(PercentDecode(PercentEncode(all)), all);
  EXPECT_EQ(PercentDecode("a+b%2f%"), "a+b/%");
}

struct Good {
  const char* text;
  const char* origin;
  const char* host;
  int port;
  const char* prefix;
};

TEST(UrlTest, BaseUrlsAreSplit) {
  const Good cases[] = {
      {"https://ECS.eu-de.otc.t-systems.com", "https://ecs.eu-de.otc.t-systems.com",
       "ecs.eu-de.otc.t-systems.com", 443, ""},
      {"http://localhost:8080/", "http://localhost:8080", "localhost", 8080, ""},
      {"HTTPS://10.0.0.1:6443/k8s/clusters/c-1//", "https://10.0.0.1:6443", "10.0.0.1", 6443,
       "/k8s/clusters/c-1"},
      {"https://[2001:DB8::1]:443/x", "https://[2001:db8::1]", "2001:db8::1", 443, "/x"},
      {"http://[::1]", "http://[::1]", "::1", 80, ""},
  };
  for (const Good& expected : cases) {
    const auto url = ParseBaseUrl(expected.text);
    ASSERT_TRUE(url.ok()) << url.status().ToString();
    EXPECT_EQ(url->origin.ToString(), expected.origin);
    EXPECT_EQ(url->origin.host, expected.host);
    EXPECT_EQ(url->origin.port, expected.port);
    EXPECT_EQ(url->prefix, expected.prefix);
  }
}

TEST(UrlTest, BadBaseUrlsAreNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "scheme is missing"},
      {"ecs.example", "scheme is missing"},
      {"ftp://x", "not http"},
      {"https://", "host is missing"},
      {"https://:443", "host is missing"},
      {"https://a b", "not a host name"},
      {"https://a:0", "1 to 65535"},
      {"https://a:65536", "1 to 65535"},
      {"https://a:", "1 to 65535"},
      {"https://[::1", "not closed"},
      {"https://[::1]x", "behind"},
      {"https://[zz]", "IPv6"},
      {"https://a?x=1", "query"},
      {"https://a#f", "fragment"},
      {"https://a/b c", "path"},
  };
  for (const auto& [text, why] : cases) {
    const auto url = ParseBaseUrl(text);
    ASSERT_FALSE(url.ok()) << text;
    EXPECT_EQ(url.status().code(), Code::kInvalidArgument);
    EXPECT_EQ(url.status().reason(), "BadUrl");
    EXPECT_NE(url.status().message().find(why), std::string::npos) << url.status().message();
    EXPECT_NE(url.status().message().find(text), std::string::npos) << url.status().message();
  }
  const auto secret = ParseBaseUrl("https://me:hunter22@host");
  ASSERT_FALSE(secret.ok());
  EXPECT_EQ(secret.status().message().find("hunter22"), std::string::npos);
}

}  // namespace
}  // namespace otc::host::http
