#include "tests/sim/otc/command_line.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "host/base/strings.h"
#include "tests/sim/otc/tls_files.h"
#include "tests/sim/otc/yaml_document.h"

namespace otc::sim {
namespace {

constexpr char kHelp[] =
    R"(otc-sim: a simulated Open Telekom Cloud (IAM, ECS, EIP list, metadata).
Prints one line of JSON with its ports when it is ready; SIGTERM ends it.

  --config FILE         what the cloud holds and how it behaves (YAML or JSON)
  --port SERVICE=N      a fixed port; services: iam, ecs, evs, vpc, elb, metadata,
                        control. Without it any free port is taken
  --ports-file FILE     write the line of JSON there too
  --bind ADDRESS        address to listen on (127.0.0.1); others than loopback let
                        anybody who reaches it drive the simulator
  --region NAME         eu-de
  --seed N              of ids, addresses and jitter (1)
  --signatures MODE     strict, compat or off (strict)
  --latency-ms N        added to every answer (0)
  --jitter-ms N         up to that much more (0)
  --defect NAME         a deliberate defect; may be repeated
  --list-defects        print the defects and leave
  --tls-dir DIR         serve TLS; makes ca.pem, server.pem and server-key.pem in
                        DIR unless they are there
  --tls-cert FILE       serve TLS with this certificate …
  --tls-key FILE        … and key
  --call-log FILE       append every call as a line of JSON
  --max-connections N   for each port (256)
  --keep-alive-ms N     idle connections are closed after that (15000; 0: at once)
  --die-with-parent     end when the starting process does
  --help                print this and leave
)";

Status Bad(const std::string& message) {
  return Status(Code::kInvalidArgument, "BadUsage", message);
}

struct Parser {
  CommandLine line;
  std::vector<std::string> errors;
  std::string config_file, tls_dir;
  Latency latency;

  bool Number(const std::string& option, const std::string& text, std::uint64_t max,
              std::uint64_t* out) {
    const auto number = host::ParseUint(text);
    if (number && *number <= max) {
      *out = *number;
      return true;
    }
    errors.push_back(option + ": '" + text + "' must be a whole number up to " +
                     std::to_string(max));
    return false;
  }

  void Port(const std::string& value) {
    const auto equals = value.find('=');
    const std::string service = value.substr(0, equals);
    const auto& names = ServiceNames();
    if (equals == std::string::npos ||
        std::find(names.begin(), names.end(), service) == names.end()) {
      errors.push_back("--port: '" + value + "' must be SERVICE=NUMBER with a service of " +
                       host::Join(names, ", "));
      return;
    }
    std::uint64_t port = 0;
    if (Number("--port " + service, value.substr(equals + 1), 65'535, &port)) {
      line.options.ports[service] = static_cast<std::uint16_t>(port);
    }
  }

  void Signatures(const std::string& value) {
    if (value == "strict") {
      line.options.behaviour.signatures = SignatureMode::kStrict;
    } else if (value == "compat") {
      line.options.behaviour.signatures = SignatureMode::kCompat;
    } else if (value == "off") {
      line.options.behaviour.signatures = SignatureMode::kOff;
    } else {
      errors.push_back("--signatures: '" + value + "' is not one of strict, compat, off");
    }
  }

  void Defect(const std::string& value) {
    if (KnownDefects().count(value) == 0) {
      std::vector<std::string> known;
      for (const auto& [name, what] : KnownDefects()) known.push_back(name);
      errors.push_back("--defect: '" + value + "' does not exist; known are " +
                       host::Join(known, ", "));
    }
    line.options.behaviour.defects.insert(value);
  }

  void TakeNumber(const std::string& option, const std::string& value) {
    constexpr std::uint64_t kDayMs = 86'400'000;
    std::uint64_t number = 0;
    const std::uint64_t max = option == "--seed"              ? UINT64_MAX
                              : option == "--max-connections" ? 10'000
                                                              : kDayMs;
    if (!Number(option, value, max, &number)) return;
    const auto whole = static_cast<std::int64_t>(number);
    if (option == "--seed") line.options.seed = number;
    if (option == "--latency-ms") latency.ms = whole;
    if (option == "--jitter-ms") latency.jitter_ms = whole;
    if (option == "--keep-alive-ms") line.options.keep_alive_ms = static_cast<int>(whole);
    if (option == "--max-connections") {
      line.options.max_connections = std::max(1, static_cast<int>(whole));
    }
  }

  std::map<std::string, std::function<void(const std::string&)>> ValueOptions() {
    const auto store = [](std::string* out) {
      return [out](const std::string& value) { *out = value; };
    };
    std::map<std::string, std::function<void(const std::string&)>> options = {
        {"--config", store(&config_file)},
        {"--ports-file", store(&line.ports_file)},
        {"--bind", store(&line.options.bind_address)},
        {"--region", store(&line.options.region)},
        {"--tls-dir", store(&tls_dir)},
        {"--tls-cert", store(&line.options.certificate_file)},
        {"--tls-key", store(&line.options.key_file)},
        {"--call-log", store(&line.options.call_log_file)},
        {"--port", [this](const std::string& value) { Port(value); }},
        {"--signatures", [this](const std::string& value) { Signatures(value); }},
        {"--defect", [this](const std::string& value) { Defect(value); }}};
    for (const char* name :
         {"--seed", "--latency-ms", "--jitter-ms", "--max-connections", "--keep-alive-ms"}) {
      options[name] = [this, name](const std::string& value) { TakeNumber(name, value); };
    }
    return options;
  }

  void Take(const std::vector<std::string>& arguments) {
    const auto with_value = ValueOptions();
    std::vector<std::string> names = {"--help", "--list-defects", "--die-with-parent"};
    for (const auto& [name, take] : with_value) names.push_back(name);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      std::string name = arguments[i];
      std::optional<std::string> value;
      const auto equals = name.find('=');
      if (name.rfind("--", 0) == 0 && equals != std::string::npos) {
        value = name.substr(equals + 1);
        name.resize(equals);
      }
      const auto option = with_value.find(name);
      if (option == with_value.end()) {
        if (!TakeFlag(name) || value) {
          const auto nearest = host::Nearest(name, names);
          errors.push_back("'" + arguments[i] + "' is unknown" +
                           (nearest ? "; did you mean " + *nearest + "?" : "; see --help"));
        }
        continue;
      }
      if (!value && i + 1 < arguments.size()) value = arguments[++i];
      if (value) {
        option->second(*value);
      } else {
        errors.push_back(name + " needs a value");
      }
    }
  }

  bool TakeFlag(const std::string& name) {
    if (name == "--die-with-parent") {
      line.die_with_parent = true;
    } else if (name == "--help") {
      line.text_to_print = kHelp;
    } else if (name == "--list-defects") {
      for (const auto& [defect, what] : KnownDefects()) {
        line.text_to_print += defect + ": " + what + "\n";
      }
    } else {
      return false;
    }
    return true;
  }

  void ReadConfig() {
    if (config_file.empty()) return;
    std::ifstream file(config_file);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
      errors.push_back("--config: cannot read " + config_file);
      return;
    }
    auto json = YamlToJson(text.str());
    if (json.ok()) {
      line.document = *std::move(json);
    } else {
      errors.push_back(config_file + ": " + json.status().message());
    }
  }

  void PrepareTls() {
    if (line.options.certificate_file.empty() != line.options.key_file.empty()) {
      errors.push_back("--tls-cert and --tls-key go together");
    }
    if (tls_dir.empty()) return;
    if (!line.options.certificate_file.empty()) {
      errors.push_back("--tls-dir and --tls-cert exclude each other");
      return;
    }
    const Status status = MakeTlsFiles(tls_dir);
    if (!status.ok()) errors.push_back("--tls-dir: " + status.message());
    line.options.certificate_file = tls_dir + "/server.pem";
    line.options.key_file = tls_dir + "/server-key.pem";
  }
};

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& arguments) {
  Parser parser;
  parser.Take(arguments);
  if (parser.errors.empty() && parser.line.text_to_print.empty()) {
    parser.ReadConfig();
    parser.PrepareTls();
  }
  if (!parser.errors.empty()) return Bad(host::Join(parser.errors, "; "));
  if (parser.latency.ms != 0 || parser.latency.jitter_ms != 0) {
    parser.line.options.behaviour.latency[""] = parser.latency;
  }
  return std::move(parser.line);
}

Status DieWithParent() {
  const pid_t parent = getppid();
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && parent != 1) {
    return Status::Ok();
  }
  return Status(Code::kUnavailable, "NoParent", "--die-with-parent: the parent is gone already");
}

}  // namespace otc::sim
