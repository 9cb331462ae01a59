#include "host/cloud/cloud_config.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <functional>
#include <optional>
#include <sstream>
#include <utility>

#include "host/base/strings.h"
#include "host/cloud/ini.h"
#include "host/http/client.h"

namespace otc::host::cloud {
namespace {

constexpr std::size_t kMaxFileBytes = 1 << 20;  // as large as a Secret can be

// Stores a value in the configuration; what is wrong with it, or "".
using Setter = std::function<std::string(CloudConfig&, const std::string&)>;

bool IsLowerHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

std::string NotEmpty(const std::string& value) {
  return value.empty() ? "is empty; give it a value or leave the key out" : "";
}

std::string CheckWord(const std::string& value, const std::string& allowed,
                      const std::function<bool(char)>& good) {
  if (std::string error = NotEmpty(value); !error.empty()) return error;
  if (std::all_of(value.begin(), value.end(), good)) return "";
  return "has the value " + JsonQuote(value) + "; allowed are " + allowed;
}

// Secrets: what is wrong is said without the value.
Setter Secret(std::string Credentials::*field) {
  return [field](CloudConfig& config, const std::string& value) -> std::string {
    const std::string trimmed(TrimSpace(value));
    if (trimmed.empty()) return "is empty";
    if (std::any_of(trimmed.begin(), trimmed.end(),
                    [](unsigned char c) { return c <= ' ' || c >= 0x7f; })) {
      return "holds blanks, line breaks or characters outside ASCII (value not shown); copy the "
             "key again";
    }
    config.credentials.*field = trimmed;
    return "";
  };
}

Setter Text(std::string CloudConfig::*field) {
  return [field](CloudConfig& config, const std::string& value) {
    config.*field = value;
    return NotEmpty(value);
  };
}

// Ids of cloud objects: letters, digits and dashes.
Setter ObjectId(std::string CloudConfig::*field) {
  return [field](CloudConfig& config, const std::string& value) {
    config.*field = value;
    return CheckWord(value, "letters, digits and '-'", [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
    });
  };
}

bool IsRegionChar(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

std::string SetRegion(CloudConfig& config, const std::string& value) {
  config.region = value;
  return CheckWord(value, "lower-case letters, digits and '-', as in eu-de", IsRegionChar);
}

std::string SetProjectId(CloudConfig& config, const std::string& value) {
  config.project_id = value;
  if (value.size() == 32 && std::all_of(value.begin(), value.end(), IsLowerHex)) return "";
  return "has the value " + JsonQuote(value) +
         "; a project id is 32 lower-case hexadecimal digits (for a name use project-name)";
}

std::string SetSignForm(CloudConfig& config, const std::string& value) {
  if (value != "credential" && value != "access") {
    return "has the value " + JsonQuote(value) + "; allowed are credential (default) and access";
  }
  config.sign_form = value == "access" ? SignForm::kAccess : SignForm::kCredential;
  return "";
}

std::string SetBandwidth(CloudConfig& config, const std::string& value) {
  const std::optional<std::uint64_t> number = ParseUint(value);
  if (!number || *number == 0 || *number > 2000) {
    return "has the value " + JsonQuote(value) + "; allowed is a whole number from 1 to 2000";
  }
  config.bandwidth_mbit = static_cast<std::uint32_t>(*number);
  return "";
}

std::string SetAlarm(CloudConfig& config, const std::string& value) {
  const std::optional<std::uint64_t> number = ParseUint(value);
  if (!number || *number > 1'000'000'000) {
    return "has the value " + JsonQuote(value) +
           "; allowed is a number of calls, 0 turns the alarm off";
  }
  config.calls_per_hour_alarm = *number;
  return "";
}

Setter Endpoint(const std::string& service) {
  return [service](CloudConfig& config, const std::string& value) -> std::string {
    const Result<http::BaseUrl> url = http::ParseBaseUrl(value);
    if (!url.ok()) return "is no base URL: " + url.status().message();
    config.endpoints[service] = value;
    return "";
  };
}

std::optional<double> ParsePositive(std::string_view text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (!(number > 0) || number > 10'000) return std::nullopt;
  return number;
}

Setter Budget(const std::string& name) {
  return [name](CloudConfig& config, const std::string& value) -> std::string {
    const std::size_t slash = value.find('/');
    const auto rate = ParsePositive(TrimSpace(std::string_view(value).substr(0, slash)));
    const auto burst = slash == std::string::npos
                           ? std::nullopt
                           : ParsePositive(TrimSpace(std::string_view(value).substr(slash + 1)));
    if (!rate || !burst || *burst < 1) {
      return "has the value " + JsonQuote(value) +
             "; expected calls-per-second/burst with a burst of at least 1, as in 1.5/2";
    }
    config.budgets[name] = {*rate, *burst};
    return "";
  };
}

struct SectionSchema {
  std::string name;
  std::vector<std::pair<std::string, Setter>> keys;
};

std::vector<SectionSchema> MakeSchema() {
  std::vector<SectionSchema> schema = {{"Global",
                                        {{"access-key", Secret(&Credentials::access_key)},
                                         {"secret-key", Secret(&Credentials::secret_key)},
                                         {"security-token", Secret(&Credentials::security_token)},
                                         {"domain-name", Text(&CloudConfig::domain_name)},
                                         {"region", SetRegion},
                                         {"project-name", Text(&CloudConfig::project_name)},
                                         {"project-id", SetProjectId},
                                         {"ca-file", Text(&CloudConfig::ca_file)},
                                         {"sign-form", SetSignForm}}},
                                       {"LoadBalancer",
                                        {{"subnet-id", ObjectId(&CloudConfig::subnet_id)},
                                         {"network-id", ObjectId(&CloudConfig::network_id)},
                                         {"bandwidth-mbit", SetBandwidth},
                                         {"cluster-name", Text(&CloudConfig::cluster_name)}}},
                                       {"Endpoints", {{"all", Endpoint("all")}}},
                                       {"Budgets",
                                        {{"default-read", Budget("default-read")},
                                         {"default-write", Budget("default-write")},
                                         {"calls-per-hour-alarm", SetAlarm}}}};
  for (const std::string& service : KnownServices()) {
    schema[2].keys.emplace_back(service, Endpoint(service));
    schema[3].keys.emplace_back(service + "-read", Budget(service + "-read"));
    schema[3].keys.emplace_back(service + "-write", Budget(service + "-write"));
  }
  return schema;
}

std::string DidYouMean(const std::string& word, const std::vector<std::string>& names) {
  std::vector<std::string> lower;
  lower.reserve(names.size());
  for (const std::string& name : names) lower.push_back(ToLower(name));
  const std::optional<std::string> nearest = Nearest(ToLower(word), lower);
  if (!nearest) return "";
  const auto index = std::find(lower.begin(), lower.end(), *nearest) - lower.begin();
  return "; did you mean " + names[static_cast<std::size_t>(index)] + "?";
}

bool IsSecret(const std::string& key) {
  return key == "access-key" || key == "secret-key" || key == "security-token";
}

class Loader {
 public:
  explicit Loader(std::string file_name) : file_name_(std::move(file_name)) {}

  Result<CloudConfig> Load(std::string_view text) {
    if (text.size() > kMaxFileBytes) {
      Error(1, "the file is larger than 1 MiB");
      return Failure();
    }
    const IniFile file = ParseIni(text);
    for (const IniError& error : file.errors) Error(error.line, error.message);
    for (const IniSection& section : file.sections) ReadSection(section);
    Complete();
    if (!errors_.empty()) return Failure();
    return std::move(config_);
  }

 private:
  void Error(int line, std::string message) { errors_.emplace_back(line, std::move(message)); }

  void ReadSection(const IniSection& section) {
    std::vector<std::string> names;
    for (const SectionSchema& known : schema_) {
      names.push_back(known.name);
      if (!EqualsIgnoreCase(known.name, section.name)) continue;
      lines_[known.name] = section.line;
      for (const IniEntry& entry : section.entries) ReadKey(known, entry);
      return;
    }
    if (!LooksLikeKeyName(section.name)) return;  // already reported
    Error(section.line, "unknown section [" + section.name + "]; known are " + Join(names, ", ") +
                            DidYouMean(section.name, names));
  }

  void ReadKey(const SectionSchema& section, const IniEntry& entry) {
    std::vector<std::string> names;
    for (const auto& [name, set] : section.keys) {
      names.push_back(name);
      if (!EqualsIgnoreCase(name, entry.key)) continue;
      if (section.name == "Global") seen_[name] = entry.line;
      if (IsSecret(name)) redactor_.Add(std::string(TrimSpace(entry.value)));
      const std::string error = set(config_, entry.value);
      if (!error.empty()) Error(entry.line, std::string(name).append(" ").append(error));
      if (section.name != "Global") config_.sections[section.name][name] = entry.value;
      return;
    }
    Error(entry.line, "unknown key " + entry.key + " in [" + section.name + "]" +
                          (names.size() <= 30 ? "; known are " + Join(names, ", ") : "") +
                          DidYouMean(entry.key, names));
  }

  int Seen(const std::string& key) const {
    const auto found = seen_.find(key);
    return found == seen_.end() ? 0 : found->second;
  }

  // Required keys and defaults; silent about what was present but wrong.
  void Complete() {
    const auto global = lines_.find("Global");
    const int line = global == lines_.end() ? 1 : global->second;
    if (global == lines_.end()) Error(line, "section [Global] is missing");
    for (const char* key : {"access-key", "secret-key"}) {
      if (Seen(key) == 0) Error(line, std::string(key) + " is missing in [Global]");
    }
    if (Seen("region") == 0 && Seen("project-name") == 0) {
      Error(line,
            "region and project-name are both missing in [Global]; give at least one of them, as "
            "in region = eu-de");
    } else if (Seen("region") == 0 && !config_.project_name.empty()) {
      config_.region = config_.project_name.substr(0, config_.project_name.find('_'));
      if (config_.region.empty() ||
          !std::all_of(config_.region.begin(), config_.region.end(), IsRegionChar)) {
        Error(Seen("project-name"), "project-name has the value " +
                                        JsonQuote(config_.project_name) +
                                        ", which does not begin with a region (as in eu-de_prod); "
                                        "add the key region");
      }
    } else if (Seen("project-name") == 0) {
      config_.project_name = config_.region;
    }
  }

  Status Failure() {
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    std::string text;
    for (const auto& [line, message] : errors_) {
      if (!text.empty()) text += '\n';
      text += file_name_ + ":" + std::to_string(line) + ": " + redactor_.Redact(message);
    }
    return Status(Code::kInvalidArgument, "BadCloudConfig", text);
  }

  const std::string file_name_;
  const std::vector<SectionSchema> schema_ = MakeSchema();
  CloudConfig config_;
  std::vector<std::pair<int, std::string>> errors_;
  std::map<std::string, int> lines_;  // of known sections
  std::map<std::string, int> seen_;   // of keys in [Global]
  // A last net: a key pasted as the value of another setting is not shown either.
  SecretRedactor redactor_;
};

}  // namespace

const std::vector<std::string>& KnownServices() {
  static const std::vector<std::string> services = {
      "as",  "cce", "ces", "cts", "dcs",   "dds", "dms",     "dns", "ecs",
      "elb", "evs", "iam", "ims", "kms",   "lts", "nat",     "obs", "rds",
      "sfs", "smn", "swr", "vpc", "vpcep", "waf", "metadata"};
  return services;
}

void CloudConfig::RegisterSecrets(SecretRedactor& redactor) const {
  redactor.Add(credentials.access_key);
  redactor.Add(credentials.secret_key);
  redactor.Add(credentials.security_token);
}

Result<CloudConfig> ParseCloudConfig(std::string_view text, const std::string& file_name) {
  return Loader(file_name).Load(text);
}

Result<CloudConfig> LoadCloudConfig(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  // A directory opens but does not read; an empty file reads nothing and is fine.
  if (file.is_open() && file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || text.bad()) {
    return Status(Code::kNotFound, "NoCloudConfig",
                  "cannot read the cloud configuration " + JsonQuote(path) +
                      "; mount it or name another file with --cloud-config");
  }
  return ParseCloudConfig(text.str(), path);
}

}  // namespace otc::host::cloud
