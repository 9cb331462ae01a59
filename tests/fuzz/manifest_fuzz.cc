// A plugin file before any of its code runs: ELF headers, notes, manifest text.
// The input is taken for a whole file and for the text of a manifest note.
// FUZZ_DEPS: otc_inspect
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "sdk/inspect/elf.h"
#include "sdk/inspect/manifest.h"
#include "sdk/inspect/rules.h"

namespace {

using namespace otc::inspect;

// What a text without errors promises to the loader and to the tools.
void CheckPromises(const ManifestResult& parsed) {
  if (parsed.errors.size() > 50) std::abort();
  if (!parsed.ok()) return;
  const Manifest& manifest = parsed.manifest;
  if (!IsPluginId(manifest.id) || !IsSemanticVersion(manifest.version)) std::abort();
  for (const std::string& id : manifest.provides) {
    if (!IsInterfaceId(id)) std::abort();
  }
  for (const KubeRule& rule : manifest.kube) {
    if (rule.verbs.empty() || rule.resource.empty() || rule.version.empty()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(data, size);
  ElfInfo elf;
  Manifest manifest;
  ManifestExpectations expected;
  expected.file_id = "good";
  const auto violations = CheckPluginFile(file, expected, &elf, &manifest);
  // A file that passes is what the loader opens: it must be what it claims.
  if (violations.empty() && (manifest.id != "good" || !elf.IsSharedObject())) std::abort();
  CheckExports(elf);
  CheckLinkFlags(elf);
  CheckSymbolVersions(elf);
  CheckPromises(ParseManifestNote({reinterpret_cast<const char*>(data), size}));
  return 0;
}
