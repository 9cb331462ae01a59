// kube-sim, embedded: a fake Kubernetes API server with scripted faults.
//
//   otc::kubesim::Options options;           // TLS on loopback, any free port
//   otc::kubesim::Server server(options);
//   Status started = server.Start();         // then server.url(), server.Kubeconfig()
//   server.AddNode(R"({"metadata":{"name":"a"}})");
//   server.ArmFault(R"({"match":{"verb":"patch"},"action":{"status":503}})");
//
// Documents go in and out as JSON text, so that users need no JSON library of
// ours. Everything is thread-safe. The destructor stops the server; nothing
// outlives it. docs/reference/kube-sim.md describes switches and faults.
#ifndef OTC_TESTS_SIM_KUBE_SERVER_H_
#define OTC_TESTS_SIM_KUBE_SERVER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/base/clock.h"
#include "sdk/include/otc/cpp/status.h"

namespace otc::kubesim {

struct Options {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;  // 0: any free one
  bool tls = true;
  bool control = false;  // serve /_sim on a port of its own
  std::uint16_t control_port = 0;
  std::size_t max_connections = 512;
  std::size_t history_limit = 50'000;  // changes kept for watches, for each resource
  int bookmark_interval_ms = 60'000;
  // Nodes created over the API get the taint node.kubernetes.io/not-ready, as
  // the real server's admission does. AddNode never adds it.
  bool not_ready_taint = true;
  // Requests without a known credential are refused (401) instead of being
  // served as an administrator.
  bool require_auth = false;
  bool require_client_certificate = false;     // the TLS handshake fails without one
  std::vector<std::string> certificate_names;  // default: the loopback names
  std::string version = "v1.36.3";             // what /version says
  // Stamps objects; null: the system's. Must outlive the server.
  const host::Clock* clock = nullptr;
};

// A credential and what it may do; see docs for the rules' form.
struct User {
  std::string name;
  std::string token;                // empty: client certificates only
  std::vector<std::string> groups;  // "system:masters" may do everything
  // JSON list of {"verbs":[],"groups":[],"resources":[],"namespaces":[],"names":[],
  // "paths":[]}; "*" stands for all, an absent key too.
  std::string rules_json = "[]";
};

struct Counters {
  std::uint64_t requests = 0;
  std::uint64_t reads = 0;   // get, list, watch
  std::uint64_t writes = 0;  // create, update, patch, delete
  std::uint64_t lists = 0;
  std::uint64_t watches = 0;
  std::uint64_t faults = 0;  // requests that met a fault
  std::uint64_t connections = 0;
};

// One answered (or dropped) request.
struct Call {
  std::uint64_t sequence = 0;
  std::int64_t unix_ms = 0;
  std::string verb;
  std::string method;
  std::string target;  // path and query, as sent
  std::string resource;
  std::string name;
  std::string subresource;
  std::string content_type;
  std::string accept;
  std::string user_agent;
  std::string user;
  std::string body;
  int status = 0;           // 0: no answer (hung, dropped); -1: raw bytes
  std::uint64_t fault = 0;  // id of the fault that it met; 0: none
};

class Server {
 public:
  explicit Server(Options options);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Status Start();
  void Stop();

  std::string url() const;  // "https://127.0.0.1:34567"
  std::uint16_t port() const;
  std::string control_url() const;  // "" without control
  std::string ca_pem() const;       // "" without TLS
  // A ready kubeconfig (YAML) of an administrator, CA inline.
  std::string Kubeconfig() const;
  // The same for a user added with AddUser.
  std::string KubeconfigFor(const User& user) const;
  Status AddUser(const User& user);
  // PEM certificate and key, signed by this server's CA.
  struct ClientCertificate {
    std::string certificate;
    std::string key;
  };
  Result<ClientCertificate> IssueClientCertificate(const std::string& user,
                                                   const std::vector<std::string>& groups) const;

  // Objects, past admission and validation: stored as given (uid and time filled
  // in when absent), replaced when they exist. `resource` is "nodes", "leases", …
  Status AddNode(const std::string& json);
  Status Put(const std::string& resource, const std::string& json);
  // The object's JSON; kNotFound.
  Result<std::string> GetObject(const std::string& resource, const std::string& namespace_name,
                                const std::string& name) const;
  std::vector<std::string> ListObjects(const std::string& resource) const;
  Status DeleteObject(const std::string& resource, const std::string& namespace_name,
                      const std::string& name);
  // `count` nodes of realistic size named <prefix>-00000 …; see node_generator.h.
  Status AddManyNodes(std::size_t count, const std::string& prefix = "node");

  // Faults: one JSON document each, as the control API takes them.
  Result<std::uint64_t> ArmFault(const std::string& json);
  bool DisarmFault(std::uint64_t id);
  void ClearFaults();
  std::string DescribeFaults() const;

  // Old versions become too old (410); 0: all up to now.
  void Compact(std::uint64_t up_to = 0);
  // The watch cache of a resource stands still while writes go on.
  Status HoldCache(const std::string& resource);
  Status ReleaseCache(const std::string& resource);
  void SetBookmarkInterval(int milliseconds);
  void EndWatches();                  // all running ones, in good order
  void CloseConnections(bool reset);  // all open ones
  void PauseListening();              // new connections are refused
  Status ResumeListening();
  // Objects, history, faults, calls and counters go; default namespaces come back.
  void Reset();

  std::vector<Call> Calls() const;
  void ClearCalls();
  Counters counters() const;
  std::uint64_t resource_version() const;
  std::size_t active_watches() const;
  std::size_t open_connections() const;

  struct Parts;  // internal

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace otc::kubesim

#endif  // OTC_TESTS_SIM_KUBE_SERVER_H_
