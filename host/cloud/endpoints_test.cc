#include "host/cloud/endpoints.h"

#include <gtest/gtest.h>

namespace otc::host::cloud {
namespace {

CloudConfig InRegion(const std::string& region) {
  CloudConfig config;
  config.region = region;
  return config;
}

std::string UrlOf(const Endpoints& endpoints, const std::string& service) {
  const Result<Endpoint> endpoint = endpoints.Find(service);
  if (!endpoint.ok()) return endpoint.status().reason();
  return endpoint->base.origin.ToString() + endpoint->base.prefix;
}

TEST(EndpointsTest, PatternByServiceAndRegion) {
  const struct {
    const char *region, *service, *url;
  } rows[] = {
      {"eu-de", "ecs", "https://ecs.eu-de.otc.t-systems.com"},
      {"eu-de", "iam", "https://iam.eu-de.otc.t-systems.com"},
      {"eu-nl", "vpc", "https://vpc.eu-nl.otc.t-systems.com"},
      {"eu-nl", "iam", "https://iam.eu-nl.otc.t-systems.com"},
      {"eu-ch2", "elb", "https://elb.eu-ch2.sc.otc.t-systems.com"},
      {"eu-ch2", "iam", "https://iam-pub.eu-ch2.sc.otc.t-systems.com"},
      {"eu-de", "some-new-one", "https://some-new-one.eu-de.otc.t-systems.com"},
      {"eu-de", "metadata", "http://169.254.169.254"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(UrlOf(*Endpoints::ForCloud(InRegion(row.region)), row.service), row.url);
  }
}

TEST(EndpointsTest, P_J5_OverridesWinThenAllThenThePattern) {
  CloudConfig config = InRegion("eu-de");
  config.endpoints = {{"ecs", "http://127.0.0.1:9000/ecs/"}, {"all", "https://sim.example:8443"}};
  const Endpoints endpoints = *Endpoints::ForCloud(config);
  EXPECT_EQ(UrlOf(endpoints, "ecs"), "http://127.0.0.1:9000/ecs");
  EXPECT_EQ(UrlOf(endpoints, "iam"), "https://sim.example:8443");
  EXPECT_EQ(UrlOf(endpoints, "metadata"), "http://169.254.169.254");
  config.endpoints["metadata"] = "http://127.0.0.1:9001";
  EXPECT_EQ(UrlOf(*Endpoints::ForCloud(config), "metadata"), "http://127.0.0.1:9001");
}

TEST(EndpointsTest, WhatIsSignedAndScoped) {
  const Endpoints endpoints = *Endpoints::ForCloud(InRegion("eu-de"));
  EXPECT_TRUE(endpoints.Find("ecs")->is_signed);
  EXPECT_TRUE(endpoints.Find("ecs")->project_scoped);
  EXPECT_TRUE(endpoints.Find("iam")->is_signed);
  EXPECT_FALSE(endpoints.Find("iam")->project_scoped);
  EXPECT_FALSE(endpoints.Find("metadata")->is_signed);
  EXPECT_FALSE(endpoints.Find("metadata")->project_scoped);
}

TEST(EndpointsTest, SEED_51_WithoutCredentialsOnlyMetadata) {
  const Endpoints endpoints = *Endpoints::MetadataOnly("");
  EXPECT_EQ(UrlOf(endpoints, "metadata"), "http://169.254.169.254");
  EXPECT_EQ(UrlOf(endpoints, "ecs"), "NoCredentials");
  EXPECT_EQ(UrlOf(*Endpoints::MetadataOnly("http://127.0.0.1:1"), "metadata"),
            "http://127.0.0.1:1");
}

TEST(EndpointsTest, BadInput) {
  const Endpoints endpoints = *Endpoints::ForCloud(InRegion("eu-de"));
  for (const char* name : {"", "ECS", "a.b", "a/b", "-a", "a-", "evil.example/", "x y"}) {
    EXPECT_EQ(UrlOf(endpoints, name), "BadService") << name;
  }
  EXPECT_EQ(UrlOf(endpoints, std::string(33, 'a')), "BadService");
  CloudConfig config = InRegion("eu-de");
  config.endpoints = {{"ecs", "nonsense"}};
  const auto bad = Endpoints::ForCloud(config);
  EXPECT_EQ(bad.status().reason(), "BadUrl");
  EXPECT_NE(bad.status().message().find("[Endpoints] ecs"), std::string::npos);
  EXPECT_FALSE(Endpoints::MetadataOnly("nonsense").ok());
}

}  // namespace
}  // namespace otc::host::cloud
