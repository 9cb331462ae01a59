// Reads what the loading rules need from an ELF file, without running any of it.
//
// Works on bytes in memory (a mapping or a buffer) that may be anything: a text
// file, half a plugin, hostile offsets. Every access is bounds-checked; nothing
// here crashes, allocates without limit or throws on bad input. The bytes are
// only read during the call; the result owns copies.
//
// Pure functions: any thread. No dependency but the standard library, so both
// the host's loader and otc-plugin-check link it.
#ifndef OTC_SDK_INSPECT_ELF_H_
#define OTC_SDK_INSPECT_ELF_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "otc/cpp/status.h"

namespace otc::inspect {

using Bytes = std::span<const std::uint8_t>;

// One entry of a PT_NOTE segment. `owner` is without its terminating NUL.
struct Note {
  std::string owner;
  std::uint32_t type = 0;
  std::string desc;
};

// One entry of the dynamic symbol table. `version` is empty when the symbol has
// none; for an undefined symbol `version_file` is the library that must have it.
struct Symbol {
  std::string name;
  std::string version;
  std::string version_file;
  std::uint8_t binding = 0;     // STB_*
  std::uint8_t type = 0;        // STT_*
  std::uint8_t visibility = 0;  // STV_*
  bool defined = false;

  // Whether other objects can bind to it.
  bool Exported() const;
  bool GnuUnique() const;
};

struct ElfInfo {
  std::uint16_t type = 0;     // ET_*
  std::uint16_t machine = 0;  // EM_*
  bool has_dynamic = false;
  std::vector<std::string> needed;  // DT_NEEDED, in order
  std::string soname;
  std::optional<std::string> rpath;
  std::optional<std::string> runpath;
  bool text_relocations = false;  // DT_TEXTREL or DF_TEXTREL
  bool bind_now = false;          // DT_BIND_NOW, DF_BIND_NOW or DF_1_NOW
  bool no_delete = false;         // DF_1_NODELETE
  bool relro = false;             // PT_GNU_RELRO
  bool has_stack_header = false;  // PT_GNU_STACK; without it the stack becomes executable
  bool executable_stack = false;
  std::vector<Note> notes;
  std::string build_id;  // lower-case hex, empty if there is none
  std::vector<Symbol> symbols;

  bool IsSharedObject() const;
  // Built by the Go tool chain, whose runtime takes over signals and threads.
  bool IsGo() const;
};

// The name of a machine ("x86-64", "aarch64", otherwise the number), and the
// machine that this program was built for.
std::string MachineName(std::uint16_t machine);
std::uint16_t ThisMachine();

// INVALID_ARGUMENT with reason `NotElf` (another kind of file, or not 64-bit
// little-endian) or `BadElf` (truncated or inconsistent; the message says where).
Result<ElfInfo> ReadElf(Bytes file);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_ELF_H_
