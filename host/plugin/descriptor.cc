#include "host/plugin/descriptor.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "host/base/strings.h"
#include "host/plugin/interfaces.h"

namespace otc::host::plugin_host {
namespace {

constexpr char kRule[] = "LOAD-10";
constexpr std::uint32_t kDescriptorFloor = 152;
constexpr std::uint64_t kMaxInterfaces = 64;
constexpr std::uint64_t kMaxMethods = 1024;
constexpr std::uint64_t kMaxText = 1024;
constexpr std::uint64_t kMaxId = 63;

class Checker {
 public:
  explicit Checker(const inspect::Manifest& manifest) : manifest_(manifest) {}

  std::vector<Refusal> Run(const otc_plugin* plugin) {
    if (plugin == nullptr) {
      Refuse("otc_plugin_entry_v1 returned NULL", "a descriptor",
             "ask the plugin's author why it refuses this host");
      return std::move(refusals_);
    }
    // Without these three nothing else can be read safely.
    Want(plugin->magic == OTC_PLUGIN_MAGIC, "another magic number", "the magic OTP1");
    Want(plugin->struct_size >= kDescriptorFloor,
         "struct_size " + std::to_string(plugin->struct_size), "at least 152");
    if (!refusals_.empty()) return std::move(refusals_);
    Want(plugin->abi_major == OTC_ABI_MAJOR, "ABI major " + std::to_string(plugin->abi_major),
         "ABI major " + std::to_string(OTC_ABI_MAJOR));
    if (!refusals_.empty()) return std::move(refusals_);
    CheckTexts(*plugin);
    CheckSlots(*plugin);
    CheckInterfaces(*plugin);
    return std::move(refusals_);
  }

 private:
  void Refuse(std::string found, std::string wanted, std::string advice) {
    refusals_.push_back({kRule, std::move(found), std::move(wanted), std::move(advice)});
  }
  bool Want(bool holds, std::string found, std::string wanted) {
    if (!holds) {
      Refuse(std::move(found), std::move(wanted),
             "install a build of the plugin that passes otc-plugin-check");
    }
    return holds;
  }

  // The text, or empty after a refusal.
  std::string_view Text(const otc_str& text, const char* name, std::uint64_t limit) {
    if (!Want(text.len == 0 || text.ptr != nullptr, std::string(name) + " is NULL with a length",
              "a text")) {
      return {};
    }
    if (!Want(text.len <= limit, std::string(name) + " of " + std::to_string(text.len) + " bytes",
              "at most " + std::to_string(limit))) {
      return {};
    }
    const std::string_view view = ToView(text);
    Want(IsValidUtf8(view) && view.find('\0') == std::string_view::npos,
         std::string(name) + " is not UTF-8 without NUL", "UTF-8 text");
    return view;
  }

  void CheckTexts(const otc_plugin& plugin) {
    const std::string_view id = Text(plugin.id, "id", kMaxId);
    const std::string_view version = Text(plugin.version, "version", kMaxText);
    title_ = Text(plugin.title, "title", kMaxText);
    Text(plugin.vendor, "vendor", kMaxText);
    Text(plugin.licence, "licence", kMaxText);
    Want(id == manifest_.id, "id " + JsonQuote(id) + " in the descriptor",
         "id " + manifest_.id + ", as the manifest says");
    Want(version == manifest_.version, "version " + JsonQuote(version) + " in the descriptor",
         "version " + manifest_.version + ", as the manifest says");
    Want(plugin.abi_minor == manifest_.abi_minor,
         "ABI minor " + std::to_string(plugin.abi_minor) + " in the descriptor",
         "ABI minor " + std::to_string(manifest_.abi_minor) + ", as the manifest says");
  }

  void CheckSlots(const otc_plugin& plugin) {
    Want(plugin.create != nullptr, "slot create is NULL", "a function");
    Want(plugin.start != nullptr, "slot start is NULL", "a function");
    Want(plugin.quiesce != nullptr, "slot quiesce is NULL", "a function");
    Want(plugin.destroy != nullptr, "slot destroy is NULL", "a function");
  }

  void CheckInterfaces(const otc_plugin& plugin) {
    if (!Want(plugin.interface_count <= kMaxInterfaces,
              std::to_string(plugin.interface_count) + " interfaces", "at most 64") ||
        !Want(plugin.interface_count == 0 || plugin.interfaces != nullptr, "interfaces is NULL",
              "a list")) {
      return;
    }
    std::set<std::string> ids;
    for (std::uint64_t i = 0; i < plugin.interface_count; ++i) {
      const otc_interface& item = plugin.interfaces[i];
      const std::string id(Text(item.id, "an interface id", kMaxId));
      Want(ids.insert(id).second, "interface " + id + " twice", "each interface once");
      if (!Want(item.table != nullptr, "table of " + id + " is NULL", "a table")) continue;
      if (const KnownInterface* known = FindInterface(id)) CheckTable(*known, item.table);
      if (inspect::IsDraftId(id)) {
        Want(ToLower(title_).find("draft") != std::string::npos,
             "draft interface " + id + ", but no word of it in the title " + JsonQuote(title_),
             "\"draft\" in the title (ABI-R38)");
      }
    }
    const std::set<std::string> named(manifest_.provides.begin(), manifest_.provides.end());
    Want(ids == named, "interfaces " + Join({ids.begin(), ids.end()}, " ") + " in the descriptor",
         "those of the manifest: " + Join({named.begin(), named.end()}, " "));
  }

  void CheckTable(const KnownInterface& known, const void* table) {
    const std::string id(known.id);
    std::uint32_t size = 0;
    std::memcpy(&size, table, sizeof(size));
    if (!Want(size >= known.floor, "table of " + id + " of " + std::to_string(size) + " bytes",
              "at least " + std::to_string(known.floor))) {
      return;
    }
    for (const auto& [name, offset] : known.slots) {
      otc_method slot = nullptr;
      std::memcpy(&slot, static_cast<const char*>(table) + offset, sizeof(slot));
      Want(slot != nullptr, "slot " + std::string(name) + " of " + id + " is NULL", "a function");
    }
    if (known.slots.empty()) CheckMethods(id, *static_cast<const otc_grpc_service_1*>(table));
  }

  void CheckMethods(const std::string& id, const otc_grpc_service_1& service) {
    if (!Want(service.method_count > 0 && service.method_count <= kMaxMethods &&
                  service.methods != nullptr,
              id + " lists " + std::to_string(service.method_count) + " methods",
              "1 to 1024 methods")) {
      return;
    }
    std::set<std::string> names;
    for (std::uint64_t i = 0; i < service.method_count; ++i) {
      const otc_grpc_method& method = service.methods[i];
      const std::string name(Text(method.name, "a method name", kMaxText));
      Want(!name.empty() && name.front() == '/', "method name " + JsonQuote(name),
           "/package.Service/Method");
      Want(names.insert(name).second, "method " + name + " twice", "each method once");
      Want(method.invoke != nullptr, "invoke of " + name + " is NULL", "a function");
      Want(method.kind == OTC_GRPC_UNARY || method.kind == OTC_GRPC_SERVER_STREAM,
           "kind " + std::to_string(method.kind) + " of " + name, "1 (unary) or 2 (stream)");
    }
  }

  const inspect::Manifest& manifest_;
  std::string_view title_;
  std::vector<Refusal> refusals_;
};

}  // namespace

std::vector<Refusal> CheckDescriptor(const otc_plugin* descriptor,
                                     const inspect::Manifest& manifest) {
  return Checker(manifest).Run(descriptor);
}

const void* FindTable(const otc_plugin& descriptor, std::string_view id) {
  for (std::uint64_t i = 0; i < descriptor.interface_count; ++i) {
    if (ToView(descriptor.interfaces[i].id) == id) return descriptor.interfaces[i].table;
  }
  return nullptr;
}

}  // namespace otc::host::plugin_host
