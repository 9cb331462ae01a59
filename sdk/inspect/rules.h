// The loading rules that can be judged from the file alone
// (docs/reference/plugin-abi.md, "Loading" and "Conformance rules"). The host's
// loader refuses on the first group, otc-plugin-check reports all of them.
//
// Pure functions, any thread. Each returns every violation, empty when all hold.
#ifndef OTC_SDK_INSPECT_RULES_H_
#define OTC_SDK_INSPECT_RULES_H_

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/inspect/elf.h"
#include "sdk/inspect/manifest.h"

namespace otc::inspect {

// A broken rule. `rule` is "ABI-Rnn", or "LOAD-n" for step n of the loading list
// that has no rule number of its own.
struct Violation {
  std::string rule;
  std::string found;
  std::string wanted;
  std::string advice;

  // "ABI-R03: found …; wanted …; do: …", one line.
  std::string ToString() const;
};

// The loader's part. CheckLoadableElf: shared object for this machine (LOAD-4),
// no Go runtime (LOAD-4), no RPATH, RUNPATH, text relocation or executable stack
// (ABI-R02), DT_NEEDED within baseline 1 (ABI-R03), exactly one manifest note
// (ABI-R05). What ReadElf refuses is LOAD-4 too; see ElfViolation. Sanitizer
// runtimes are allowed on request: instrumented plugins cannot do without.
std::vector<Violation> CheckLoadableElf(const ElfInfo& elf, bool allow_sanitizers = false);
Violation ElfViolation(const Status& read_error);

// The services that a host offers in the role at hand: id → struct_size.
using ServiceSizes = std::map<std::string, std::uint32_t, std::less<>>;

struct ManifestExpectations {
  std::string file_id;                     // from the file's name; empty: not judged
  const ServiceSizes* services = nullptr;  // null: `needs` is not judged
  bool allow_debug = false;                // builds other than release are fine
};

// ABI-R05 for a note that does not parse; LOAD-6 for id, ABI major, needs, build.
std::vector<Violation> CheckManifest(const ManifestResult& parsed,
                                     const ManifestExpectations& expected);

// Both, from the bytes of a file on: reads, checks, parses. `manifest` and `elf`
// (either may be null) get what could be read.
std::vector<Violation> CheckPluginFile(Bytes file, const ManifestExpectations& expected,
                                       ElfInfo* elf, Manifest* manifest);

// The tool's part. ABI-R01 (exports, GNU_UNIQUE), ABI-R02 (now, relro, nodelete),
// ABI-R04 (symbol versions of baseline 1).
std::vector<Violation> CheckExports(const ElfInfo& elf);
std::vector<Violation> CheckLinkFlags(const ElfInfo& elf);
std::vector<Violation> CheckSymbolVersions(const ElfInfo& elf);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_RULES_H_
