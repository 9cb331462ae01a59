#include "tests/sim/otc/document.h"

#include <set>
#include <utility>

#include "tests/sim/otc/server_json.h"
#include "tests/sim/otc/simulator.h"

namespace otc::sim {
namespace {

// Everything read and checked before anything is applied.
struct Document {
  std::optional<Behaviour> behaviour;
  bool standard_account = true;
  std::vector<Domain> domains;
  std::vector<Project> projects;
  std::vector<User> users;
  std::vector<AccessKey> keys;
  std::vector<Flavor> flavors;
  std::vector<ServerSeed> servers;
  std::vector<PublicIp> public_ips;
  std::vector<FaultRule> faults;
  std::optional<std::vector<RateLimit>> rate_limits;
};

template <typename Read>
void ForEach(JsonFields& fields, const std::string& key, Read read) {
  int index = 0;
  for (const auto& object : fields.Objects(key)) {
    read(object, fields.PathOf(key + "[" + std::to_string(index++) + "]"));
  }
}

void ReadAccounts(JsonFields& fields, Document* document, std::vector<std::string>* errors) {
  fields.Bool("standard_account", &document->standard_account);
  const auto required = [&](JsonFields& members, const char* key, std::string* out) {
    if (!members.String(key, out) && !members.Has(key)) members.Error(key, "missing");
  };
  ForEach(fields, "domains", [&](Poco::JSON::Object::Ptr object, const std::string& path) {
    Domain domain;
    JsonFields members(object, path, errors);
    required(members, "id", &domain.id);
    required(members, "name", &domain.name);
    members.Finish();
    document->domains.push_back(std::move(domain));
  });
  ForEach(fields, "projects", [&](Poco::JSON::Object::Ptr object, const std::string& path) {
    Project project;
    project.domain_id = kDomainId;
    JsonFields members(object, path, errors);
    required(members, "id", &project.id);
    required(members, "name", &project.name);
    members.String("domain_id", &project.domain_id);
    members.Bool("enabled", &project.enabled);
    members.Finish();
    document->projects.push_back(std::move(project));
  });
  ForEach(fields, "users", [&](Poco::JSON::Object::Ptr object, const std::string& path) {
    User user;
    user.domain_id = kDomainId;
    JsonFields members(object, path, errors);
    required(members, "id", &user.id);
    required(members, "name", &user.name);
    required(members, "password", &user.password);
    members.String("domain_id", &user.domain_id);
    members.Finish();
    document->users.push_back(std::move(user));
  });
  ForEach(fields, "access_keys", [&](Poco::JSON::Object::Ptr object, const std::string& path) {
    AccessKey key;
    key.user_id = kUserId;
    key.domain_id = kDomainId;
    JsonFields members(object, path, errors);
    required(members, "access", &key.access);
    required(members, "secret", &key.secret);
    members.String("user_id", &key.user_id);
    members.String("domain_id", &key.domain_id);
    members.String("security_token", &key.security_token);
    members.Bool("active", &key.active);
    members.Finish();
    document->keys.push_back(std::move(key));
  });
}

// Names that must exist when the document is applied.
void CheckServers(Simulator& simulator, const Document& document,
                  std::vector<std::string>* errors) {
  std::set<std::string> flavors, ids;
  for (const Flavor& flavor : simulator.world().Flavors()) flavors.insert(flavor.id);
  for (const Flavor& flavor : document.flavors) flavors.insert(flavor.id);
  for (std::size_t i = 0; i < document.servers.size(); ++i) {
    const Server& server = document.servers[i].server;
    const std::string path = "servers[" + std::to_string(i) + "]";
    if (flavors.count(server.flavor) == 0) {
      errors->push_back(path + ".flavor: '" + server.flavor + "' is unknown; add it under flavors");
    }
    if (!server.id.empty() &&
        (!ids.insert(server.id).second || simulator.world().FindServer(server.id))) {
      errors->push_back(path + ".id: " + server.id + " exists already");
    }
  }
}

Document Read(Simulator& simulator, Poco::JSON::Object::Ptr object,
              std::vector<std::string>* errors) {
  Document document;
  JsonFields fields(object, "", errors);
  const auto options = fields.Object("options");
  if (!options.isNull()) {
    document.behaviour = simulator.behaviour().Get();
    ReadBehaviour(options, "options", &*document.behaviour, errors);
  }
  ReadAccounts(fields, &document, errors);
  using Object = Poco::JSON::Object::Ptr;
  ForEach(fields, "flavors", [&](Object item, const std::string& path) {
    document.flavors.push_back(ReadFlavor(item, path, errors));
  });
  ForEach(fields, "servers", [&](Object item, const std::string& path) {
    document.servers.push_back(ReadServerSeed(item, path, errors));
  });
  ForEach(fields, "public_ips", [&](Object item, const std::string& path) {
    document.public_ips.push_back(ReadPublicIp(item, path, errors));
  });
  ForEach(fields, "faults", [&](Object item, const std::string& path) {
    document.faults.push_back(ReadFaultRule(item, path, errors));
  });
  if (fields.Has("rate_limits")) document.rate_limits.emplace();
  ForEach(fields, "rate_limits", [&](Object item, const std::string& path) {
    document.rate_limits->push_back(ReadRateLimit(item, path, errors));
  });
  fields.Finish();
  CheckServers(simulator, document, errors);
  return document;
}

Result<std::vector<std::string>> AddServers(Simulator& simulator,
                                            const std::vector<ServerSeed>& seeds) {
  std::vector<std::string> ids;
  for (const ServerSeed& seed : seeds) {
    for (std::int64_t i = 0; i < seed.count; ++i) {
      Server server = seed.server;
      server.name = SeedName(seed, i);
      auto id = simulator.AddServer(std::move(server));
      if (!id.ok()) return id.status();
      if (seed.public_ip) {
        const auto ip = simulator.world().GiveServerPublicIp(
            *id, *seed.public_ip == "auto" ? "" : *seed.public_ip);
        if (!ip.ok()) return ip.status();
      }
      ids.push_back(*std::move(id));
    }
  }
  return ids;
}

}  // namespace

Result<std::vector<std::string>> LoadDocument(Simulator& simulator,
                                              Poco::JSON::Object::Ptr object) {
  std::vector<std::string> errors;
  Document document = Read(simulator, std::move(object), &errors);
  OTC_RETURN_IF_ERROR(ErrorsToStatus(errors));

  if (document.behaviour) {
    simulator.behaviour().Change([&](Behaviour& behaviour) { behaviour = *document.behaviour; });
  }
  Identity& identity = simulator.identity();
  if (!document.standard_account) identity.Clear();
  for (Domain& domain : document.domains) identity.AddDomain(std::move(domain));
  for (Project& project : document.projects) identity.AddProject(std::move(project));
  for (User& user : document.users) identity.AddUser(std::move(user));
  for (AccessKey& key : document.keys) identity.AddAccessKey(std::move(key));
  for (Flavor& flavor : document.flavors) simulator.world().AddFlavor(std::move(flavor));
  for (FaultRule& fault : document.faults) simulator.faults().Add(std::move(fault));
  if (document.rate_limits) simulator.rate_limits().Set(*std::move(document.rate_limits));
  for (PublicIp& ip : document.public_ips) {
    if (ip.project_id.empty()) ip.project_id = kProjectId;
    const auto id = simulator.world().AddPublicIp(std::move(ip));
    if (!id.ok()) return id.status();
  }
  return AddServers(simulator, document.servers);
}

}  // namespace otc::sim
