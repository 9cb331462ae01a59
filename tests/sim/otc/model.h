// The objects of the simulated cloud, as its stores keep them. What a reply looks
// like is the business of the services; defaults here are what a plain new
// object has.
#ifndef OTC_TESTS_SIM_OTC_MODEL_H_
#define OTC_TESTS_SIM_OTC_MODEL_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/base/clock.h"

namespace otc::sim {

struct Flavor {
  std::string id;  // equal to its name
  std::int64_t vcpus = 1;
  std::int64_t ram_mb = 1024;
  std::map<std::string, std::string> extra_specs;
};

struct Nic {
  std::string port_id;
  std::string mac;
  std::string network_id;  // VPC subnet id
  std::string subnet_id;   // Neutron subnet id
  std::vector<std::string> ips;
  bool primary = false;
  std::string state = "ACTIVE";
};

struct AttachedVolume {
  std::string id;
  std::string device = "/dev/vda";
  std::int64_t size_gb = 10;
  std::optional<std::int64_t> boot_index;
  bool delete_on_termination = false;
  std::string bus = "virtio";
};

struct ServerFault {
  std::int64_t code = 500;
  std::string message;
};

struct Server {
  std::string id;
  std::string name;
  std::string project_id;
  std::string status = "ACTIVE";
  std::string task_state;  // empty: null in replies
  std::string flavor = "s3.large.2";
  std::string availability_zone;
  std::string vpc_id;
  std::vector<Nic> nics;
  std::map<std::string, std::string> metadata;
  std::vector<std::string> tags;  // "key=value" or "key"
  std::map<std::string, std::string> sys_tags;
  std::vector<std::string> security_groups = {"default"};
  std::vector<AttachedVolume> volumes;
  std::string image_id;
  std::string key_name;
  std::string user_id;
  std::string user_data;  // raw
  std::string host_status = "UP";
  bool locked = false;
  std::optional<ServerFault> fault;
  host::WallTime created{};
  host::WallTime updated{};
};

struct PublicIp {
  std::string id;
  std::string project_id;
  std::string status = "DOWN";
  std::string type = "5_bgp";
  std::string address;
  std::string private_ip;  // empty: unbound
  std::string port_id;
  std::string bandwidth_id;
  std::string bandwidth_name;
  std::string bandwidth_share_type = "PER";
  std::int64_t bandwidth_size = 5;
  std::string alias;
  host::WallTime created{};
};

struct Job {
  std::string id;
  std::string project_id;
  std::string type;
  std::string status = "INIT";  // INIT, RUNNING, SUCCESS, FAIL
  std::string error_code;
  std::string fail_reason;
  std::map<std::string, std::string> entities;
  std::vector<Job> sub_jobs;
  host::WallTime begin{};
  host::WallTime end{};
};

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_MODEL_H_
