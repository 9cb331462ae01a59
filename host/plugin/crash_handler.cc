#include "host/plugin/crash_handler.h"

#include <elf.h>
#include <execinfo.h>
#include <link.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "host/base/strings.h"

namespace otc::host::plugin_host {
namespace {

constexpr std::size_t kMaxMappings = 64;
constexpr std::size_t kAlternateStackBytes = 64 * 1024;
constexpr int kMaxFrames = 48;

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::array<char, 160> text{};  // "id version build-id", NUL at the end
};

// Written under g_record, published by g_count; the handler only reads.
std::array<Mapping, kMaxMappings> g_mappings;
std::atomic<std::size_t> g_count{0};
std::mutex g_record;

const Mapping* FindMapping(std::uintptr_t address) {
  const std::size_t count = g_count.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < count; ++i) {
    if (address >= g_mappings[i].begin && address < g_mappings[i].end) return &g_mappings[i];
  }
  return nullptr;
}

// Everything below up to Handle may run in a signal handler.
void Put(std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

void PutHex(std::uintptr_t value) {
  std::array<char, 2 * sizeof(value)> digits;
  std::size_t at = digits.size();
  do {
    digits[--at] = "0123456789abcdef"[value & 15];
    value >>= 4;
  } while (value != 0);
  Put("0x");
  Put({digits.data() + at, digits.size() - at});
}

std::string_view SignalName(int signal) {
  switch (signal) {
    case SIGSEGV:
      return "SIGSEGV";
    case SIGBUS:
      return "SIGBUS";
    case SIGFPE:
      return "SIGFPE";
    case SIGILL:
      return "SIGILL";
    case SIGABRT:
      return "SIGABRT";
    case SIGTRAP:
      return "SIGTRAP";
    default:
      return "signal";
  }
}

std::uintptr_t ProgramCounter(const void* context) {
  const auto* machine = &static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(machine->gregs[REG_RIP]);
#elif defined(__aarch64__)
  return static_cast<std::uintptr_t>(machine->pc);
#endif
}

void PutFrame(std::uintptr_t address, bool is_pc) {
  const Mapping* mapping = FindMapping(address);
  if (mapping == nullptr && !is_pc) return;
  Put("otc-host: ");
  Put(is_pc ? "at " : "  called from ");
  PutHex(address);
  if (mapping != nullptr) {
    Put(" in plugin ");
    Put(mapping->text.data());
    Put(" +");
    PutHex(address - mapping->begin);
  } else {
    Put(" in the host or a library");
  }
  Put("\n");
}

void Handle(int signal, siginfo_t*, void* context) {
  Put("otc-host: died of ");
  Put(SignalName(signal));
  Put("\n");
  PutFrame(ProgramCounter(context), true);
  // The frames that belong to plugins: abort() and the like have their program
  // counter in libc. `backtrace` was called once at start, so it loads nothing.
  std::array<void*, kMaxFrames> frames;
  const int count = backtrace(frames.data(), kMaxFrames);
  for (int i = 0; i < count; ++i) {
    PutFrame(reinterpret_cast<std::uintptr_t>(frames[static_cast<std::size_t>(i)]), false);
  }
  raise(signal);  // SA_RESETHAND: the default action, once the handler returned
}

// What dl_iterate_phdr finds out about the object around `address`.
struct Search {
  std::uintptr_t address = 0;
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::string build_id;
};

void ReadBuildId(const char* notes, std::size_t size, std::string* out) {
  std::size_t at = 0;
  while (at + sizeof(ElfW(Nhdr)) <= size) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes + at, sizeof(header));
    const std::size_t name = at + sizeof(header);
    const std::size_t desc = name + ((header.n_namesz + 3u) & ~std::size_t{3});
    const std::size_t next = desc + ((header.n_descsz + 3u) & ~std::size_t{3});
    if (next > size) return;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 &&
        std::memcmp(notes + name, "GNU", 4) == 0) {
      *out = HexEncode({notes + desc, header.n_descsz});
    }
    at = next;
  }
}

int Visit(dl_phdr_info* info, std::size_t, void* data) {
  auto* search = static_cast<Search*>(data);
  std::uintptr_t begin = UINTPTR_MAX, end = 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    begin = std::min(begin, start);
    end = std::max(end, start + segment.p_memsz);
  }
  if (search->address < begin || search->address >= end) return 0;
  search->begin = begin;
  search->end = end;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    ReadBuildId(reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr), segment.p_memsz,
                &search->build_id);
  }
  return 1;
}

}  // namespace

void InstallCrashHandler() {
  std::array<void*, 2> frames;
  backtrace(frames.data(), static_cast<int>(frames.size()));  // loads libgcc now, not in a crash
  static AlternateStack main_stack;
  struct sigaction action {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP}) {
    sigaction(signal, &action, nullptr);
  }
}

AlternateStack::AlternateStack() {
  stack_t present{};
  // A sanitizer's or an embedder's stack stays.
  if (sigaltstack(nullptr, &present) == 0 && (present.ss_flags & SS_DISABLE) == 0) return;
  void* memory = mmap(nullptr, kAlternateStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) return;
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kAlternateStackBytes;
  if (sigaltstack(&stack, nullptr) != 0) {
    munmap(memory, kAlternateStackBytes);
    return;
  }
  memory_ = memory;
}

AlternateStack::~AlternateStack() {
  if (memory_ == nullptr) return;
  stack_t off{};
  off.ss_flags = SS_DISABLE;
  sigaltstack(&off, nullptr);
  munmap(memory_, kAlternateStackBytes);
}

bool RecordPluginMapping(const void* address, const std::string& id, const std::string& version) {
  Search search;
  search.address = reinterpret_cast<std::uintptr_t>(address);
  if (dl_iterate_phdr(Visit, &search) == 0) return false;
  const std::lock_guard lock(g_record);
  const std::size_t count = g_count.load(std::memory_order_relaxed);
  for (std::size_t i = 0; i < count; ++i) {
    if (g_mappings[i].begin == search.begin) return true;
  }
  if (count == kMaxMappings) return false;
  Mapping& mapping = g_mappings[count];
  mapping.begin = search.begin;
  mapping.end = search.end;
  const std::string text = id + " " + version + " " + search.build_id;
  text.copy(mapping.text.data(), mapping.text.size() - 1);
  g_count.store(count + 1, std::memory_order_release);
  return true;
}

std::string DescribePluginAddress(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  const Mapping* mapping = FindMapping(value);
  if (mapping == nullptr) return "";
  static constexpr char kHex[] = "0123456789abcdef";
  std::string digits;
  for (std::uintptr_t offset = value - mapping->begin;; offset >>= 4) {
    digits.insert(digits.begin(), kHex[offset & 15]);
    if (offset < 16) break;
  }
  return std::string(mapping->text.data()) + " +0x" + digits;
}

}  // namespace otc::host::plugin_host
