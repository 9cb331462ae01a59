#include "sdk/inspect/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace otc::inspect {
namespace {

// Limits against absurd headers; real plugins stay far below them.
constexpr std::size_t kMaxSegments = 256;
constexpr std::size_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxNotes = 256;
constexpr std::size_t kMaxNoteBytes = 1u << 16;
constexpr std::size_t kMaxSymbols = 1u << 18;
constexpr std::size_t kMaxSymbolName = 1u << 16;
constexpr std::size_t kMaxVersions = 4096;
// All names together: many symbols may point at one long string.
constexpr std::size_t kMaxNameBytes = 64u << 20;

Status Bad(const std::string& what) { return Status(Code::kInvalidArgument, "BadElf", what); }

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

std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A string table: NUL-terminated names by offset.
class StringTable {
 public:
  explicit StringTable(Bytes bytes) : text_(AsText(bytes)) {}

  bool Get(std::uint64_t offset, std::string* out) {
    if (offset >= text_.size()) return false;
    const std::string_view rest = text_.substr(offset, kMaxSymbolName);
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

struct Version {
  std::string name;
  std::string file;
};

class Reader {
 public:
  explicit Reader(Bytes bytes) : file_(bytes) {}

  Result<ElfInfo> Run() {
    OTC_RETURN_IF_ERROR(ReadHeader());
    OTC_RETURN_IF_ERROR(ReadSegments());
    OTC_RETURN_IF_ERROR(ReadDynamic());
    OTC_RETURN_IF_ERROR(ReadSymbols());
    return std::move(info_);
  }

 private:
  Status ReadHeader();
  Status ReadSegments();
  Status ReadNotes(const Elf64_Phdr& segment);
  Status ReadDynamic();
  void ApplyDynamicEntry(const Elf64_Dyn& entry);
  Status ResolveStrings();
  Status ReadSymbols();
  Status ReadVersionNeeds(StringTable& strings);
  Status ReadVersionDefinitions(StringTable& strings);
  bool AddVersion(std::uint16_t index, Version version);
  std::uint64_t SymbolCount() const;
  std::uint64_t GnuHashCount() const;
  std::uint64_t SectionSymbolCount() const;

  // File offset of a virtual address that lies in a loaded segment.
  std::optional<std::uint64_t> Offset(std::uint64_t address) const {
    for (const Elf64_Phdr& load : loads_) {
      if (address >= load.p_vaddr && address - load.p_vaddr < load.p_filesz) {
        return load.p_offset + (address - load.p_vaddr);
      }
    }
    return std::nullopt;
  }

  File file_;
  ElfInfo info_;
  Elf64_Ehdr header_{};
  std::vector<Elf64_Phdr> loads_;
  std::optional<Elf64_Phdr> dynamic_segment_;
  Dynamic dynamic_;
  std::vector<Version> versions_;  // by version index
};

Status Reader::ReadHeader() {
  unsigned char ident[EI_NIDENT];
  if (!file_.Read(0, &ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    return Status(Code::kInvalidArgument, "NotElf", "not an ELF file");
  }
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) {
    return Status(Code::kInvalidArgument, "NotElf", "an ELF file, but not 64-bit little-endian");
  }
  if (!file_.Read(0, &header_)) return Bad("truncated: the file ends inside the ELF header");
  info_.type = header_.e_type;
  info_.machine = header_.e_machine;
  return Status::Ok();
}

Status Reader::ReadSegments() {
  if (header_.e_phnum == 0) return Bad("no program headers");
  if (header_.e_phentsize != sizeof(Elf64_Phdr)) return Bad("program headers of unknown size");
  if (header_.e_phnum > kMaxSegments) return Bad("more than 256 program headers");
  std::vector<Elf64_Phdr> notes;
  for (std::size_t i = 0; i < header_.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (header_.e_phoff > file_.size() ||
        !file_.Read(header_.e_phoff + i * sizeof(segment), &segment)) {
      return Bad("truncated: the file ends inside the program headers");
    }
    const bool has_content =
        segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC || segment.p_type == PT_NOTE;
    if (has_content && !file_.Has(segment.p_offset, segment.p_filesz)) {
      return Bad("truncated: segment " + std::to_string(i) + " ends behind the end of the file");
    }
    if (segment.p_type == PT_LOAD) loads_.push_back(segment);
    if (segment.p_type == PT_DYNAMIC) dynamic_segment_ = segment;
    if (segment.p_type == PT_NOTE) notes.push_back(segment);
    if (segment.p_type == PT_GNU_RELRO) info_.relro = true;
    if (segment.p_type == PT_GNU_STACK) {
      info_.has_stack_header = true;
      info_.executable_stack = (segment.p_flags & PF_X) != 0;
    }
  }
  if (!info_.has_stack_header) info_.executable_stack = true;
  for (const Elf64_Phdr& segment : notes) OTC_RETURN_IF_ERROR(ReadNotes(segment));
  return Status::Ok();
}

Status Reader::ReadNotes(const Elf64_Phdr& segment) {
  // Notes are 4-aligned, except in segments that say 8 (GNU properties).
  const std::uint64_t align = segment.p_align == 8 ? 8 : 4;
  const auto round_up = [align](std::uint64_t value) { return (value + align - 1) & ~(align - 1); };
  const Bytes content = file_.Slice(segment.p_offset, segment.p_filesz);
  const File notes(content);
  std::uint64_t at = 0;
  while (at < content.size()) {
    Elf64_Nhdr header;
    if (!notes.Read(at, &header)) return Bad("a note is cut off");
    const std::uint64_t name_at = at + sizeof(header);
    const std::uint64_t desc_at = at + round_up(sizeof(header) + header.n_namesz);
    if (!notes.Has(name_at, header.n_namesz) || !notes.Has(desc_at, header.n_descsz)) {
      return Bad("a note is longer than its segment");
    }
    if (header.n_namesz > kMaxNoteBytes || header.n_descsz > kMaxNoteBytes) {
      return Bad("a note of more than 64 KiB");
    }
    if (info_.notes.size() >= kMaxNotes) return Bad("more than 256 notes");
    Note note;
    note.owner = AsText(notes.Slice(name_at, header.n_namesz));
    note.owner.resize(std::min(note.owner.size(), note.owner.find('\0')));  // Go pads its own
    note.type = header.n_type;
    note.desc = AsText(notes.Slice(desc_at, header.n_descsz));
    if (note.owner == "GNU" && note.type == NT_GNU_BUILD_ID) {
      static constexpr char kHex[] = "0123456789abcdef";
      info_.build_id.clear();
      for (const char c : note.desc.substr(0, 64)) {
        const auto byte = static_cast<unsigned char>(c);
        info_.build_id += kHex[byte >> 4];
        info_.build_id += kHex[byte & 15];
      }
    }
    info_.notes.push_back(std::move(note));
    at = desc_at + round_up(header.n_descsz);
  }
  return Status::Ok();
}

Status Reader::ReadDynamic() {
  if (!dynamic_segment_) return Status::Ok();
  info_.has_dynamic = true;
  const std::uint64_t count = dynamic_segment_->p_filesz / sizeof(Elf64_Dyn);
  if (count > kMaxDynamicEntries) return Bad("more than 4096 dynamic entries");
  for (std::uint64_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    if (!file_.Read(dynamic_segment_->p_offset + i * sizeof(entry), &entry)) {
      return Bad("truncated: the file ends inside the dynamic section");
    }
    if (entry.d_tag == DT_NULL) break;
    ApplyDynamicEntry(entry);
  }
  return ResolveStrings();
}

void Reader::ApplyDynamicEntry(const Elf64_Dyn& entry) {
  const std::uint64_t value = entry.d_un.d_val;
  switch (entry.d_tag) {
    case DT_NEEDED:
      dynamic_.needed.push_back(value);
      break;
    case DT_SONAME:
      dynamic_.soname = value;
      break;
    case DT_RPATH:
      dynamic_.rpath = value;
      break;
    case DT_RUNPATH:
      dynamic_.runpath = value;
      break;
    case DT_STRTAB:
      dynamic_.strtab = value;
      break;
    case DT_STRSZ:
      dynamic_.strsz = value;
      break;
    case DT_SYMTAB:
      dynamic_.symtab = value;
      break;
    case DT_HASH:
      dynamic_.hash = value;
      break;
    case DT_GNU_HASH:
      dynamic_.gnu_hash = value;
      break;
    case DT_VERSYM:
      dynamic_.versym = value;
      break;
    case DT_VERNEED:
      dynamic_.verneed = value;
      break;
    case DT_VERNEEDNUM:
      dynamic_.verneed_count = value;
      break;
    case DT_VERDEF:
      dynamic_.verdef = value;
      break;
    case DT_VERDEFNUM:
      dynamic_.verdef_count = value;
      break;
    case DT_TEXTREL:
      info_.text_relocations = true;
      break;
    case DT_BIND_NOW:
      info_.bind_now = true;
      break;
    case DT_FLAGS:
      if ((value & DF_TEXTREL) != 0) info_.text_relocations = true;
      if ((value & DF_BIND_NOW) != 0) info_.bind_now = true;
      break;
    case DT_FLAGS_1:
      if ((value & DF_1_NOW) != 0) info_.bind_now = true;
      if ((value & DF_1_NODELETE) != 0) info_.no_delete = true;
      break;
    default:
      break;
  }
}

Status Reader::ResolveStrings() {
  const bool wanted =
      !dynamic_.needed.empty() || dynamic_.soname || dynamic_.rpath || dynamic_.runpath;
  const auto offset = Offset(dynamic_.strtab);
  if (!offset || !file_.Has(*offset, dynamic_.strsz)) {
    return wanted ? Bad("the dynamic string table lies outside of the file") : Status::Ok();
  }
  StringTable strings(file_.Slice(*offset, dynamic_.strsz));
  const auto optional_name = [&strings](const std::optional<std::uint64_t>& at,
                                        std::optional<std::string>* out) {
    if (!at) return true;
    out->emplace();
    return strings.Get(*at, &**out);
  };
  for (const std::uint64_t at : dynamic_.needed) {
    std::string name;
    if (!strings.Get(at, &name)) return Bad("a DT_NEEDED name lies outside of the string table");
    info_.needed.push_back(std::move(name));
  }
  std::optional<std::string> soname;
  if (!optional_name(dynamic_.soname, &soname) || !optional_name(dynamic_.rpath, &info_.rpath) ||
      !optional_name(dynamic_.runpath, &info_.runpath)) {
    return Bad("a name of the dynamic section lies outside of the string table");
  }
  info_.soname = soname.value_or("");
  return Status::Ok();
}

// The dynamic linker never needs the number of symbols, so it is written down
// only in the old hash table and in the section headers (which strip may drop).
std::uint64_t Reader::SymbolCount() const {
  if (const auto at = dynamic_.hash != 0 ? Offset(dynamic_.hash) : std::nullopt) {
    std::uint32_t counts[2];
    if (file_.Read(*at, &counts)) return counts[1];
  }
  return std::max(SectionSymbolCount(), GnuHashCount());
}

std::uint64_t Reader::SectionSymbolCount() const {
  if (header_.e_shentsize != sizeof(Elf64_Shdr) || header_.e_shoff > file_.size()) return 0;
  for (std::uint64_t i = 0; i < header_.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!file_.Read(header_.e_shoff + i * sizeof(section), &section)) return 0;
    if (section.sh_type == SHT_DYNSYM && section.sh_addr == dynamic_.symtab) {
      return section.sh_size / sizeof(Elf64_Sym);
    }
  }
  return 0;
}

std::uint64_t Reader::GnuHashCount() const {
  const auto at = dynamic_.gnu_hash != 0 ? Offset(dynamic_.gnu_hash) : std::nullopt;
  std::uint32_t head[4];  // buckets, first hashed symbol, bloom words, bloom shift
  if (!at || !file_.Read(*at, &head)) return 0;
  const std::uint64_t buckets_at = *at + sizeof(head) + std::uint64_t{head[2]} * 8;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < head[0]; ++i) {
    std::uint32_t bucket;
    if (!file_.Read(buckets_at + i * 4, &bucket)) return 0;
    last = std::max(last, bucket);
  }
  if (last < head[1]) return head[1];
  const std::uint64_t chains_at = buckets_at + std::uint64_t{head[0]} * 4;
  std::uint32_t chain = 0;
  do {
    if (!file_.Read(chains_at + std::uint64_t{last - head[1]} * 4, &chain)) return 0;
    ++last;
  } while ((chain & 1u) == 0);
  return last;
}

bool Reader::AddVersion(std::uint16_t index, Version version) {
  const std::size_t slot = index & 0x7fffu;
  if (slot >= kMaxVersions) return false;
  if (versions_.size() <= slot) versions_.resize(slot + 1);
  versions_[slot] = std::move(version);
  return true;
}

Status Reader::ReadVersionNeeds(StringTable& strings) {
  if (dynamic_.verneed == 0) return Status::Ok();
  auto at = Offset(dynamic_.verneed);
  std::uint64_t budget = kMaxVersions;
  for (std::uint64_t i = 0; i < dynamic_.verneed_count; ++i) {
    Elf64_Verneed need;
    std::string library;
    if (!at || budget == 0 || !file_.Read(*at, &need) || !strings.Get(need.vn_file, &library)) {
      return Bad("the table of needed versions is damaged");
    }
    std::uint64_t aux_at = *at + need.vn_aux;
    for (std::uint16_t k = 0; k < need.vn_cnt; ++k) {
      Elf64_Vernaux aux;
      Version version;
      version.file = library;
      if (budget-- == 0 || !file_.Read(aux_at, &aux) || !strings.Get(aux.vna_name, &version.name) ||
          !AddVersion(aux.vna_other, std::move(version))) {
        return Bad("the table of needed versions is damaged");
      }
      aux_at += aux.vna_next;
    }
    if (need.vn_next == 0) break;
    *at += need.vn_next;
    if (need.vn_cnt == 0) --budget;
  }
  return Status::Ok();
}

Status Reader::ReadVersionDefinitions(StringTable& strings) {
  if (dynamic_.verdef == 0) return Status::Ok();
  auto at = Offset(dynamic_.verdef);
  for (std::uint64_t i = 0; i < dynamic_.verdef_count; ++i) {
    Elf64_Verdef definition;
    Elf64_Verdaux aux;
    Version version;
    if (!at || i >= kMaxVersions || !file_.Read(*at, &definition) ||
        !file_.Read(*at + definition.vd_aux, &aux) || !strings.Get(aux.vda_name, &version.name) ||
        !AddVersion(definition.vd_ndx, std::move(version))) {
      return Bad("the table of defined versions is damaged");
    }
    if (definition.vd_next == 0) break;
    *at += definition.vd_next;
  }
  return Status::Ok();
}

Status Reader::ReadSymbols() {
  const std::uint64_t count = dynamic_.symtab != 0 ? SymbolCount() : 0;
  if (count == 0) return Status::Ok();
  if (count > kMaxSymbols) return Bad("more than 262144 dynamic symbols");
  const auto symbols_at = Offset(dynamic_.symtab);
  const auto strings_at = Offset(dynamic_.strtab);
  if (!symbols_at || !strings_at || !file_.Has(*symbols_at, count * sizeof(Elf64_Sym)) ||
      !file_.Has(*strings_at, dynamic_.strsz)) {
    return Bad("the dynamic symbol table lies outside of the file");
  }
  StringTable strings(file_.Slice(*strings_at, dynamic_.strsz));
  OTC_RETURN_IF_ERROR(ReadVersionNeeds(strings));
  OTC_RETURN_IF_ERROR(ReadVersionDefinitions(strings));
  const auto versym_at = dynamic_.versym != 0 ? Offset(dynamic_.versym) : std::nullopt;
  info_.symbols.reserve(count - 1);
  for (std::uint64_t i = 1; i < count; ++i) {  // entry 0 is the null symbol
    Elf64_Sym raw;
    Symbol symbol;
    if (!file_.Read(*symbols_at + i * sizeof(raw), &raw) ||
        !strings.Get(raw.st_name, &symbol.name)) {
      return Bad("the name of a dynamic symbol lies outside of the string table");
    }
    symbol.binding = ELF64_ST_BIND(raw.st_info);
    symbol.type = ELF64_ST_TYPE(raw.st_info);
    symbol.visibility = ELF64_ST_VISIBILITY(raw.st_other);
    symbol.defined = raw.st_shndx != SHN_UNDEF;
    std::uint16_t version = 0;
    if (versym_at && file_.Read(*versym_at + i * 2, &version) && (version & 0x7fffu) > 1 &&
        (version & 0x7fffu) < versions_.size()) {
      symbol.version = versions_[version & 0x7fffu].name;
      symbol.version_file = versions_[version & 0x7fffu].file;
    }
    if (!strings.Charge(symbol.version.size() + symbol.version_file.size())) {
      return Bad("more than 64 MiB of symbol names");
    }
    info_.symbols.push_back(std::move(symbol));
  }
  return Status::Ok();
}

}  // namespace

bool Symbol::Exported() const {
  return defined && binding != STB_LOCAL && visibility != STV_HIDDEN &&
         visibility != STV_INTERNAL && type != STT_SECTION && type != STT_FILE;
}

bool Symbol::GnuUnique() const { return binding == STB_GNU_UNIQUE; }

bool ElfInfo::IsSharedObject() const { return type == ET_DYN && has_dynamic; }

bool ElfInfo::IsGo() const {
  return std::any_of(notes.begin(), notes.end(),
                     [](const Note& note) { return note.owner == "Go"; });
}

std::string MachineName(std::uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    default:
      return "machine " + std::to_string(machine);
  }
}

std::uint16_t ThisMachine() {
#if defined(__x86_64__)
  return EM_X86_64;
#elif defined(__aarch64__)
  return EM_AARCH64;
#else
#error "the plugin ABI is defined for x86-64 and aarch64 only"
#endif
}

Result<ElfInfo> ReadElf(Bytes file) { return Reader(file).Run(); }

}  // namespace otc::inspect
