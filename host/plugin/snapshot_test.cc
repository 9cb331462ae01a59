#include "host/plugin/snapshot.h"

#include <gtest/gtest.h>

namespace otc::host::plugin_host {
namespace {

PluginSnapshot Node() {
  PluginSnapshot plugin;
  plugin.id = "node";
  plugin.file = "/p/node.so";
  plugin.state = PluginState::kStarted;
  plugin.message = "start returned OK";
  plugin.since_unix_ms = 1'767'225'600'000;
  plugin.version = "1.2.3";
  plugin.abi = "1.0";
  plugin.build = "release";
  plugin.interfaces = {{"otc.instances-v2/1", true, true}, {"com.example.x/1", false, false}};
  plugin.required = true;
  return plugin;
}

TEST(PluginSnapshot, Table) {
  PluginSnapshot failed;
  failed.id = "lb";
  failed.state = PluginState::kFailed;
  failed.reason = "Refused";
  failed.message = "bad\x1b[31m file";
  PluginSnapshot pending = Node();
  pending.id = "x";
  pending.interfaces = {{"otc.instances-v2/1", true, false}};
  pending.pending_change = "workers";
  PluginSnapshot unnamed;
  unnamed.id = "spare";
  unnamed.state = PluginState::kNotConfigured;
  unnamed.reason = "NotNamed";
  EXPECT_EQ(RenderPluginTable({Node(), failed, pending, unnamed}),
            "NAME   VERSION  INTERFACES                                        STATE           "
            "REASON\n"
            "node   1.2.3    otc.instances-v2/1, com.example.x/1 (not served)  started         -\n"
            "lb     -        -                                                 failed          "
            "Refused: bad?[31m file\n"
            "x      1.2.3    otc.instances-v2/1 (not in use)                   started         "
            "after a restart: workers\n"
            "spare  -        -                                                 not configured  "
            "NotNamed\n");
}

TEST(PluginSnapshot, Json) {
  EXPECT_EQ(RenderPluginJson({Node()}),
            R"({"plugins":[{"id":"node","file":"/p/node.so","state":"started","reason":"",)"
            R"("message":"start returned OK","since":"2026-01-01T00:00:00Z","version":"1.2.3",)"
            R"("abi":"1.0","build":"release","sha256":"","interfaces":[)"
            R"({"id":"otc.instances-v2/1","served":true,"inUse":true},)"
            R"({"id":"com.example.x/1","served":false,"inUse":false}],"required":true,"calls":0,)"
            R"("pluginBugs":0,"overruns":0,"pendingChange":""}]})"
            "\n");
  EXPECT_EQ(RenderPluginJson({}), "{\"plugins\":[]}\n");
}

}  // namespace
}  // namespace otc::host::plugin_host
