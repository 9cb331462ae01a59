#include "tests/sim/otc/world.h"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "host/base/strings.h"

namespace otc::sim {
namespace {

constexpr std::size_t kRevisionTimesKept = 4096;
constexpr std::string_view kSwissRegion = "eu-ch2";

std::vector<Flavor> DefaultFlavors() {
  std::vector<Flavor> flavors;
  const auto add = [&](const char* id, std::int64_t vcpus, std::int64_t ram_gb) {
    flavors.push_back({id,
                       vcpus,
                       ram_gb * 1024,
                       {{"ecs:virtualization_env_types", "CloudCompute"},
                        {"ecs:performancetype", "normal"},
                        {"cond:operation:status", "normal"}}});
  };
  add("s3.medium.2", 1, 2);
  add("s3.large.2", 2, 4);
  add("s3.large.4", 2, 8);
  add("s3.xlarge.2", 4, 8);
  add("s3.xlarge.4", 4, 16);
  add("s3.2xlarge.4", 8, 32);
  add("c4.2xlarge.2", 8, 16);
  add("m4.xlarge.8", 4, 32);
  return flavors;
}

Status NotFound(const char* kind, const std::string& id) {
  return Status(Code::kNotFound, "NotFound", std::string(kind) + " " + id + " does not exist");
}

}  // namespace

World::World(const SimTime* time, std::uint64_t seed, std::string region)
    : time_(time), seed_(seed), region_(std::move(region)) {
  ResetLocked();
}

void World::Reset() {
  std::lock_guard lock(mutex_);
  ResetLocked();
}

void World::ResetLocked() {
  random_.seed(seed_);
  next_private_ = 0;
  next_public_ = 0;
  servers_ = {};
  public_ips_ = {};
  jobs_ = {};
  due_.clear();
  flavors_.clear();
  for (Flavor& flavor : DefaultFlavors()) flavors_[flavor.id] = std::move(flavor);
  default_vpc_ = NewUuidLocked();
  default_network_ = NewUuidLocked();
  default_subnet_ = NewUuidLocked();
  default_image_ = NewUuidLocked();
  NextRevisionLocked();
}

Revision World::NextRevisionLocked() {
  ++revision_;
  revision_times_.emplace_back(time_->Mono(), revision_);
  if (revision_times_.size() > kRevisionTimesKept) revision_times_.pop_front();
  return revision_;
}

Revision World::CurrentRevision() {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return revision_;
}

Revision World::RevisionBefore(std::int64_t age_ms) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  const auto limit = time_->Mono() - std::chrono::milliseconds(age_ms);
  Revision found = 0;
  for (const auto& [at, revision] : revision_times_) {
    if (at > limit) break;
    found = revision;
  }
  return found;
}

std::string World::NewUuid() {
  std::lock_guard lock(mutex_);
  return NewUuidLocked();
}

std::string World::NewHexId() {
  std::lock_guard lock(mutex_);
  return NewHexIdLocked();
}

std::string World::NewHexIdLocked() {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(random_()),
                static_cast<unsigned long long>(random_()));
  return text;
}

std::string World::NewUuidLocked() {
  std::string hex = NewHexIdLocked();
  hex[12] = '4';
  hex[16] = "89ab"[hex[16] % 4];
  for (const std::size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

std::string World::NewPrivateAddressLocked() {
  const std::uint32_t n = 10 + next_private_++;
  return "10.0." + std::to_string(n / 250 % 256) + "." + std::to_string(n % 250 + 1);
}

std::string World::NewPublicAddressLocked() {
  const std::uint32_t n = next_public_++;
  return "80.158." + std::to_string(n / 250 % 256) + "." + std::to_string(n % 250 + 1);
}

std::vector<std::string> World::Zones() {
  if (region_ == kSwissRegion) return {region_ + "a", region_ + "b"};
  return {region_ + "-01", region_ + "-02", region_ + "-03"};
}

void World::SettleLocked() {
  const auto now = time_->Mono();
  for (;;) {
    const auto next = std::min_element(due_.begin(), due_.end(),
                                       [](const Due& a, const Due& b) { return a.at < b.at; });
    if (next == due_.end() || next->at > now) return;
    const Due due = std::move(*next);
    due_.erase(next);
    Job job = *jobs_.Get(due.job_id);
    job.status = "SUCCESS";
    job.end = time_->Wall();
    due.finish(*this, job);
    jobs_.Put(due.job_id, std::make_shared<const Job>(std::move(job)), NextRevisionLocked());
  }
}

World::ServerPtr World::FindServer(const std::string& id) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return servers_.Get(id);
}

VersionedMap<Server>::List World::Servers(const View& view) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  if (view.empty) return std::make_shared<const std::vector<ServerPtr>>();
  return servers_.All(view.as_of);
}

World::PublicIpPtr World::FindPublicIp(const std::string& id) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return public_ips_.Get(id);
}

VersionedMap<PublicIp>::List World::PublicIps(const View& view) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  if (view.empty) return std::make_shared<const std::vector<PublicIpPtr>>();
  return public_ips_.All(view.as_of);
}

std::map<std::string, std::string> World::FloatingAddresses(const View& view) {
  std::map<std::string, std::string> addresses;
  const auto list = PublicIps({view.as_of, false});
  for (const auto& ip : *list) {
    if (!ip->port_id.empty()) addresses[ip->port_id] = ip->address;
  }
  return addresses;
}

World::JobPtr World::FindJob(const std::string& id) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return jobs_.Get(id);
}

std::vector<Flavor> World::Flavors() {
  std::lock_guard lock(mutex_);
  std::vector<Flavor> flavors;
  for (const auto& [id, flavor] : flavors_) flavors.push_back(flavor);
  return flavors;
}

std::optional<Flavor> World::FindFlavor(const std::string& id) {
  std::lock_guard lock(mutex_);
  const auto it = flavors_.find(id);
  return it == flavors_.end() ? std::nullopt : std::optional<Flavor>(it->second);
}

void World::AddFlavor(Flavor flavor) {
  std::lock_guard lock(mutex_);
  std::string id = flavor.id;
  flavors_[std::move(id)] = std::move(flavor);
}

void World::FillServerLocked(Server* server) {
  if (server->id.empty()) server->id = NewUuidLocked();
  if (server->availability_zone.empty()) server->availability_zone = Zones().front();
  if (server->vpc_id.empty()) server->vpc_id = default_vpc_;
  if (server->image_id.empty()) server->image_id = default_image_;
  if (server->user_id.empty()) server->user_id = NewHexIdLocked();
  if (server->nics.empty()) server->nics.emplace_back();
  for (Nic& nic : server->nics) {
    if (nic.port_id.empty()) nic.port_id = NewUuidLocked();
    if (nic.network_id.empty()) nic.network_id = default_network_;
    if (nic.subnet_id.empty()) nic.subnet_id = default_subnet_;
    if (nic.ips.empty()) nic.ips.push_back(NewPrivateAddressLocked());
    if (nic.mac.empty()) {
      const std::string hex = NewHexIdLocked();
      nic.mac = "fa:16:3e";
      for (const int at : {0, 2, 4}) nic.mac += ":" + hex.substr(static_cast<std::size_t>(at), 2);
    }
  }
  const bool has_primary = std::any_of(server->nics.begin(), server->nics.end(),
                                       [](const Nic& nic) { return nic.primary; });
  if (!has_primary) server->nics.front().primary = true;
  // What every server of the real cloud carries; given values win.
  server->metadata.insert({{"vpc_id", server->vpc_id},
                           {"os_type", "Linux"},
                           {"os_bit", "64"},
                           {"charging_mode", "0"},
                           {"EcmResStatus", "normal"},
                           {"image_name", "Standard_Debian_12_amd64"},
                           {"metering.image_id", server->image_id},
                           {"metering.resourcespeccode", server->flavor + ".linux"}});
  if (server->volumes.empty()) {
    AttachedVolume root;
    root.id = NewUuidLocked();
    root.boot_index = 0;
    root.delete_on_termination = true;
    server->volumes.push_back(std::move(root));
  }
  if (server->created == host::WallTime{}) server->created = time_->Wall();
  if (server->updated == host::WallTime{}) server->updated = server->created;
}

Result<std::string> World::AddServer(Server server) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  if (servers_.Get(server.id)) {
    return Status(Code::kAlreadyExists, "AlreadyExists", "server " + server.id + " exists");
  }
  if (flavors_.count(server.flavor) == 0) {
    std::vector<std::string> known;
    for (const auto& [id, flavor] : flavors_) known.push_back(id);
    return Status(Code::kInvalidArgument, "UnknownFlavor",
                  "flavor '" + server.flavor + "' is unknown; add it first or take one of " +
                      host::Join(known, ", "));
  }
  FillServerLocked(&server);
  std::string id = server.id;
  servers_.Put(id, std::make_shared<const Server>(std::move(server)), NextRevisionLocked());
  return id;
}

Status World::ChangeServer(const std::string& id, const std::function<void(Server&)>& change) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return ChangeServerLocked(id, change);
}

Status World::ChangeServerLocked(const std::string& id,
                                 const std::function<void(Server&)>& change) {
  const ServerPtr old = servers_.Get(id);
  if (!old) return NotFound("server", id);
  Server changed = *old;
  change(changed);
  changed.id = id;
  changed.updated = time_->Wall();
  servers_.Put(id, std::make_shared<const Server>(std::move(changed)), NextRevisionLocked());
  return Status::Ok();
}

Status World::RemoveServer(const std::string& id) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return RemoveServerLocked(id);
}

Status World::RemoveServerLocked(const std::string& id) {
  const ServerPtr old = servers_.Get(id);
  if (!old) return NotFound("server", id);
  const Revision revision = NextRevisionLocked();
  servers_.Erase(id, revision);
  const auto ips = public_ips_.All();
  for (const auto& ip : *ips) {
    const bool bound_here = std::any_of(old->nics.begin(), old->nics.end(), [&](const Nic& nic) {
      return !ip->port_id.empty() && nic.port_id == ip->port_id;
    });
    if (!bound_here) continue;
    PublicIp freed = *ip;
    freed.port_id.clear();
    freed.private_ip.clear();
    freed.status = "DOWN";
    public_ips_.Put(freed.id, std::make_shared<const PublicIp>(freed), revision);
  }
  return Status::Ok();
}

Result<std::string> World::AddPublicIp(PublicIp ip) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  return AddPublicIpLocked(std::move(ip));
}

Result<std::string> World::AddPublicIpLocked(PublicIp ip) {
  if (public_ips_.Get(ip.id)) {
    return Status(Code::kAlreadyExists, "AlreadyExists", "public ip " + ip.id + " exists");
  }
  if (ip.id.empty()) ip.id = NewUuidLocked();
  if (ip.address.empty()) ip.address = NewPublicAddressLocked();
  if (ip.bandwidth_id.empty()) ip.bandwidth_id = NewUuidLocked();
  if (ip.bandwidth_name.empty()) ip.bandwidth_name = "bandwidth-" + ip.id.substr(0, 4);
  if (ip.created == host::WallTime{}) ip.created = time_->Wall();
  std::string id = ip.id;
  public_ips_.Put(id, std::make_shared<const PublicIp>(std::move(ip)), NextRevisionLocked());
  return id;
}

Status World::ChangePublicIp(const std::string& id, const std::function<void(PublicIp&)>& change) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  const PublicIpPtr old = public_ips_.Get(id);
  if (!old) return NotFound("public ip", id);
  PublicIp changed = *old;
  change(changed);
  changed.id = id;
  public_ips_.Put(id, std::make_shared<const PublicIp>(std::move(changed)), NextRevisionLocked());
  return Status::Ok();
}

Status World::RemovePublicIp(const std::string& id) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  if (!public_ips_.Erase(id, NextRevisionLocked())) return NotFound("public ip", id);
  return Status::Ok();
}

Result<std::string> World::GiveServerPublicIp(const std::string& server_id,
                                              const std::string& address) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  const ServerPtr server = servers_.Get(server_id);
  if (!server) return NotFound("server", server_id);
  const auto nic = std::find_if(server->nics.begin(), server->nics.end(),
                                [](const Nic& candidate) { return candidate.primary; });
  PublicIp ip;
  ip.project_id = server->project_id;
  ip.address = address;
  ip.port_id = nic->port_id;
  ip.private_ip = nic->ips.front();
  ip.status = "ACTIVE";
  return AddPublicIpLocked(std::move(ip));
}

std::string World::StartJob(Job job, std::int64_t duration_ms,
                            std::function<void(World&, Job&)> finish) {
  std::lock_guard lock(mutex_);
  SettleLocked();
  job.id = NewHexIdLocked();
  job.status = "RUNNING";
  job.begin = time_->Wall();
  const std::string id = job.id;
  jobs_.Put(id, std::make_shared<const Job>(std::move(job)), NextRevisionLocked());
  due_.push_back({time_->Mono() + std::chrono::milliseconds(duration_ms), id, std::move(finish)});
  return id;
}

}  // namespace otc::sim
