#include "host/cli/settings.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace otc::host::cli {
namespace {

constexpr char kCloudConf[] =
    "[Global]\naccess-key=AKEXAMPLE00000000001\nsecret-key=SkExample0123456789abcdef\n"
    "region=eu-de\n";

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    char name[] = "/tmp/otc-settings-XXXXXX";
    folder_ = mkdtemp(name);
  }
  ~SettingsTest() override {
    for (const std::string& file : files_) unlink(file.c_str());
    rmdir(folder_.c_str());
  }
  std::string Write(const std::string& name, const std::string& text) {
    files_.push_back(folder_ + "/" + name);
    std::ofstream(files_.back()) << text;
    return files_.back();
  }

  std::string folder_;
  std::vector<std::string> files_;
  HostFlags flags_;
};

TEST_F(SettingsTest, DefaultsNeedACloudConfAndLoadTheNodePlugin) {
  const auto missing = LoadSettings(flags_);
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("--cloud-config"), std::string::npos);

  flags_.cloud_config = Write("cloud.conf", kCloudConf);
  const auto settings = LoadSettings(flags_);
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  EXPECT_EQ(settings->role, plugin_host::Role::kControllers);
  EXPECT_EQ(settings->cluster_name, "kubernetes");
  ASSERT_EQ(settings->host.plugins.size(), 1u);
  EXPECT_EQ(settings->host.plugins[0].id, "node");
}

TEST_F(SettingsTest, SEED_11_CloudConfsClusterNameWinsOverTheFlags) {
  flags_.cluster_name = "flag";
  flags_.cloud_config =
      Write("cloud.conf", std::string(kCloudConf) + "[LoadBalancer]\ncluster-name=conf\n");
  const auto settings = LoadSettings(flags_);
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  EXPECT_EQ(settings->cluster_name, "conf");
}

TEST_F(SettingsTest, ErrorsOfAllFilesAreToldAtOnce) {
  flags_.role = "worker";
  flags_.config = Write("host.yaml", "rolle: controllers\n");
  flags_.cloud_config = Write("cloud.conf", "[Global]\nregoin=eu-de\n");
  const auto settings = LoadSettings(flags_);
  ASSERT_FALSE(settings.ok());
  const std::string& text = settings.status().message();
  for (const char* part :
       {"--role=worker", "host.yaml:1", "rolle", "cloud.conf:2", "regoin", "access-key"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

TEST_F(SettingsTest, SEED_51_RoleCsiNodeNeedsAndGetsNoCredentials) {
  flags_.role = "csi-node";
  flags_.cloud_config = Write("cloud.conf", kCloudConf);
  const auto settings = LoadSettings(flags_);
  ASSERT_TRUE(settings.ok()) << settings.status().ToString();
  EXPECT_FALSE(settings->cloud.has_value());
  EXPECT_FALSE(InputsFor(*settings, "uid").cloud.has_value());
}

TEST_F(SettingsTest, SEED_50_PluginsNeverSeeCredentials) {
  flags_.cloud_config = Write("cloud.conf", kCloudConf);
  const auto settings = LoadSettings(flags_);
  ASSERT_TRUE(settings.ok());
  const std::string document = plugin_host::ConfigDocument("{}", InputsFor(*settings, "u").cloud,
                                                           {"c", "u"}, settings->role);
  EXPECT_EQ(document.find("SkExample"), std::string::npos);
  EXPECT_EQ(document.find("AKEXAMPLE"), std::string::npos);
  EXPECT_NE(document.find("eu-de"), std::string::npos);
}

TEST_F(SettingsTest, E19_P02_WrongNumbersAndNamesAreToldAtOnce) {
  flags_.lease_duration_ms = 5'000;
  flags_.controllers = {"nodes"};
  const auto options = ControllerOptionsFrom(flags_);
  ASSERT_FALSE(options.ok());
  EXPECT_NE(options.status().message().find("nodes"), std::string::npos);
  EXPECT_NE(options.status().message().find("leader-elect"), std::string::npos)
      << options.status().message();
}

}  // namespace
}  // namespace otc::host::cli
