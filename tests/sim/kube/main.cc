// kube-sim, the program: parses switches, starts a Server, waits for a signal.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "host/base/strings.h"
#include "tests/sim/kube/json.h"
#include "tests/sim/kube/server.h"

namespace {

using otc::Code;
using otc::Status;
using otc::kubesim::Json;

struct Switches {
  otc::kubesim::Options options;
  std::string kubeconfig_out;
  std::string ca_out;
  std::string ports_file;
  std::string users_file;
  std::string objects_file;
  std::uint64_t nodes = 0;
  std::string node_prefix = "node";
  bool die_with_parent = false;
  bool help = false;
};

constexpr char kHelp[] =
    "kube-sim: a fake Kubernetes API server for tests and demos\n"
    "  --address=IP              where to listen (127.0.0.1)\n"
    "  --port=N                  API port; 0: any free one (0)\n"
    "  --control-port=N          control API port; 0: any free one (0)\n"
    "  --plain                   HTTP instead of HTTPS\n"
    "  --kubeconfig-out=FILE     write an administrator's kubeconfig\n"
    "  --ca-out=FILE             write the CA certificate\n"
    "  --ports-file=FILE         write the JSON line of the start to this file, too\n"
    "  --users-file=FILE         JSON list of users: name, token, groups, rules\n"
    "  --objects-file=FILE       JSON list of {\"resource\": ..., \"object\": {...}} to begin "
    "with\n"
    "  --require-auth            401 for requests without a known credential\n"
    "  --require-client-cert     refuse TLS connections without a client certificate\n"
    "  --nodes=N                 begin with N nodes of realistic size\n"
    "  --node-prefix=NAME        their name before the number (node)\n"
    "  --no-not-ready-taint      do not taint new nodes not-ready, as the real admission does\n"
    "  --bookmark-interval-ms=N  (60000)\n"
    "  --history-limit=N         changes kept for watches, for each resource (50000)\n"
    "  --max-connections=N       (512)\n"
    "  --version-string=V        what /version says (v1.36.3)\n"
    "  --die-with-parent         end when the starting process ends\n"
    "One JSON line on stdout tells when it is ready and where. SIGTERM and SIGINT end it.\n";

Status BadSwitch(const std::string& name, const std::string& value, const std::string& allowed) {
  return Status(Code::kInvalidArgument, "BadSwitch",
                "--" + name + "=" + value + ": allowed: " + allowed);
}

// Takes one "name", "value" pair; a switch without "=" has the value "".
using Setter = std::function<Status(const std::string& name, const std::string& value)>;

Setter Text(std::string& into) {
  return [&into](const std::string& name, const std::string& value) {
    if (value.empty()) {
      return BadSwitch(name, value, "a text");
    }
    into = value;
    return Status::Ok();
  };
}

Setter Flag(bool& into, bool value_when_given = true) {
  return [&into, value_when_given](const std::string& name, const std::string& value) {
    if (!value.empty()) {
      return BadSwitch(name, value, "no value");
    }
    into = value_when_given;
    return Status::Ok();
  };
}

template <typename T>
Setter Number(T& into, std::uint64_t limit) {
  return [&into, limit](const std::string& name, const std::string& value) {
    const auto number = otc::host::ParseUint(value);
    if (!number || *number > limit) {
      return BadSwitch(name, value, "a number from 0 to " + std::to_string(limit));
    }
    into = static_cast<T>(*number);
    return Status::Ok();
  };
}

std::map<std::string, Setter> Setters(Switches& switches) {
  otc::kubesim::Options& options = switches.options;
  return {{"address", Text(options.address)},
          {"port", Number(options.port, 65535)},
          {"control-port", Number(options.control_port, 65535)},
          {"plain", Flag(options.tls, false)},
          {"kubeconfig-out", Text(switches.kubeconfig_out)},
          {"ca-out", Text(switches.ca_out)},
          {"ports-file", Text(switches.ports_file)},
          {"users-file", Text(switches.users_file)},
          {"objects-file", Text(switches.objects_file)},
          {"require-auth", Flag(options.require_auth)},
          {"require-client-cert", Flag(options.require_client_certificate)},
          {"nodes", Number(switches.nodes, 100'000)},
          {"node-prefix", Text(switches.node_prefix)},
          {"no-not-ready-taint", Flag(options.not_ready_taint, false)},
          {"bookmark-interval-ms", Number(options.bookmark_interval_ms, 3'600'000)},
          {"history-limit", Number(options.history_limit, 10'000'000)},
          {"max-connections", Number(options.max_connections, 10'000)},
          {"version-string", Text(options.version)},
          {"die-with-parent", Flag(switches.die_with_parent)},
          {"help", Flag(switches.help)}};
}

Status Parse(int argc, char** argv, Switches& switches) {
  const std::map<std::string, Setter> setters = Setters(switches);
  std::vector<std::string> names;
  for (const auto& [name, setter] : setters) {
    names.push_back(name);
  }
  std::vector<std::string> complaints;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string name = word.rfind("--", 0) == 0 ? word.substr(2, equals - 2) : word;
    const auto setter = setters.find(name);
    if (word.rfind("--", 0) != 0 || setter == setters.end()) {
      const auto nearest = otc::host::Nearest(name, names);
      complaints.push_back(word + ": no such switch" +
                           (nearest ? " (did you mean --" + *nearest + "?)" : "; see --help"));
      continue;
    }
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    if (const Status status = setter->second(name, value); !status.ok()) {
      complaints.push_back(status.message());
    }
  }
  if (!complaints.empty()) {
    return Status(Code::kInvalidArgument, "BadSwitch", otc::host::Join(complaints, "\n"));
  }
  return Status::Ok();
}

// Whole or not at all: readers never see half a file.
Status WriteFile(const std::string& path, const std::string& text, mode_t mode) {
  const std::string temporary = path + ".new";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  const bool written =
      fd >= 0 && write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  if (fd >= 0) {
    close(fd);
  }
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) {
    return Status(Code::kInternal, "CannotWrite", path + ": " + std::strerror(errno));
  }
  return Status::Ok();
}

otc::Result<Json> ReadJsonList(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file) {
    return Status(Code::kNotFound, "CannotRead", path + ": cannot be read");
  }
  const auto document = otc::kubesim::ParseJson(text.str());
  if (!document || !document->is_array()) {
    return Status(Code::kInvalidArgument, "BadFile", path + ": a JSON list is needed");
  }
  return *document;
}

Status LoadUsers(const std::string& path, otc::kubesim::Server& server) {
  const auto list = ReadJsonList(path);
  if (!list.ok()) {
    return list.status();
  }
  for (const Json& entry : *list) {
    otc::kubesim::User user;
    user.name = otc::kubesim::TextAt(entry, {"name"});
    user.token = otc::kubesim::TextAt(entry, {"token"});
    if (const Json* groups = otc::kubesim::Find(entry, {"groups"})) {
      for (const Json& group : *groups) {
        user.groups.push_back(group.is_string() ? group.get<std::string>() : "");
      }
    }
    if (const Json* rules = otc::kubesim::Find(entry, {"rules"})) {
      user.rules_json = otc::kubesim::DumpJson(*rules);
    }
    OTC_RETURN_IF_ERROR(server.AddUser(user).WithPrefix(path + ": "));
  }
  return Status::Ok();
}

Status LoadObjects(const std::string& path, otc::kubesim::Server& server) {
  const auto list = ReadJsonList(path);
  if (!list.ok()) {
    return list.status();
  }
  for (const Json& entry : *list) {
    const Json* object = otc::kubesim::Find(entry, {"object"});
    OTC_RETURN_IF_ERROR(server
                            .Put(otc::kubesim::TextAt(entry, {"resource"}),
                                 object != nullptr ? otc::kubesim::DumpJson(*object) : "null")
                            .WithPrefix(path + ": "));
  }
  return Status::Ok();
}

Status SetUp(const Switches& switches, otc::kubesim::Server& server) {
  OTC_RETURN_IF_ERROR(server.Start());
  if (!switches.users_file.empty()) {
    OTC_RETURN_IF_ERROR(LoadUsers(switches.users_file, server));
  }
  if (!switches.objects_file.empty()) {
    OTC_RETURN_IF_ERROR(LoadObjects(switches.objects_file, server));
  }
  if (switches.nodes > 0) {
    OTC_RETURN_IF_ERROR(server.AddManyNodes(switches.nodes, switches.node_prefix));
  }
  if (!switches.ca_out.empty()) {
    OTC_RETURN_IF_ERROR(WriteFile(switches.ca_out, server.ca_pem(), 0644));
  }
  if (!switches.kubeconfig_out.empty()) {
    OTC_RETURN_IF_ERROR(WriteFile(switches.kubeconfig_out, server.Kubeconfig(), 0600));
  }
  const std::string line = otc::kubesim::DumpJson({{"ready", true},
                                                   {"url", server.url()},
                                                   {"port", server.port()},
                                                   {"controlUrl", server.control_url()},
                                                   {"kubeconfig", switches.kubeconfig_out},
                                                   {"ca", switches.ca_out},
                                                   {"pid", getpid()}});
  if (!switches.ports_file.empty()) {
    OTC_RETURN_IF_ERROR(WriteFile(switches.ports_file, line + "\n", 0644));
  }
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
  return Status::Ok();
}

}  // namespace

int main(int argc, char** argv) {
  const pid_t parent = getppid();
  Switches switches;
  switches.options.control = true;
  if (const Status status = Parse(argc, argv, switches); !status.ok()) {
    std::fprintf(stderr, "kube-sim: %s\n", status.message().c_str());
    return 2;
  }
  if (switches.help) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  if (switches.die_with_parent) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) {
      return 0;  // it ended before the request to be told
    }
  }
  signal(SIGPIPE, SIG_IGN);
  // Blocked before any thread exists, so that only the wait below sees them.
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigprocmask(SIG_BLOCK, &set, nullptr);

  otc::kubesim::Server server(switches.options);
  if (const Status status = SetUp(switches, server); !status.ok()) {
    std::fprintf(stderr, "kube-sim: %s\n", status.ToString().c_str());
    return 1;
  }
  int signal_number = 0;
  sigwait(&set, &signal_number);
  server.Stop();
  return 0;
}
