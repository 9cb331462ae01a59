// World: what exists in the simulated cloud, servers, public addresses, flavors
// and jobs, and how it changes: at once by a test or the control API, or at a due
// time by a job.
//
// Thread-safe; owned by Simulator. Readers get shared immutable snapshots. Ids
// and addresses that nobody chose come from the seed, so equal runs give equal
// worlds. Mutators name what is wrong in their Status.
#ifndef OTC_TESTS_SIM_OTC_WORLD_H_
#define OTC_TESTS_SIM_OTC_WORLD_H_

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "sdk/include/otc/cpp/status.h"
#include "tests/sim/otc/model.h"
#include "tests/sim/otc/sim_time.h"
#include "tests/sim/otc/versioned_map.h"

namespace otc::sim {

// How a list looks at the world.
struct View {
  std::optional<Revision> as_of;
  bool empty = false;  // sees nothing at all
};

class World {
 public:
  using ServerPtr = VersionedMap<Server>::Ptr;
  using PublicIpPtr = VersionedMap<PublicIp>::Ptr;
  using JobPtr = VersionedMap<Job>::Ptr;

  World(const SimTime* time, std::uint64_t seed, std::string region);

  // Back to an empty world with the same seed; flavors return to the defaults.
  void Reset();

  ServerPtr FindServer(const std::string& id);
  VersionedMap<Server>::List Servers(const View& view = {});
  PublicIpPtr FindPublicIp(const std::string& id);
  VersionedMap<PublicIp>::List PublicIps(const View& view = {});
  // Port id -> address, of the bound ones.
  std::map<std::string, std::string> FloatingAddresses(const View& view = {});
  JobPtr FindJob(const std::string& id);
  std::vector<Flavor> Flavors();
  std::optional<Flavor> FindFlavor(const std::string& id);
  std::vector<std::string> Zones();

  // Fills what is empty: id, zone, VPC, one NIC with an address, image, times.
  // ALREADY_EXISTS for a known id, INVALID_ARGUMENT for an unknown flavor.
  // Returns the id.
  Result<std::string> AddServer(Server server);
  // `change` gets a copy; `updated` is stamped afterwards. NOT_FOUND if absent.
  Status ChangeServer(const std::string& id, const std::function<void(Server&)>& change);
  // Gone at once: a GET answers 404. Its public addresses become unbound.
  Status RemoveServer(const std::string& id);

  Result<std::string> AddPublicIp(PublicIp ip);
  Status ChangePublicIp(const std::string& id, const std::function<void(PublicIp&)>& change);
  Status RemovePublicIp(const std::string& id);
  // Binds a new address (empty: any) to the primary port of a server.
  Result<std::string> GiveServerPublicIp(const std::string& server_id, const std::string& address);

  void AddFlavor(Flavor flavor);

  // A job in state RUNNING that ends after `duration_ms`: then `finish` runs with
  // the lock held, may change the world through the *Locked functions and the
  // job (status SUCCESS is preset). Returns its id.
  std::string StartJob(Job job, std::int64_t duration_ms, std::function<void(World&, Job&)> finish);
  Status ChangeServerLocked(const std::string& id, const std::function<void(Server&)>& change);
  Status RemoveServerLocked(const std::string& id);

  Revision CurrentRevision();
  // The newest revision that is at least `age_ms` old.
  Revision RevisionBefore(std::int64_t age_ms);

  std::string NewUuid();
  std::string NewHexId();
  const std::string& region() const { return region_; }

 private:
  struct Due {
    host::MonoTime at;
    std::string job_id;
    std::function<void(World&, Job&)> finish;
  };

  void ResetLocked();
  // Ends the jobs that are due; every reader and writer starts with it.
  void SettleLocked();
  Revision NextRevisionLocked();
  std::string NewUuidLocked();
  std::string NewHexIdLocked();
  void FillServerLocked(Server* server);
  std::string NewPrivateAddressLocked();
  std::string NewPublicAddressLocked();
  Result<std::string> AddPublicIpLocked(PublicIp ip);

  const SimTime* time_;
  const std::uint64_t seed_;
  const std::string region_;

  std::mutex mutex_;
  std::mt19937_64 random_;
  Revision revision_ = 0;
  std::deque<std::pair<host::MonoTime, Revision>> revision_times_;  // bounded
  std::uint32_t next_private_ = 0;
  std::uint32_t next_public_ = 0;
  std::string default_vpc_, default_network_, default_subnet_, default_image_;
  VersionedMap<Server> servers_;
  VersionedMap<PublicIp> public_ips_;
  VersionedMap<Job> jobs_;
  std::map<std::string, Flavor> flavors_;
  std::vector<Due> due_;
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_WORLD_H_
