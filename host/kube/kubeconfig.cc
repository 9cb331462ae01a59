// kubeconfig files: merging, the current context, and what it uses.
#include <Poco/Base64Decoder.h>
#include <Poco/Exception.h>

#include <list>
#include <map>
#include <sstream>

#include "host/base/files.h"
#include "host/base/strings.h"
#include "host/kube/config.h"
#include "host/plugin/yaml_document.h"

namespace otc::host::kube {
namespace {

using plugin_host::ParseYaml;
using plugin_host::ScalarType;
using plugin_host::YamlDocument;
using plugin_host::YamlEntry;
using plugin_host::YamlNode;
using plugin_host::YamlPosition;
using plugin_host::YamlType;

struct File {
  std::string path;
  std::string directory;  // ends with '/'; empty: the working directory
  YamlDocument document;
};

// A mapping (null: empty), and the file whose folder its relative paths start from.
struct Place {
  const File* file = nullptr;
  const YamlNode* node = nullptr;

  YamlPosition at() const { return node == nullptr ? YamlPosition{} : node->at; }
};

std::optional<std::string> DecodeBase64(const std::string& text) {
  std::istringstream in(text);
  try {
    Poco::Base64Decoder decoder(in);
    std::string out((std::istreambuf_iterator<char>(decoder)), std::istreambuf_iterator<char>());
    if (decoder.bad()) return std::nullopt;
    return out;
  } catch (const Poco::Exception&) {
    return std::nullopt;
  }
}

class Reader {
 public:
  Status Read(const std::vector<std::string>& paths);
  Result<KubeConfig> Resolve();

 private:
  using Entries = std::map<std::string, Place>;

  void Problem(const File& file, YamlPosition at, const std::string& text);
  Status Failure() const;
  const YamlNode* Find(const Place& place, const std::string& key) const;
  std::string Text(const Place& place, const std::string& key);
  bool Flag(const Place& place, const std::string& key);
  std::string Path(const Place& place, const std::string& key);
  std::string Data(const Place& place, const std::string& key);
  void Collect(const File& file, const std::string& list, const std::string& element,
               Entries* entries);
  Place Named(const Entries& entries, const std::string& kind, const std::string& name,
              const Place& named_by);
  void UseCluster(const Place& cluster, KubeConfig* config);
  void UseUser(const Place& user, KubeConfig* config);
  void RefuseUnsupported(const Place& user);

  std::list<File> files_;  // entries point into it
  Entries clusters_;
  Entries users_;
  Entries contexts_;
  std::string current_context_;
  Place current_context_at_;
  std::vector<std::string> problems_;
};

void Reader::Problem(const File& file, YamlPosition at, const std::string& text) {
  problems_.push_back(file.path + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                      ": " + text);
}

Status Reader::Failure() const {
  return Status(Code::kInvalidArgument, "BadKubeconfig", Join(problems_, "; "));
}

Status Reader::Read(const std::vector<std::string>& paths) {
  std::vector<std::string> missing;
  for (const std::string& path : paths) {
    Result<std::string> content = ReadSmallFile(path);
    if (content.status().code() == Code::kNotFound) {
      missing.push_back(path);
      continue;
    }
    if (!content.ok()) {
      problems_.push_back(content.status().message());
      continue;
    }
    const std::size_t slash = path.rfind('/');
    files_.push_back({path, slash == std::string::npos ? "" : path.substr(0, slash + 1),
                      ParseYaml(content.value())});
  }
  if (files_.empty() && problems_.empty()) {
    return Status(Code::kNotFound, "FileMissing",
                  paths.empty() ? "no kubeconfig is named and HOME is not set"
                                : "no such kubeconfig: " + Join(missing, ", "));
  }
  if (!files_.empty()) current_context_at_.file = &files_.front();
  for (const File& file : files_) {
    for (const auto& problem : file.document.problems) Problem(file, problem.at, problem.text);
    if (!file.document.root) continue;
    const Place root{&file, &*file.document.root};
    if (root.node->kind != YamlNode::Kind::kMapping) {
      Problem(file, root.node->at, "a kubeconfig must be a mapping with clusters, users, contexts");
      continue;
    }
    Collect(file, "clusters", "cluster", &clusters_);
    Collect(file, "users", "user", &users_);
    Collect(file, "contexts", "context", &contexts_);
    if (current_context_.empty()) {
      current_context_ = Text(root, "current-context");
      const YamlNode* node = Find(root, "current-context");
      current_context_at_ = {&file, node == nullptr ? root.node : node};
    }
  }
  return problems_.empty() ? Status::Ok() : Failure();
}

void Reader::Collect(const File& file, const std::string& list, const std::string& element,
                     Entries* entries) {
  const YamlNode* node = Find({&file, &*file.document.root}, list);
  if (node == nullptr) return;
  if (node->kind != YamlNode::Kind::kSequence) {
    if (node->kind != YamlNode::Kind::kScalar || ScalarType(*node) != YamlType::kNull) {
      Problem(file, node->at, list + " must be a list");
    }
    return;
  }
  for (const YamlNode& item : node->items) {
    const Place place{&file, &item};
    if (item.kind != YamlNode::Kind::kMapping) {
      Problem(file, item.at, "an entry of " + list + " must have the keys name and " + element);
      continue;
    }
    const std::string name = Text(place, "name");
    const YamlNode* body = Find(place, element);
    if (name.empty()) {
      Problem(file, item.at, "an entry of " + list + " has no name");
    } else if (body == nullptr || body->kind != YamlNode::Kind::kMapping) {
      // `user: {}` may also be written as an empty value.
      if (body != nullptr && body->kind == YamlNode::Kind::kScalar &&
          ScalarType(*body) == YamlType::kNull) {
        entries->emplace(name, Place{&file, nullptr});
      } else {
        Problem(file, item.at,
                list + " entry " + JsonQuote(name) + " must have a mapping under " + element);
      }
    } else {
      entries->emplace(name, Place{&file, body});
    }
  }
}

const YamlNode* Reader::Find(const Place& place, const std::string& key) const {
  if (place.node == nullptr || place.node->kind != YamlNode::Kind::kMapping) return nullptr;
  for (const YamlEntry& entry : place.node->entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

std::string Reader::Text(const Place& place, const std::string& key) {
  const YamlNode* node = Find(place, key);
  if (node == nullptr) return "";
  if (node->kind != YamlNode::Kind::kScalar) {
    Problem(*place.file, node->at, key + " must be a string");
    return "";
  }
  return ScalarType(*node) == YamlType::kNull ? "" : node->text;
}

bool Reader::Flag(const Place& place, const std::string& key) {
  const YamlNode* node = Find(place, key);
  if (node == nullptr) return false;
  if (node->kind != YamlNode::Kind::kScalar || ScalarType(*node) != YamlType::kBool) {
    Problem(*place.file, node->at, key + " must be true or false");
    return false;
  }
  return ToLower(node->text) == "true";
}

std::string Reader::Path(const Place& place, const std::string& key) {
  const std::string path = Text(place, key);
  return path.empty() || path.front() == '/' ? path : place.file->directory + path;
}

std::string Reader::Data(const Place& place, const std::string& key) {
  const std::string text = Text(place, key);
  if (text.empty()) return "";
  const auto decoded = DecodeBase64(text);
  if (!decoded || decoded->empty()) {
    Problem(*place.file, Find(place, key)->at, key + " must be base64 text");
    return "";
  }
  return *decoded;
}

Place Reader::Named(const Entries& entries, const std::string& kind, const std::string& name,
                    const Place& named_by) {
  const auto it = entries.find(name);
  if (it != entries.end()) return it->second;
  std::vector<std::string> known;
  for (const auto& [known_name, place] : entries) known.push_back(known_name);
  Problem(*named_by.file, named_by.at(),
          "there is no " + kind + " named " + JsonQuote(name) +
              "; there are: " + (known.empty() ? "none" : Join(known, ", ")));
  return {};
}

Result<KubeConfig> Reader::Resolve() {
  if (current_context_.empty()) {
    Problem(*current_context_at_.file, current_context_at_.at(),
            "current-context is not set; name one of the contexts");
    return Failure();
  }
  const Place context = Named(contexts_, "context", current_context_, current_context_at_);
  if (context.node == nullptr) {
    if (problems_.empty()) {
      Problem(*current_context_at_.file, current_context_at_.at(),
              "context " + JsonQuote(current_context_) + " is empty; it must name a cluster");
    }
    return Failure();
  }
  KubeConfig config;
  config.source =
      "kubeconfig " + context.file->path + " (context " + JsonQuote(current_context_) + ")";
  config.namespace_ = Text(context, "namespace");
  if (config.namespace_.empty()) config.namespace_ = "default";

  const std::string user_name = Text(context, "user");
  if (!user_name.empty()) UseUser(Named(users_, "user", user_name, context), &config);
  const std::string cluster_name = Text(context, "cluster");
  if (cluster_name.empty()) {
    Problem(*context.file, context.node->at,
            "context " + JsonQuote(current_context_) + " names no cluster");
  } else {
    UseCluster(Named(clusters_, "cluster", cluster_name, context), &config);
  }
  if (!problems_.empty()) return Failure();
  if (!config.server.origin.tls) {
    if (!config.token.empty() || !config.token_file.empty() || !config.username.empty()) {
      config.warnings.push_back("the server is not https, so the user's credentials are not sent");
    }
    config.token.clear();
    config.token_file.clear();
    config.username.clear();
    config.password.clear();
  }
  return config;
}

void Reader::UseCluster(const Place& cluster, KubeConfig* config) {
  if (cluster.file == nullptr) return;
  const YamlPosition at = cluster.at();
  config->ca_pem = Data(cluster, "certificate-authority-data");
  if (config->ca_pem.empty()) config->ca_file = Path(cluster, "certificate-authority");
  config->tls_server_name = Text(cluster, "tls-server-name");
  config->insecure = Flag(cluster, "insecure-skip-tls-verify");
  if (config->insecure && (!config->ca_pem.empty() || !config->ca_file.empty())) {
    Problem(*cluster.file, at,
            "insecure-skip-tls-verify and a certificate authority exclude each other");
  }
  if (!Text(cluster, "proxy-url").empty()) {
    Problem(*cluster.file, Find(cluster, "proxy-url")->at,
            "proxy-url is not supported; reach the API server directly");
  }
  const std::string server = Text(cluster, "server");
  if (server.empty()) {
    Problem(*cluster.file, at, "the cluster has no server");
    return;
  }
  const bool tls = config->insecure || !config->ca_pem.empty() || !config->ca_file.empty() ||
                   !config->client_cert_pem.empty() || !config->client_cert_file.empty();
  Result<http::BaseUrl> parsed = ParseServer(server, tls);
  if (parsed.ok()) {
    config->server = std::move(parsed).value();
  } else {
    Problem(*cluster.file, Find(cluster, "server")->at, "server: " + parsed.status().message());
  }
}

void Reader::UseUser(const Place& user, KubeConfig* config) {
  if (user.node == nullptr) return;  // a user without credentials
  config->client_cert_pem = Data(user, "client-certificate-data");
  if (config->client_cert_pem.empty()) config->client_cert_file = Path(user, "client-certificate");
  config->client_key_pem = Data(user, "client-key-data");
  if (config->client_key_pem.empty()) config->client_key_file = Path(user, "client-key");
  const bool has_cert = !config->client_cert_pem.empty() || !config->client_cert_file.empty();
  const bool has_key = !config->client_key_pem.empty() || !config->client_key_file.empty();
  if (has_cert != has_key) {
    Problem(*user.file, user.node->at,
            has_cert ? "the user has a client certificate but no client key"
                     : "the user has a client key but no client certificate");
  }
  config->token = Text(user, "token");
  config->token_file = Path(user, "tokenFile");
  config->username = Text(user, "username");
  config->password = Text(user, "password");
  if (!config->username.empty() && (!config->token.empty() || !config->token_file.empty())) {
    Problem(*user.file, user.node->at, "a token and a username exclude each other");
  }
  const bool explicit_credentials = has_cert || !config->token.empty() ||
                                    !config->token_file.empty() || !config->username.empty();
  if (Find(user, "exec") != nullptr && !explicit_credentials) {
    Problem(*user.file, Find(user, "exec")->at,
            "credential plugins (exec) are not supported yet; use a token, a tokenFile or a client "
            "certificate");
  }
  RefuseUnsupported(user);
}

void Reader::RefuseUnsupported(const Place& user) {
  for (const char* key : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (Find(user, key) == nullptr) continue;
    Problem(*user.file, Find(user, key)->at,
            std::string("impersonation (") + key + ") is not supported");
  }
  if (Find(user, "auth-provider") != nullptr) {
    Problem(*user.file, Find(user, "auth-provider")->at,
            "auth-provider was removed from Kubernetes; use a token or a client certificate");
  }
}

}  // namespace

Result<KubeConfig> LoadKubeconfigFiles(const std::vector<std::string>& paths) {
  Reader reader;
  OTC_RETURN_IF_ERROR(reader.Read(paths));
  return reader.Resolve();
}

}  // namespace otc::host::kube
