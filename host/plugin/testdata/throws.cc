// A plugin that lets an exception leave its slot, against the rules.
#include <stdexcept>

#include "otc/plugin.h"

namespace {

std::int32_t Create(const otc_host*, const otc_call*, otc_bytes, void** self) {
  *self = nullptr;
  return OTC_OK;
}
std::int32_t Nothing(void*, const otc_call*, otc_bytes) { return OTC_OK; }
void Destroy(void*) {}
std::int32_t Describe(void*, const otc_call*, otc_bytes) {
  throw std::runtime_error("no such thing");
}

template <std::size_t N>
constexpr otc_str Literal(const char (&text)[N]) {
  return {text, N - 1};
}

constexpr otc_instances_v2_1 kInstances = {sizeof(otc_instances_v2_1), 0, Describe};
constexpr otc_interface kInterfaces[] = {{Literal("otc.instances-v2/1"), &kInstances}};
constexpr otc_plugin kPlugin = {sizeof(otc_plugin),
                                OTC_PLUGIN_MAGIC,
                                OTC_ABI_MAJOR,
                                OTC_ABI_MINOR,
                                0,
                                Literal(OTC_PLUGIN_ID),
                                Literal(OTC_PLUGIN_TITLE),
                                Literal(OTC_PLUGIN_VENDOR),
                                Literal(OTC_PLUGIN_VERSION),
                                Literal(OTC_PLUGIN_LICENCE),
                                kInterfaces,
                                1,
                                Create,
                                Nothing,
                                nullptr,
                                Nothing,
                                Destroy};

}  // namespace

const otc_plugin* otc_plugin_entry_v1(const otc_host*) { return &kPlugin; }
