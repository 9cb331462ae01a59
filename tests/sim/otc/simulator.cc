#include "tests/sim/otc/simulator.h"

#include <utility>

#include "tests/sim/otc/control_api.h"
#include "tests/sim/otc/document.h"
#include "tests/sim/otc/services.h"

namespace otc::sim {

const std::vector<std::string>& ServiceNames() {
  static const std::vector<std::string> kNames = {"iam", "ecs",      "evs",    "vpc",
                                                  "elb", "metadata", "control"};
  return kNames;
}

Simulator::Simulator(Options options)
    : options_(std::move(options)),
      time_(options_.clock != nullptr ? options_.clock : &system_clock_),
      world_(&time_, options_.seed, options_.region),
      identity_(&time_, options_.seed, options_.region),
      behaviour_(options_.behaviour),
      log_(options_.call_log_limit),
      gateway_({&time_, &identity_, &router_, &behaviour_, &faults_, &rate_limits_, &log_},
               options_.seed) {
  const Cloud cloud{&time_, &identity_, &world_, options_.region,
                    [this](const std::string& service) { return url(service); }};
  AddIamRoutes(cloud, &router_);
  AddIamTokenRoutes(cloud, &router_);
  AddEcsRoutes(cloud, &router_);
  AddEcsActionRoutes(cloud, &router_);
  AddNovaRoutes(cloud, &router_);
  AddEipRoutes(cloud, &router_);
  AddEvsRoutes(cloud, &router_);
  AddMetadataRoutes(cloud, &router_);
}

Simulator::~Simulator() { Stop(); }

Status Simulator::Start() {
  if (!options_.call_log_file.empty()) OTC_RETURN_IF_ERROR(log_.OpenFile(options_.call_log_file));
  for (const std::string& service : ServiceNames()) {
    PortOptions port;
    port.service = service;
    port.bind_address = options_.bind_address;
    const auto wanted = options_.ports.find(service);
    if (wanted != options_.ports.end()) port.port = wanted->second;
    if (service != "control" && service != "metadata") {
      port.certificate_file = options_.certificate_file;
      port.key_file = options_.key_file;
    }
    port.max_connections = options_.max_connections;
    port.keep_alive_ms = options_.keep_alive_ms;
    HttpPort::Handler handler;
    if (service == "control") {
      handler = [this](const Request& request) { return Reply{HandleControl(*this, request), {}}; };
    } else {
      handler = [this](const Request& request) { return gateway_.Handle(request); };
    }
    ports_[service] = std::make_unique<HttpPort>(std::move(port), std::move(handler));
    OTC_RETURN_IF_ERROR(ports_[service]->Listen());
  }
  // All URLs are known before the first request is answered.
  for (auto& [service, port] : ports_) OTC_RETURN_IF_ERROR(port->Serve());
  return Status::Ok();
}

void Simulator::Stop() {
  for (auto& [service, port] : ports_) port->Stop();
}

std::string Simulator::url(const std::string& service) const {
  const auto it = ports_.find(service);
  return it == ports_.end() ? "" : it->second->url();
}

std::uint16_t Simulator::port(const std::string& service) const {
  const auto it = ports_.find(service);
  return it == ports_.end() ? std::uint16_t{0} : it->second->port();
}

std::string Simulator::PortsJson() const {
  JsonWriter json;
  json.BeginObject();
  for (const std::string& service : ServiceNames())
    json.Field(service, std::int64_t{port(service)});
  json.Key("urls").BeginObject();
  for (const std::string& service : ServiceNames()) json.Field(service, url(service));
  json.EndObject().EndObject();
  return json.Take();
}

Result<std::string> Simulator::AddServer(Server server) {
  if (server.project_id.empty()) server.project_id = kProjectId;
  return world_.AddServer(std::move(server));
}

Status Simulator::SetServerStatus(const std::string& id, const std::string& status) {
  return world_.ChangeServer(id, [&](Server& server) { server.status = status; });
}

Status Simulator::ResizeServer(const std::string& id, const std::string& flavor) {
  if (!world_.FindFlavor(flavor)) {
    return Status(Code::kInvalidArgument, "UnknownFlavor", "flavor '" + flavor + "' is unknown");
  }
  return world_.ChangeServer(id, [&](Server& server) {
    server.flavor = flavor;
    server.metadata["metering.resourcespeccode"] = flavor + ".linux";
  });
}

Result<std::string> Simulator::AddFault(const std::string& json) {
  const auto object = ParseJsonObject(json);
  if (!object.ok()) return object.status();
  std::vector<std::string> errors;
  FaultRule rule = ReadFaultRule(*object, "", &errors);
  OTC_RETURN_IF_ERROR(ErrorsToStatus(errors));
  return faults_.Add(std::move(rule));
}

Result<std::vector<std::string>> Simulator::Load(const std::string& json) {
  const auto object = ParseJsonObject(json);
  if (!object.ok()) return object.status();
  return LoadDocument(*this, *object);
}

void Simulator::Reset() {
  time_.SetSkew(0);
  world_.Reset();
  identity_.Reset();
  behaviour_.Change([this](Behaviour& behaviour) { behaviour = options_.behaviour; });
  faults_.Clear();
  rate_limits_.Set({});
  log_.Clear();
}

}  // namespace otc::sim
