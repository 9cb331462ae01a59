// Judges the descriptor that a plugin's entry returned (step 10 of the loading
// list): magic, version, sizes, mandatory slots, texts, tables, and that all of
// it equals the manifest.
//
// Reads memory of the loaded plugin within the sizes that the plugin itself
// states; calls none of its functions. Any thread, after dlopen. Pure.
#ifndef OTC_SDK_INSPECT_DESCRIPTOR_H_
#define OTC_SDK_INSPECT_DESCRIPTOR_H_

#include <string>
#include <string_view>
#include <vector>

#include "otc/plugin.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace otc::inspect {

// LOAD-10, ABI-R05 (not equal to the manifest) and ABI-R38 (a draft interface
// that the title does not admit). `plugin` is not null. Interface ids that are
// not known here are fine; their tables are only tested for null.
std::vector<Violation> CheckDescriptor(const otc_plugin& plugin, const Manifest& manifest);

// Interfaces of ABI 1.0 by id; both spellings of those under trial.
enum class InterfaceKind { kUnknown, kInstancesV2, kLoadBalancer, kReconciler, kGrpcService };
InterfaceKind KindOfInterface(std::string_view id);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_DESCRIPTOR_H_
