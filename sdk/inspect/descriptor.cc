#include "sdk/inspect/descriptor.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <set>
#include <utility>

namespace otc::inspect {
namespace {

constexpr std::uint32_t kPluginFloor = 152;
constexpr std::uint64_t kMaxInterfaces = 64;
constexpr std::uint64_t kMaxMethods = 1024;
constexpr std::uint64_t kMaxText = 1024;
constexpr std::uint64_t kMaxMethodName = 255;

std::string_view View(otc_str text) {
  return text.len == 0 ? std::string_view() : std::string_view(text.ptr, text.len);
}

std::string Quote(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string Number(std::uint64_t value) { return std::to_string(value); }

class Checker {
 public:
  Checker(const otc_plugin& plugin, const Manifest& manifest)
      : plugin_(plugin), manifest_(manifest) {}

  std::vector<Violation> Run() {
    if (!CheckHead()) return std::move(out_);  // the rest may not even be there
    CheckTexts();
    CheckSlots();
    CheckInterfaces();
    return std::move(out_);
  }

 private:
  void Add(std::string rule, std::string found, std::string wanted, std::string advice) {
    out_.push_back({std::move(rule), std::move(found), std::move(wanted), std::move(advice)});
  }
  bool CheckHead();
  // Whether the text can be read at all: length in limits, no null pointer.
  bool CheckText(const char* name, otc_str text, std::uint64_t limit);
  void CheckTexts();
  void CheckSlots();
  void CheckInterfaces();
  void CheckTable(std::string_view id, const void* table);
  void CheckMethods(std::string_view id, const otc_grpc_service_1& table);

  const otc_plugin& plugin_;
  const Manifest& manifest_;
  std::vector<Violation> out_;
};

bool Checker::CheckHead() {
  if (plugin_.magic != OTC_PLUGIN_MAGIC) {
    Add("LOAD-10", "magic " + Number(plugin_.magic), "OTC_PLUGIN_MAGIC",
        "set .magic = OTC_PLUGIN_MAGIC in the descriptor");
    return false;
  }
  if (plugin_.abi_major != OTC_ABI_MAJOR) {
    Add("LOAD-10", "ABI major " + Number(plugin_.abi_major) + " in the descriptor",
        "ABI major " + Number(OTC_ABI_MAJOR),
        "set .abi_major = OTC_ABI_MAJOR; another major has another entry symbol");
    return false;
  }
  if (plugin_.struct_size < kPluginFloor) {
    Add("LOAD-10", "struct_size " + Number(plugin_.struct_size) + " of otc_plugin",
        "at least " + Number(kPluginFloor), "set .struct_size = sizeof(otc_plugin)");
    return false;
  }
  return true;
}

bool Checker::CheckText(const char* name, otc_str text, std::uint64_t limit) {
  if (text.len > limit || (text.len > 0 && text.ptr == nullptr)) {
    Add("LOAD-10",
        std::string(name) + (text.ptr == nullptr ? " with a null pointer" : " is too long") +
            ", length " + Number(text.len),
        "at most " + Number(limit) + " bytes", "correct the text in the descriptor");
    return false;
  }
  const std::string_view view = View(text);
  const bool printable = std::all_of(view.begin(), view.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f;
  });
  if (!printable) {
    Add("LOAD-10", std::string(name) + " with control characters", "one line of text",
        "correct the text in the descriptor; the length is without the NUL");
  }
  return printable;
}

void Checker::CheckTexts() {
  const bool id = CheckText("id", plugin_.id, 63);
  const bool version = CheckText("version", plugin_.version, 63);
  const bool title = CheckText("title", plugin_.title, kMaxText);
  CheckText("vendor", plugin_.vendor, kMaxText);
  CheckText("licence", plugin_.licence, kMaxText);
  const auto equal = [this](const char* what, const std::string& found, const std::string& wanted) {
    if (found == wanted) return;
    Add("ABI-R05", std::string(what) + " " + found + " in the descriptor",
        wanted + ", as the manifest says",
        "make both from one place (otc_add_plugin does it) and build again");
  };
  if (id) equal("id", std::string(View(plugin_.id)), manifest_.id);
  if (version) equal("version", std::string(View(plugin_.version)), manifest_.version);
  equal("ABI", Number(plugin_.abi_major) + "." + Number(plugin_.abi_minor),
        Number(manifest_.abi_major) + "." + Number(manifest_.abi_minor));
  if (!title) return;
  std::string lower(View(plugin_.title));
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto draft =
      std::find_if(manifest_.provides.begin(), manifest_.provides.end(),
                   [](const std::string& interface) { return IsDraftId(interface); });
  if (draft != manifest_.provides.end() && lower.find("draft") == std::string::npos) {
    Add("ABI-R38", "interface " + *draft + ", title " + Quote(View(plugin_.title)),
        "a title with the word draft, because the interface may still change",
        "add \"(draft)\" to the title");
  }
}

void Checker::CheckSlots() {
  const auto want = [this](bool set, const char* name) {
    if (set) return;
    Add("LOAD-10", std::string("slot ") + name + " is NULL",
        "the mandatory slots create, start, quiesce, destroy",
        std::string("implement ") + name + " (it may do nothing and return OTC_OK)");
  };
  want(plugin_.create != nullptr, "create");
  want(plugin_.start != nullptr, "start");
  want(plugin_.quiesce != nullptr, "quiesce");
  want(plugin_.destroy != nullptr, "destroy");
}

void Checker::CheckInterfaces() {
  if (plugin_.interface_count > kMaxInterfaces ||
      (plugin_.interface_count > 0 && plugin_.interfaces == nullptr)) {
    Add("LOAD-10",
        plugin_.interfaces == nullptr ? "interfaces is NULL"
                                      : Number(plugin_.interface_count) + " interfaces",
        "an array of at most 64 interfaces", "correct interfaces and interface_count");
    return;
  }
  std::multiset<std::string> found;
  for (std::uint64_t i = 0; i < plugin_.interface_count; ++i) {
    const otc_interface& interface = plugin_.interfaces[i];
    if (!CheckText("interface id", interface.id, 63)) return;
    const std::string id(View(interface.id));
    if (!IsInterfaceId(id)) {
      Add("LOAD-10", "interface id " + Quote(id), "an id such as otc.thing/1",
          "correct the id in the descriptor");
      continue;
    }
    found.insert(id);
    CheckTable(id, interface.table);
  }
  const std::multiset<std::string> declared(manifest_.provides.begin(), manifest_.provides.end());
  if (found == declared) return;
  const auto text = [](const std::multiset<std::string>& ids) {
    std::string all;
    for (const std::string& id : ids) all += (all.empty() ? "" : " ") + id;
    return all.empty() ? std::string("none") : all;
  };
  Add("ABI-R05", "interfaces in the descriptor: " + text(found),
      text(declared) + ", as provides= of the manifest says",
      "list the same interfaces in both and build again");
}

void Checker::CheckTable(std::string_view id, const void* table) {
  if (table == nullptr) {
    return Add("LOAD-10", "interface " + std::string(id) + " without a table", "a table",
               "set .table to the interface's static table");
  }
  const auto size = *static_cast<const std::uint32_t*>(table);
  const auto check = [&](std::uint32_t floor, auto&& slots) {
    if (size < floor) {
      return Add("LOAD-10", "table of " + std::string(id) + " with struct_size " + Number(size),
                 "at least " + Number(floor), "set .struct_size = sizeof(the table's type)");
    }
    slots();
  };
  const auto want = [&](otc_method slot, const char* name) {
    if (slot != nullptr) return;
    Add("LOAD-10", "slot " + std::string(name) + " of " + std::string(id) + " is NULL",
        "all mandatory slots of the interface", std::string("implement ") + name);
  };
  switch (KindOfInterface(id)) {
    case InterfaceKind::kInstancesV2:
      return check(
          16, [&] { want(static_cast<const otc_instances_v2_1*>(table)->describe, "describe"); });
    case InterfaceKind::kLoadBalancer:
      return check(40, [&] {
        const auto* balancer = static_cast<const otc_load_balancer_1*>(table);
        want(balancer->get, "get");
        want(balancer->ensure, "ensure");
        want(balancer->update, "update");
        want(balancer->remove, "remove");
      });
    case InterfaceKind::kReconciler:
      return check(24, [&] {
        want(static_cast<const otc_reconciler_1*>(table)->watches, "watches");
        want(static_cast<const otc_reconciler_1*>(table)->reconcile, "reconcile");
      });
    case InterfaceKind::kGrpcService:
      return check(24, [&] { CheckMethods(id, *static_cast<const otc_grpc_service_1*>(table)); });
    case InterfaceKind::kUnknown:
      return;
  }
}

void Checker::CheckMethods(std::string_view id, const otc_grpc_service_1& table) {
  if (table.method_count == 0 || table.method_count > kMaxMethods || table.methods == nullptr) {
    return Add("LOAD-10", Number(table.method_count) + " gRPC methods in " + std::string(id),
               "1 to 1024 methods", "list the methods that the plugin serves");
  }
  std::set<std::string> names;
  for (std::uint64_t i = 0; i < table.method_count; ++i) {
    const otc_grpc_method& method = table.methods[i];
    if (!CheckText("gRPC method name", method.name, kMaxMethodName)) return;
    const std::string name(View(method.name));
    const std::size_t slash = name.rfind('/');
    if (name.empty() || name[0] != '/' || slash == 0 || slash + 1 == name.size()) {
      Add("LOAD-10", "gRPC method " + Quote(name), "a path such as /package.Service/Method",
          "correct the method's name");
    }
    if (!names.insert(name).second) {
      Add("LOAD-10", "gRPC method " + Quote(name) + " twice", "each method once",
          "remove one of them");
    }
    if (method.invoke == nullptr) {
      Add("LOAD-10", "gRPC method " + Quote(name) + " without invoke", "an invoke slot",
          "implement it or take the method off the list");
    }
    if (method.kind != OTC_GRPC_UNARY && method.kind != OTC_GRPC_SERVER_STREAM) {
      Add("LOAD-10", "gRPC method " + Quote(name) + " of kind " + Number(method.kind),
          "OTC_GRPC_UNARY or OTC_GRPC_SERVER_STREAM", "correct the method's kind");
    }
  }
}

}  // namespace

InterfaceKind KindOfInterface(std::string_view id) {
  if (id == "otc.instances-v2/1") return InterfaceKind::kInstancesV2;
  if (id == "otc.load-balancer/1" || id == "otc.load-balancer/draft-1") {
    return InterfaceKind::kLoadBalancer;
  }
  if (id == "otc.reconciler/1" || id == "otc.reconciler/draft-1") {
    return InterfaceKind::kReconciler;
  }
  if (id == "otc.grpc-service/1" || id == "otc.grpc-service/draft-1" ||
      id == "otc.csi-controller/1" || id == "otc.csi-node/1") {
    return InterfaceKind::kGrpcService;
  }
  return InterfaceKind::kUnknown;
}

std::vector<Violation> CheckDescriptor(const otc_plugin& plugin, const Manifest& manifest) {
  return Checker(plugin, manifest).Run();
}

}  // namespace otc::inspect
