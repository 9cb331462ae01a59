// The manifest of a plugin: text in an ELF note that says, before any code of
// the plugin runs, what it is, what it provides and what it needs
// (docs/reference/plugin-abi.md, "Manifest").
//
// Pure functions on bytes that may be anything; all errors of a text are
// reported at once, each with its line. Any thread.
#ifndef OTC_SDK_INSPECT_MANIFEST_H_
#define OTC_SDK_INSPECT_MANIFEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sdk/inspect/elf.h"

namespace otc::inspect {

inline constexpr std::string_view kManifestOwner = "OTC";
inline constexpr std::uint32_t kManifestNoteType = 1;
inline constexpr std::size_t kMaxManifestBytes = 4096;  // with the NUL at the end

// A host service and the smallest table that will do (0: any).
struct ServiceNeed {
  std::string id;
  std::uint32_t min_size = 0;
};

// One `kube=` line: what otc.host.kube may do for this plugin.
struct KubeRule {
  std::vector<std::string> verbs;
  std::string group;  // empty: the core group
  std::string version;
  std::string resource;  // "nodes" or "nodes/status"
};

struct Manifest {
  std::string id;
  std::string version;
  std::uint16_t abi_major = 0;
  std::uint16_t abi_minor = 0;
  std::vector<std::string> provides;
  std::vector<ServiceNeed> needs;
  std::vector<std::string> uses;
  std::vector<std::string> cloud;
  std::vector<std::string> exec;
  std::vector<KubeRule> kube;
  bool own_threads = false;  // threads=own
  std::string build;         // release, debug, asan, tsan, msan, ubsan
  std::vector<std::string> unknown_keys;

  bool Names(std::string_view service) const;  // in `needs` or `uses`
};

struct ManifestError {
  int line = 0;  // from 1; 0: the note as a whole
  std::string text;
};

struct ManifestResult {
  Manifest manifest;  // what could be read, even when there are errors
  std::vector<ManifestError> errors;

  bool ok() const { return errors.empty(); }
  // "line 3: unknown …; line 7: …", for a log line.
  std::string ErrorText() const;
};

// Parses the content of the note: text and the single NUL behind it.
ManifestResult ParseManifestNote(std::string_view note);

// The notes of a file that claim to be the manifest (one is right).
std::vector<const Note*> ManifestNotes(const ElfInfo& elf);

// The id of a plugin ([a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?).
bool IsPluginId(std::string_view id);
// The id of an interface or a host service: "otc.load-balancer/1" or ".../draft-1".
bool IsInterfaceId(std::string_view id);
bool IsDraftId(std::string_view id);
// A semantic version: "1.2.3", "1.2.3-rc.1+build".
bool IsSemanticVersion(std::string_view version);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_MANIFEST_H_
