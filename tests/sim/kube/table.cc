#include "tests/sim/kube/table.h"

#include <set>

#include "host/base/strings.h"
#include "tests/sim/kube/times.h"

namespace otc::kubesim {
namespace {

struct Column {
  const char* name;
  int priority;             // 1: only with -o wide
  const char* format = "";  // "name" for the object's name
};

std::string OrElse(const std::string& text, const char* fallback) {
  return text.empty() ? fallback : text;
}

class RowPrinter {
 public:
  RowPrinter(const Json& document, std::int64_t now) : document_(document), now_(now) {}

  Json Cells(const std::string& kind) const {
    if (kind == "Node") return Node();
    if (kind == "Event") return Event();
    if (kind == "Lease") return {Name(), Text({"spec", "holderIdentity"}), Age()};
    if (kind == "Namespace") return {Name(), Text({"status", "phase"}), Age()};
    if (kind == "Service") return Service();
    if (kind == "ConfigMap") return {Name(), Size({"data"}) + Size({"binaryData"}), Age()};
    if (kind == "Secret") return {Name(), Text({"type"}), Size({"data"}), Age()};
    if (kind == "Pod") return Pod();
    return {Name(), Age()};
  }

 private:
  std::string Text(JsonPath path) const { return TextAt(document_, path); }
  std::string Name() const { return Text({"metadata", "name"}); }
  std::size_t Size(JsonPath path) const {
    const Json* value = Find(document_, path);
    return value != nullptr ? value->size() : 0;
  }

  // How long ago; "<unknown>" for no time at all.
  std::string Since(JsonPath path) const {
    const auto time = ParseRfc3339(Text(path));
    return time ? HumanDuration(now_ - time->seconds) : "<unknown>";
  }
  std::string Age() const { return Since({"metadata", "creationTimestamp"}); }

  std::string Address(const char* type) const {
    if (const Json* addresses = Find(document_, {"status", "addresses"})) {
      for (const Json& address : *addresses) {
        if (TextAt(address, {"type"}) == type) {
          return TextAt(address, {"address"});
        }
      }
    }
    return "<none>";
  }

  std::string NodeStatus() const {
    std::string status = "Unknown";
    if (const Json* conditions = Find(document_, {"status", "conditions"})) {
      for (const Json& condition : *conditions) {
        if (TextAt(condition, {"type"}) == "Ready") {
          status = TextAt(condition, {"status"}) == "True" ? "Ready" : "NotReady";
        }
      }
    }
    return BoolAt(document_, {"spec", "unschedulable"}) ? status + ",SchedulingDisabled" : status;
  }

  std::string Roles() const {
    constexpr std::string_view kPrefix = "node-role.kubernetes.io/";
    std::set<std::string> roles;
    if (const Json* labels = Find(document_, {"metadata", "labels"})) {
      for (const auto& [key, value] : labels->items()) {
        if (key.rfind(kPrefix, 0) == 0 && key.size() > kPrefix.size()) {
          roles.insert(key.substr(kPrefix.size()));
        } else if (key == "kubernetes.io/role" && value.is_string() && value != "") {
          roles.insert(value.get<std::string>());
        }
      }
    }
    return OrElse(host::Join({roles.begin(), roles.end()}, ","), "<none>");
  }

  Json Node() const {
    return {Name(),
            NodeStatus(),
            Roles(),
            Age(),
            Text({"status", "nodeInfo", "kubeletVersion"}),
            Address("InternalIP"),
            Address("ExternalIP"),
            OrElse(Text({"status", "nodeInfo", "osImage"}), "<unknown>"),
            OrElse(Text({"status", "nodeInfo", "kernelVersion"}), "<unknown>"),
            OrElse(Text({"status", "nodeInfo", "containerRuntimeVersion"}), "<unknown>")};
  }

  Json Event() const {
    std::string first = Since({"firstTimestamp"});
    if (Text({"firstTimestamp"}).empty()) {
      first = Since({"eventTime"});
    }
    std::string last = Text({"lastTimestamp"}).empty() ? first : Since({"lastTimestamp"});
    std::int64_t count = IntAt(document_, {"count"}).value_or(0);
    if (Find(document_, {"series"}) != nullptr) {
      last = Since({"series", "lastObservedTime"});
      count = IntAt(document_, {"series", "count"}).value_or(0);
    } else if (count == 0) {
      count = 1;
    }
    std::string component = Text({"source", "component"});
    std::string host_name = Text({"source", "host"});
    if (component.empty()) {
      component = Text({"reportingComponent"});
      host_name = Text({"reportingInstance"});
    }
    return {
        last,
        Text({"type"}),
        Text({"reason"}),
        host::ToLower(Text({"involvedObject", "kind"})) + "/" + Text({"involvedObject", "name"}),
        Text({"involvedObject", "fieldPath"}),
        component + (host_name.empty() ? "" : ", " + host_name),
        std::string(host::TrimSpace(Text({"message"}))),
        first,
        count,
        Name()};
  }

  std::string ServiceAddresses() const {
    std::vector<std::string> addresses;
    if (const Json* ingress = Find(document_, {"status", "loadBalancer", "ingress"})) {
      for (const Json& entry : *ingress) {
        const std::string ip = TextAt(entry, {"ip"});
        addresses.push_back(ip.empty() ? TextAt(entry, {"hostname"}) : ip);
      }
    }
    if (const Json* external = Find(document_, {"spec", "externalIPs"})) {
      for (const Json& address : *external) {
        addresses.push_back(address.is_string() ? address.get<std::string>() : "");
      }
    }
    if (Text({"spec", "type"}) == "ExternalName") {
      return Text({"spec", "externalName"});
    }
    const char* none = Text({"spec", "type"}) == "LoadBalancer" ? "<pending>" : "<none>";
    return OrElse(host::Join(addresses, ","), none);
  }

  std::string ServicePorts() const {
    std::vector<std::string> ports;
    if (const Json* list = Find(document_, {"spec", "ports"})) {
      for (const Json& port : *list) {
        std::string text = std::to_string(IntAt(port, {"port"}).value_or(0));
        if (const auto node_port = IntAt(port, {"nodePort"})) {
          text += ":" + std::to_string(*node_port);
        }
        ports.push_back(text + "/" + TextAt(port, {"protocol"}));
      }
    }
    return OrElse(host::Join(ports, ","), "<none>");
  }

  Json Service() const {
    std::vector<std::string> selector;
    if (const Json* labels = Find(document_, {"spec", "selector"})) {
      for (const auto& [key, value] : labels->items()) {
        selector.push_back(key + "=" + (value.is_string() ? value.get<std::string>() : ""));
      }
    }
    return {Name(),
            Text({"spec", "type"}),
            OrElse(Text({"spec", "clusterIP"}), "<none>"),
            ServiceAddresses(),
            ServicePorts(),
            Age(),
            OrElse(host::Join(selector, ","), "<none>")};
  }

  Json Pod() const {
    std::size_t ready = 0;
    std::int64_t restarts = 0;
    if (const Json* statuses = Find(document_, {"status", "containerStatuses"})) {
      for (const Json& status : *statuses) {
        ready += BoolAt(status, {"ready"}) ? 1 : 0;
        restarts += IntAt(status, {"restartCount"}).value_or(0);
      }
    }
    return {Name(),
            std::to_string(ready) + "/" + std::to_string(Size({"spec", "containers"})),
            OrElse(Text({"status", "phase"}), "Pending"),
            std::to_string(restarts),
            Age(),
            OrElse(Text({"status", "podIP"}), "<none>"),
            OrElse(Text({"spec", "nodeName"}), "<none>"),
            OrElse(Text({"status", "nominatedNodeName"}), "<none>"),
            "<none>"};
  }

  const Json& document_;
  const std::int64_t now_;
};

std::vector<Column> ColumnsOf(const std::string& kind) {
  const Column name = {"Name", 0, "name"};
  const Column age = {"Age", 0};
  if (kind == "Node") {
    return {name,
            {"Status", 0},
            {"Roles", 0},
            age,
            {"Version", 0},
            {"Internal-IP", 1},
            {"External-IP", 1},
            {"OS-Image", 1},
            {"Kernel-Version", 1},
            {"Container-Runtime", 1}};
  }
  if (kind == "Event") {
    return {{"Last Seen", 0}, {"Type", 0},        {"Reason", 0},  {"Object", 0},
            {"Subobject", 1}, {"Source", 1},      {"Message", 0}, {"First Seen", 1},
            {"Count", 1},     {"Name", 1, "name"}};
  }
  if (kind == "Lease") return {name, {"Holder", 0}, age};
  if (kind == "Namespace") return {name, {"Status", 0}, age};
  if (kind == "Service") {
    return {name,           {"Type", 0}, {"Cluster-IP", 0}, {"External-IP", 0},
            {"Port(s)", 0}, age,         {"Selector", 1}};
  }
  if (kind == "ConfigMap") return {name, {"Data", 0}, age};
  if (kind == "Secret") return {name, {"Type", 0}, {"Data", 0}, age};
  if (kind == "Pod") {
    return {name,      {"Ready", 0}, {"Status", 0},         {"Restarts", 0},       age,
            {"IP", 1}, {"Node", 1},  {"Nominated Node", 1}, {"Readiness Gates", 1}};
  }
  return {name, age};
}

Json ColumnDefinitions(const std::string& kind) {
  Json list = Json::array();
  for (const Column& column : ColumnsOf(kind)) {
    list.push_back({{"name", column.name},
                    {"type", "string"},
                    {"format", column.format},
                    {"description", ""},
                    {"priority", column.priority}});
  }
  return list;
}

}  // namespace

std::string HumanDuration(std::int64_t seconds) {
  const auto pair = [](std::int64_t big, const char* big_unit, std::int64_t small,
                       const char* small_unit) {
    const std::string text = std::to_string(big) + big_unit;
    return small == 0 ? text : text + std::to_string(small) + small_unit;
  };
  const std::int64_t minutes = seconds / 60;
  const std::int64_t hours = seconds / 3600;
  const std::int64_t days = hours / 24;
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  if (seconds < 2 * 60) return std::to_string(seconds) + "s";
  if (minutes < 10) return pair(minutes, "m", seconds % 60, "s");
  if (minutes < 3 * 60) return std::to_string(minutes) + "m";
  if (hours < 8) return pair(hours, "h", minutes % 60, "m");
  if (hours < 48) return std::to_string(hours) + "h";
  if (hours < 8 * 24) return pair(days, "d", hours % 24, "h");
  if (days < 2 * 365) return std::to_string(days) + "d";
  if (days < 8 * 365) return pair(days / 365, "y", days % 365, "d");
  return std::to_string(days / 365) + "y";
}

Json MakeTable(const ResourceInfo& resource, const Json& list_meta,
               const std::vector<ObjectPtr>& objects, const TableOptions& options) {
  Json table = {{"kind", "Table"},
                {"apiVersion", "meta.k8s.io/v1"},
                {"metadata", list_meta},
                {"columnDefinitions", nullptr},
                {"rows", Json::array()}};
  if (options.with_columns) {
    table["columnDefinitions"] = ColumnDefinitions(resource.kind);
  }
  for (const ObjectPtr& object : objects) {
    Json document = object->Document();
    Json row;
    // Not a braced initialiser: a list of texts must stay a list.
    row["cells"] = RowPrinter(document, options.now_seconds).Cells(resource.kind);
    if (options.include == IncludeObject::kMetadata) {
      row["object"] = {{"kind", "PartialObjectMetadata"},
                       {"apiVersion", "meta.k8s.io/v1"},
                       {"metadata", document["metadata"]}};
    } else if (options.include == IncludeObject::kObject) {
      row["object"] = std::move(document);
    } else {
      row["object"] = nullptr;
    }
    table["rows"].push_back(std::move(row));
  }
  return table;
}

}  // namespace otc::kubesim
