#include <gtest/gtest.h>

#include "sdk/harness/harness.h"

using namespace otc::harness;

TEST(Hello, GreetsEachNode) {
  auto library = PluginLibrary::Load(HELLO);
  ASSERT_TRUE(library.ok()) << library.status().ToString();
  FakeHost host;
  InstanceOptions options;
  options.config = DefaultConfig("controllers", R"({"greeting": "good morning"})");
  auto instance = Instance::Create(*library, host, options);
  ASSERT_TRUE(instance.ok()) << instance.status().ToString();

  pb::InstanceDescribeRequest request;
  request.add_nodes()->set_name("a");
  const CallResult call = (*instance)->Describe(request);
  ASSERT_TRUE(call.ok()) << call.status().ToString();
  ASSERT_EQ(call.results.size(), 1u);
  EXPECT_EQ(call.All<pb::InstanceDescribeResult>()[0].message(), "good morning");
  EXPECT_TRUE(host.log().Contains("described nodes"));
  EXPECT_TRUE(host.violations().empty()) << host.ViolationText();
}

TEST(Hello, RefusesSettingsOfTheWrongType) {
  auto library = PluginLibrary::Load(HELLO);
  ASSERT_TRUE(library.ok());
  FakeHost host;
  InstanceOptions options;
  options.config = DefaultConfig("controllers", R"({"greeting": 7})");
  auto instance = Instance::Create(*library, host, options);
  EXPECT_EQ(instance.status().reason(), "BadSettings");
}
