#include "sdk/inspect/rules.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "otc/plugin.h"

namespace otc::inspect {
namespace {

constexpr std::array<std::string_view, 5> kBaselineLibraries = {
    "libc.so.6", "libm.so.6", "libgcc_s.so.1", "libstdc++.so.6", "libprotobuf-lite.so.32"};
constexpr char kBaselineText[] =
    "baseline 1: libc.so.6 libm.so.6 libgcc_s.so.1 libstdc++.so.6 libprotobuf-lite.so.32 "
    "ld-linux-*.so.*";

bool StartsWith(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool InBaseline(std::string_view library) {
  return std::find(kBaselineLibraries.begin(), kBaselineLibraries.end(), library) !=
             kBaselineLibraries.end() ||
         (StartsWith(library, "ld-linux-") && library.find(".so.") != std::string_view::npos);
}

bool IsSanitizerRuntime(std::string_view library) {
  return StartsWith(library, "libasan.so.") || StartsWith(library, "libubsan.so.") ||
         StartsWith(library, "libtsan.so.");
}

std::string Join(const std::vector<std::string>& items, std::size_t limit = 10) {
  std::string out;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i == limit) return out + ", and " + std::to_string(items.size() - limit) + " more";
    if (i > 0) out += ", ";
    out += items[i];
  }
  return out;
}

// otc_plugin_entry_v[0-9]+
bool IsEntryName(std::string_view name) {
  constexpr std::string_view kPrefix = "otc_plugin_entry_v";
  if (!StartsWith(name, kPrefix) || name.size() == kPrefix.size()) return false;
  name.remove_prefix(kPrefix.size());
  return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Versions of the baseline's libraries: "GLIBC_2.36" with the highest allowed.
struct VersionLimit {
  std::string_view prefix;
  std::array<int, 3> highest;
};
constexpr std::array<VersionLimit, 4> kVersionLimits = {{{"GLIBC_", {2, 36, 0}},
                                                         {"GLIBCXX_", {3, 4, 30}},
                                                         {"CXXABI_", {1, 3, 13}},
                                                         {"GCC_", {12, 0, 0}}}};

// "2.36" → {2, 36, 0}; false for other texts (GLIBC_PRIVATE and the like).
bool ParseDotted(std::string_view text, std::array<int, 3>* out) {
  *out = {0, 0, 0};
  for (std::size_t part = 0; part < out->size(); ++part) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), (*out)[part]);
    if (error != std::errc()) return false;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text.front() != '.' || part + 1 == out->size()) return false;
    text.remove_prefix(1);
  }
  return true;
}

bool VersionAllowed(std::string_view version) {
  for (const VersionLimit& limit : kVersionLimits) {
    if (!StartsWith(version, limit.prefix)) continue;
    std::array<int, 3> found;
    // CXXABI_FLOAT128, CXXABI_TM_1: old, without a number.
    if (!ParseDotted(version.substr(limit.prefix.size()), &found)) {
      return version.find("PRIVATE") == std::string_view::npos;
    }
    return found <= limit.highest;
  }
  return true;  // a library of another kind: ABI-R03 judges it
}

}  // namespace

std::string Violation::ToString() const {
  return rule + ": found " + found + "; wanted " + wanted + "; do: " + advice;
}

Violation ElfViolation(const Status& read_error) {
  return {"LOAD-4", read_error.message(),
          "a complete ELF64 shared object for " + MachineName(ThisMachine()),
          "build the plugin again and copy the whole file"};
}

std::vector<Violation> CheckLoadableElf(const ElfInfo& elf, bool allow_sanitizers) {
  std::vector<Violation> out;
  const std::string machine = MachineName(ThisMachine());
  if (!elf.IsSharedObject()) {
    out.push_back({"LOAD-4",
                   "an ELF file of type " + std::to_string(elf.type) +
                       (elf.has_dynamic ? "" : " without dynamic section"),
                   "a shared object (ET_DYN)", "link with -shared"});
  }
  if (elf.machine != ThisMachine()) {
    out.push_back({"LOAD-4", "a file for " + MachineName(elf.machine), "a file for " + machine,
                   "take the plugin's build for " + machine});
  }
  if (elf.IsGo()) {
    out.push_back({"LOAD-4", "a note of owner Go (the Go runtime)",
                   "a plugin without the Go runtime, which takes over signals and threads",
                   "write the plugin in C, C++, Rust or another language without such a runtime"});
  }
  if (elf.rpath || elf.runpath) {
    out.push_back({"ABI-R02", elf.rpath ? "DT_RPATH " + *elf.rpath : "DT_RUNPATH " + *elf.runpath,
                   "no RPATH and no RUNPATH",
                   "link without -rpath (CMake: SKIP_BUILD_RPATH ON); link libraries statically"});
  }
  if (elf.text_relocations) {
    out.push_back({"ABI-R02", "DT_TEXTREL (relocations in code)", "position-independent code",
                   "compile every object with -fPIC and link with -z text"});
  }
  if (elf.executable_stack) {
    out.push_back({"ABI-R02",
                   elf.has_stack_header ? "an executable stack" : "no PT_GNU_STACK header",
                   "a stack that is not executable",
                   "link with -z noexecstack; assembler files need .section .note.GNU-stack"});
  }
  std::vector<std::string> foreign;
  for (const std::string& library : elf.needed) {
    if (InBaseline(library) || (allow_sanitizers && IsSanitizerRuntime(library))) continue;
    foreign.push_back(library);
  }
  if (!foreign.empty()) {
    out.push_back({"ABI-R03", "DT_NEEDED " + Join(foreign), kBaselineText,
                   "link these libraries statically with hidden symbols, or drop them; HTTP and "
                   "TLS come from otc.host.cloud/1"});
  }
  const std::size_t notes = ManifestNotes(elf).size();
  if (notes != 1) {
    out.push_back({"ABI-R05",
                   notes == 0 ? "no manifest note" : std::to_string(notes) + " manifest notes",
                   "one note of owner OTC, type 1, in a PT_NOTE segment",
                   "use OTC_MANIFEST(...) once (otc_add_plugin of the SDK does it)"});
  }
  return out;
}

std::vector<Violation> CheckManifest(const ManifestResult& parsed,
                                     const ManifestExpectations& expected) {
  std::vector<Violation> out;
  for (const ManifestError& error : parsed.errors) {
    out.push_back({"ABI-R05",
                   "in the manifest, " +
                       (error.line > 0 ? "line " + std::to_string(error.line) + ": " : "") +
                       error.text,
                   "a manifest as docs/reference/plugin-abi.md says",
                   "correct the text given to OTC_MANIFEST or otc_add_plugin"});
  }
  const Manifest& manifest = parsed.manifest;
  if (parsed.ok() && !expected.file_id.empty() && manifest.id != expected.file_id) {
    out.push_back({"LOAD-6", "id " + manifest.id, "id " + expected.file_id + ", as the file says",
                   "name the file " + manifest.id + ".so and use that id in host.yaml"});
  }
  if (parsed.ok() && manifest.abi_major != OTC_ABI_MAJOR) {
    out.push_back(
        {"LOAD-6",
         "ABI " + std::to_string(manifest.abi_major) + "." + std::to_string(manifest.abi_minor),
         "ABI major " + std::to_string(OTC_ABI_MAJOR),
         "take the plugin's build for this ABI, or a host that carries ABI " +
             std::to_string(manifest.abi_major)});
  }
  if (expected.services != nullptr) {
    for (const ServiceNeed& need : manifest.needs) {
      const auto offered = expected.services->find(need.id);
      if (offered == expected.services->end()) {
        out.push_back({"LOAD-6", "needs=" + need.id, "a service that this host offers in this role",
                       "run the plugin in a role that offers it, or move it to uses="});
      } else if (offered->second < need.min_size) {
        out.push_back({"LOAD-6", "needs=" + need.id + ">=" + std::to_string(need.min_size),
                       "at most " + std::to_string(offered->second) + ", the size in this host",
                       "update the host, or build the plugin for an older host"});
      }
    }
  }
  if (!expected.allow_debug && parsed.ok() && manifest.build != "release") {
    out.push_back({"LOAD-6", "build=" + manifest.build, "build=release",
                   "install the release build; for tests start with --allow-debug-plugins"});
  }
  return out;
}

std::vector<Violation> CheckPluginFile(Bytes file, const ManifestExpectations& expected,
                                       ElfInfo* elf, Manifest* manifest) {
  Result<ElfInfo> read = ReadElf(file);
  if (!read.ok()) return {ElfViolation(read.status())};
  const std::vector<const Note*> notes = ManifestNotes(*read);
  ManifestResult parsed;
  if (notes.size() == 1) parsed = ParseManifestNote(notes[0]->desc);
  const std::string& build = parsed.manifest.build;
  const bool instrumented = !build.empty() && build != "release" && build != "debug";
  std::vector<Violation> out = CheckLoadableElf(*read, expected.allow_debug && instrumented);
  if (notes.size() == 1) {
    for (Violation& violation : CheckManifest(parsed, expected)) {
      out.push_back(std::move(violation));
    }
    if (manifest != nullptr) *manifest = std::move(parsed.manifest);
  }
  if (elf != nullptr) *elf = std::move(read).value();
  return out;
}

std::vector<Violation> CheckExports(const ElfInfo& elf) {
  std::vector<Violation> out;
  std::vector<std::string> extra;
  std::vector<std::string> unique;
  int entries = 0;
  for (const Symbol& symbol : elf.symbols) {
    if (symbol.defined && symbol.GnuUnique()) unique.push_back(symbol.name);
    if (!symbol.Exported()) continue;
    if (IsEntryName(symbol.name)) {
      ++entries;
    } else if (!symbol.GnuUnique()) {
      extra.push_back(symbol.name);
    }
  }
  const std::string advice =
      "link with a version script that exports otc_plugin_entry_v1 only (otc_add_plugin does it)";
  if (entries == 0) {
    out.push_back({"ABI-R01", "no exported entry", "the exported function otc_plugin_entry_v1",
                   "define it and export it; " + advice});
  }
  if (!extra.empty()) {
    out.push_back({"ABI-R01", "exported: " + Join(extra), "no export but the entry", advice});
  }
  if (!unique.empty()) {
    out.push_back({"ABI-R01", "STB_GNU_UNIQUE: " + Join(unique),
                   "no unique symbol (it would be shared between plugins)",
                   advice + "; compile with -fno-gnu-unique"});
  }
  return out;
}

std::vector<Violation> CheckLinkFlags(const ElfInfo& elf) {
  std::vector<Violation> out;
  const auto want = [&out](bool set, const char* found, const char* flag) {
    if (!set) {
      out.push_back({"ABI-R02", found, std::string("linked with ") + flag,
                     std::string("add -Wl,") + flag + " (otc_add_plugin does it)"});
    }
  };
  want(elf.bind_now, "lazy binding", "-z,now");
  want(elf.relro, "no PT_GNU_RELRO", "-z,relro");
  want(elf.no_delete, "no DF_1_NODELETE", "-z,nodelete");
  return out;
}

std::vector<Violation> CheckSymbolVersions(const ElfInfo& elf) {
  std::set<std::string> newer;
  for (const Symbol& symbol : elf.symbols) {
    if (!symbol.defined && !VersionAllowed(symbol.version)) {
      newer.insert(symbol.name + "@" + symbol.version);
    }
  }
  if (newer.empty()) return {};
  return {{"ABI-R04", Join({newer.begin(), newer.end()}),
           "nothing newer than GLIBC_2.36, GLIBCXX_3.4.30, CXXABI_1.3.13, GCC_12.0",
           "build on Debian 12 or an older system"}};
}

}  // namespace otc::inspect
