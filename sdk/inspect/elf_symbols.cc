// The dynamic symbols of an ELF file and the versions that they have or need.
#include <elf.h>

#include <algorithm>
#include <utility>

#include "sdk/inspect/elf_image.h"

namespace otc::inspect {
namespace {

constexpr std::size_t kMaxSymbols = 1u << 18;
constexpr std::size_t kMaxVersions = 4096;

struct Version {
  std::string name;
  std::string file;
};

class SymbolReader {
 public:
  explicit SymbolReader(const ElfImage& image) : image_(image) {}

  Status Run(std::vector<Symbol>* out);

 private:
  Status ReadVersionNeeds(StringTable& strings);
  Status ReadVersionDefinitions(StringTable& strings);
  bool AddVersion(std::uint16_t index, Version version);
  std::uint64_t SymbolCount() const;
  std::uint64_t GnuHashCount() const;
  std::uint64_t SectionSymbolCount() const;

  const ElfImage& image_;
  std::vector<Version> versions_;  // by version index
};

// The dynamic linker never needs the number of symbols, so it is written down
// only in the old hash table and in the section headers (which strip may drop).
std::uint64_t SymbolReader::SymbolCount() const {
  if (const auto at =
          image_.dynamic.hash != 0 ? image_.Offset(image_.dynamic.hash) : std::nullopt) {
    std::uint32_t counts[2];
    if (image_.file.Read(*at, &counts)) return counts[1];
  }
  return std::max(SectionSymbolCount(), GnuHashCount());
}

std::uint64_t SymbolReader::SectionSymbolCount() const {
  if (image_.header.e_shentsize != sizeof(Elf64_Shdr) || image_.header.e_shoff > image_.file.size())
    return 0;
  for (std::uint64_t i = 0; i < image_.header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!image_.file.Read(image_.header.e_shoff + i * sizeof(section), &section)) return 0;
    if (section.sh_type == SHT_DYNSYM && section.sh_addr == image_.dynamic.symtab) {
      return section.sh_size / sizeof(Elf64_Sym);
    }
  }
  return 0;
}

std::uint64_t SymbolReader::GnuHashCount() const {
  const auto at =
      image_.dynamic.gnu_hash != 0 ? image_.Offset(image_.dynamic.gnu_hash) : std::nullopt;
  std::uint32_t head[4];  // buckets, first hashed symbol, bloom words, bloom shift
  if (!at || !image_.file.Read(*at, &head)) return 0;
  const std::uint64_t buckets_at = *at + sizeof(head) + std::uint64_t{head[2]} * 8;
  std::uint32_t last = 0;
  for (std::uint64_t i = 0; i < head[0]; ++i) {
    std::uint32_t bucket;
    if (!image_.file.Read(buckets_at + i * 4, &bucket)) return 0;
    last = std::max(last, bucket);
  }
  if (last < head[1]) return head[1];
  const std::uint64_t chains_at = buckets_at + std::uint64_t{head[0]} * 4;
  std::uint32_t chain = 0;
  do {
    if (!image_.file.Read(chains_at + std::uint64_t{last - head[1]} * 4, &chain)) return 0;
    ++last;
  } while ((chain & 1u) == 0);
  return last;
}

bool SymbolReader::AddVersion(std::uint16_t index, Version version) {
  const std::size_t slot = index & 0x7fffu;
  if (slot >= kMaxVersions) return false;
  if (versions_.size() <= slot) versions_.resize(slot + 1);
  versions_[slot] = std::move(version);
  return true;
}

Status SymbolReader::ReadVersionNeeds(StringTable& strings) {
  if (image_.dynamic.verneed == 0) return Status::Ok();
  auto at = image_.Offset(image_.dynamic.verneed);
  std::uint64_t budget = kMaxVersions;
  for (std::uint64_t i = 0; i < image_.dynamic.verneed_count; ++i) {
    Elf64_Verneed need;
    std::string library;
    if (!at || budget == 0 || !image_.file.Read(*at, &need) ||
        !strings.Get(need.vn_file, &library)) {
      return BadElf("the table of needed versions is damaged");
    }
    std::uint64_t aux_at = *at + need.vn_aux;
    for (std::uint16_t k = 0; k < need.vn_cnt; ++k) {
      Elf64_Vernaux aux;
      Version version;
      version.file = library;
      if (budget-- == 0 || !image_.file.Read(aux_at, &aux) ||
          !strings.Get(aux.vna_name, &version.name) ||
          !AddVersion(aux.vna_other, std::move(version))) {
        return BadElf("the table of needed versions is damaged");
      }
      aux_at += aux.vna_next;
    }
    if (need.vn_next == 0) break;
    *at += need.vn_next;
    if (need.vn_cnt == 0) --budget;
  }
  return Status::Ok();
}

Status SymbolReader::ReadVersionDefinitions(StringTable& strings) {
  if (image_.dynamic.verdef == 0) return Status::Ok();
  auto at = image_.Offset(image_.dynamic.verdef);
  for (std::uint64_t i = 0; i < image_.dynamic.verdef_count; ++i) {
    Elf64_Verdef definition;
    Elf64_Verdaux aux;
    Version version;
    if (!at || i >= kMaxVersions || !image_.file.Read(*at, &definition) ||
        !image_.file.Read(*at + definition.vd_aux, &aux) ||
        !strings.Get(aux.vda_name, &version.name) ||
        !AddVersion(definition.vd_ndx, std::move(version))) {
      return BadElf("the table of defined versions is damaged");
    }
    if (definition.vd_next == 0) break;
    *at += definition.vd_next;
  }
  return Status::Ok();
}

Status SymbolReader::Run(std::vector<Symbol>* out) {
  const std::uint64_t count = image_.dynamic.symtab != 0 ? SymbolCount() : 0;
  if (count == 0) return Status::Ok();
  if (count > kMaxSymbols) return BadElf("more than 262144 dynamic symbols");
  const auto symbols_at = image_.Offset(image_.dynamic.symtab);
  const auto strings_at = image_.Offset(image_.dynamic.strtab);
  if (!symbols_at || !strings_at || !image_.file.Has(*symbols_at, count * sizeof(Elf64_Sym)) ||
      !image_.file.Has(*strings_at, image_.dynamic.strsz)) {
    return BadElf("the dynamic symbol table lies outside of the file");
  }
  StringTable strings(image_.file.Slice(*strings_at, image_.dynamic.strsz));
  OTC_RETURN_IF_ERROR(ReadVersionNeeds(strings));
  OTC_RETURN_IF_ERROR(ReadVersionDefinitions(strings));
  const auto versym_at =
      image_.dynamic.versym != 0 ? image_.Offset(image_.dynamic.versym) : std::nullopt;
  out->reserve(count - 1);
  for (std::uint64_t i = 1; i < count; ++i) {  // entry 0 is the null symbol
    Elf64_Sym raw;
    Symbol symbol;
    if (!image_.file.Read(*symbols_at + i * sizeof(raw), &raw) ||
        !strings.Get(raw.st_name, &symbol.name)) {
      return BadElf("the name of a dynamic symbol lies outside of the string table");
    }
    symbol.binding = ELF64_ST_BIND(raw.st_info);
    symbol.type = ELF64_ST_TYPE(raw.st_info);
    symbol.visibility = ELF64_ST_VISIBILITY(raw.st_other);
    symbol.defined = raw.st_shndx != SHN_UNDEF;
    std::uint16_t version = 0;
    if (versym_at && image_.file.Read(*versym_at + i * 2, &version) && (version & 0x7fffu) > 1 &&
        (version & 0x7fffu) < versions_.size()) {
      symbol.version = versions_[version & 0x7fffu].name;
      symbol.version_file = versions_[version & 0x7fffu].file;
    }
    if (!strings.Charge(symbol.version.size() + symbol.version_file.size())) {
      return BadElf("more than 64 MiB of symbol names");
    }
    out->push_back(std::move(symbol));
  }
  return Status::Ok();
}

}  // namespace

Status ReadSymbols(const ElfImage& image, std::vector<Symbol>* out) {
  return SymbolReader(image).Run(out);
}

}  // namespace otc::inspect
