#include "sdk/inspect/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "sdk/inspect/elf_image.h"

namespace otc::inspect {
namespace {

// Limits against absurd headers; real plugins stay far below them.
constexpr std::size_t kMaxSegments = 256;
constexpr std::size_t kMaxDynamicEntries = 4096;
constexpr std::size_t kMaxNotes = 256;
constexpr std::size_t kMaxNoteBytes = 1u << 16;

class Reader {
 public:
  explicit Reader(Bytes bytes) : image_(bytes) {}

  Result<ElfInfo> Run() {
    OTC_RETURN_IF_ERROR(ReadHeader());
    OTC_RETURN_IF_ERROR(ReadSegments());
    OTC_RETURN_IF_ERROR(ReadDynamic());
    OTC_RETURN_IF_ERROR(ReadSymbols(image_, &info_.symbols));
    return std::move(info_);
  }

 private:
  Status ReadHeader();
  Status ReadSegments();
  Status ReadNotes(const Elf64_Phdr& segment);
  Status ReadDynamic();
  void ApplyDynamicEntry(const Elf64_Dyn& entry);
  Status ResolveStrings();

  ElfImage image_;
  ElfInfo info_;
  std::optional<Elf64_Phdr> dynamic_segment_;
};

Status Reader::ReadHeader() {
  unsigned char ident[EI_NIDENT];
  if (!image_.file.Read(0, &ident) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
    return Status(Code::kInvalidArgument, "NotElf", "not an ELF file");
  }
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) {
    return Status(Code::kInvalidArgument, "NotElf", "an ELF file, but not 64-bit little-endian");
  }
  if (!image_.file.Read(0, &image_.header))
    return BadElf("truncated: the file ends inside the ELF header");
  info_.type = image_.header.e_type;
  info_.machine = image_.header.e_machine;
  return Status::Ok();
}

Status Reader::ReadSegments() {
  if (image_.header.e_phnum == 0) return BadElf("no program headers");
  if (image_.header.e_phentsize != sizeof(Elf64_Phdr))
    return BadElf("program headers of unknown size");
  if (image_.header.e_phnum > kMaxSegments) return BadElf("more than 256 program headers");
  std::vector<Elf64_Phdr> notes;
  for (std::size_t i = 0; i < image_.header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (image_.header.e_phoff > image_.file.size() ||
        !image_.file.Read(image_.header.e_phoff + i * sizeof(segment), &segment)) {
      return BadElf("truncated: the file ends inside the program headers");
    }
    const bool has_content =
        segment.p_type == PT_LOAD || segment.p_type == PT_DYNAMIC || segment.p_type == PT_NOTE;
    if (has_content && !image_.file.Has(segment.p_offset, segment.p_filesz)) {
      return BadElf("truncated: segment " + std::to_string(i) + " ends behind the end of the file");
    }
    if (segment.p_type == PT_LOAD) image_.loads.push_back(segment);
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
  const Bytes content = image_.file.Slice(segment.p_offset, segment.p_filesz);
  const File notes(content);
  std::uint64_t at = 0;
  while (at < content.size()) {
    Elf64_Nhdr header;
    if (!notes.Read(at, &header)) return BadElf("a note is cut off");
    const std::uint64_t name_at = at + sizeof(header);
    const std::uint64_t desc_at = at + round_up(sizeof(header) + header.n_namesz);
    if (!notes.Has(name_at, header.n_namesz) || !notes.Has(desc_at, header.n_descsz)) {
      return BadElf("a note is longer than its segment");
    }
    if (header.n_namesz > kMaxNoteBytes || header.n_descsz > kMaxNoteBytes) {
      return BadElf("a note of more than 64 KiB");
    }
    if (info_.notes.size() >= kMaxNotes) return BadElf("more than 256 notes");
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
  if (count > kMaxDynamicEntries) return BadElf("more than 4096 dynamic entries");
  for (std::uint64_t i = 0; i < count; ++i) {
    Elf64_Dyn entry;
    if (!image_.file.Read(dynamic_segment_->p_offset + i * sizeof(entry), &entry)) {
      return BadElf("truncated: the file ends inside the dynamic section");
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
      image_.dynamic.needed.push_back(value);
      break;
    case DT_SONAME:
      image_.dynamic.soname = value;
      break;
    case DT_RPATH:
      image_.dynamic.rpath = value;
      break;
    case DT_RUNPATH:
      image_.dynamic.runpath = value;
      break;
    case DT_STRTAB:
      image_.dynamic.strtab = value;
      break;
    case DT_STRSZ:
      image_.dynamic.strsz = value;
      break;
    case DT_SYMTAB:
      image_.dynamic.symtab = value;
      break;
    case DT_HASH:
      image_.dynamic.hash = value;
      break;
    case DT_GNU_HASH:
      image_.dynamic.gnu_hash = value;
      break;
    case DT_VERSYM:
      image_.dynamic.versym = value;
      break;
    case DT_VERNEED:
      image_.dynamic.verneed = value;
      break;
    case DT_VERNEEDNUM:
      image_.dynamic.verneed_count = value;
      break;
    case DT_VERDEF:
      image_.dynamic.verdef = value;
      break;
    case DT_VERDEFNUM:
      image_.dynamic.verdef_count = value;
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
  const bool wanted = !image_.dynamic.needed.empty() || image_.dynamic.soname ||
                      image_.dynamic.rpath || image_.dynamic.runpath;
  const auto offset = image_.Offset(image_.dynamic.strtab);
  if (!offset || !image_.file.Has(*offset, image_.dynamic.strsz)) {
    return wanted ? BadElf("the dynamic string table lies outside of the file") : Status::Ok();
  }
  StringTable strings(image_.file.Slice(*offset, image_.dynamic.strsz));
  const auto optional_name = [&strings](const std::optional<std::uint64_t>& at,
                                        std::optional<std::string>* out) {
    if (!at) return true;
    out->emplace();
    return strings.Get(*at, &**out);
  };
  for (const std::uint64_t at : image_.dynamic.needed) {
    std::string name;
    if (!strings.Get(at, &name)) return BadElf("a DT_NEEDED name lies outside of the string table");
    info_.needed.push_back(std::move(name));
  }
  std::optional<std::string> soname;
  if (!optional_name(image_.dynamic.soname, &soname) ||
      !optional_name(image_.dynamic.rpath, &info_.rpath) ||
      !optional_name(image_.dynamic.runpath, &info_.runpath)) {
    return BadElf("a name of the dynamic section lies outside of the string table");
  }
  info_.soname = soname.value_or("");
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
