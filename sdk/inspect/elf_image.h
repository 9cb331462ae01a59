// The parts of an ELF file that its readers share: bounds-checked access, string
// tables, the dynamic section. Internal to this folder.
#ifndef OTC_SDK_INSPECT_ELF_IMAGE_H_
#define OTC_SDK_INSPECT_ELF_IMAGE_H_

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "otc/cpp/status.h"
#include "sdk/inspect/elf.h"

namespace otc::inspect {

inline Status BadElf(const std::string& what) {
  return Status(Code::kInvalidArgument, "BadElf", what);
}

// A bounds-checked view of the file by offset.
class File {
 public:
  explicit File(Bytes bytes) : bytes_(bytes) {}

  bool Has(std::uint64_t offset, std::uint64_t size) const {
    return offset <= bytes_.size() && size <= bytes_.size() - offset;
  }
  template <typename T>
  bool Read(std::uint64_t offset, T* out) const {
    if (!Has(offset, sizeof(T))) return false;
    std::memcpy(out, bytes_.data() + offset, sizeof(T));
    return true;
  }
  Bytes Slice(std::uint64_t offset, std::uint64_t size) const {
    return Has(offset, size) ? bytes_.subspan(offset, size) : Bytes();
  }
  std::uint64_t size() const { return bytes_.size(); }

 private:
  Bytes bytes_;
};

inline std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A string table: NUL-terminated names by offset.
class StringTable {
 public:
  explicit StringTable(Bytes bytes) : text_(AsText(bytes)) {}

  bool Get(std::uint64_t offset, std::string* out) {
    if (offset >= text_.size()) return false;
    const std::string_view rest = text_.substr(offset, kMaxName);
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) return false;
    if (!Charge(end)) return false;
    out->assign(rest.substr(0, end));
    return true;
  }
  // Counts `size` more bytes of copied names; false when it becomes too much.
  bool Charge(std::size_t size) {
    spent_ += size;
    return spent_ <= kMaxNameBytes;
  }

 private:
  static constexpr std::size_t kMaxName = 1u << 16;
  // All names together: many symbols may point at one long string.
  static constexpr std::size_t kMaxNameBytes = 64u << 20;

  std::string_view text_;
  std::size_t spent_ = 0;
};

// What the dynamic section says, before addresses are resolved.
struct Dynamic {
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> soname, rpath, runpath;
  std::uint64_t strtab = 0, strsz = 0, symtab = 0, hash = 0, gnu_hash = 0;
  std::uint64_t versym = 0, verneed = 0, verneed_count = 0, verdef = 0, verdef_count = 0;
};

struct ElfImage {
  explicit ElfImage(Bytes bytes) : file(bytes) {}

  // File offset of a virtual address that lies in a loaded segment.
  std::optional<std::uint64_t> Offset(std::uint64_t address) const {
    for (const Elf64_Phdr& load : loads) {
      if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz) {
        return load.p_offset + (address - load.p_vaddr);
      }
    }
    return std::nullopt;
  }

  File file;
  Elf64_Ehdr header{};
  std::vector<Elf64_Phdr> loads;
  Dynamic dynamic;
};

// Reads the dynamic symbol table with its versions (elf_symbols.cc).
Status ReadSymbols(const ElfImage& image, std::vector<Symbol>* out);

}  // namespace otc::inspect

#endif  // OTC_SDK_INSPECT_ELF_IMAGE_H_
