// kubeconfig: any bytes. What is accepted names a server and at most one kind of
// credential; what is refused says why, and never with a credential.
// FUZZ_DEPS: otc_kube
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "host/kube/config.h"

namespace {

using namespace otc;
using namespace otc::host::kube;

void Require(bool holds) {
  if (!holds) std::abort();
}

std::string PathOfThisProcess() { return "/tmp/kubeconfig_fuzz." + std::to_string(getpid()); }

// Removes the file when the process ends.
struct Cleaner {
  ~Cleaner() { std::remove(PathOfThisProcess().c_str()); }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Cleaner cleaner;
  const std::string path = PathOfThisProcess();
  std::FILE* file = std::fopen(path.c_str(), "wb");
  Require(file != nullptr);
  Require(std::fwrite(data, 1, size, file) == size);
  Require(std::fclose(file) == 0);
  const Result<KubeConfig> config = LoadKubeconfigFiles({path});
  if (!config.ok()) {
    Require(!config.status().message().empty());
    // Corpus files mark their credentials with this word.
    Require(config.status().message().find("S3CRET") == std::string::npos);
    return 0;
  }
  Require(!config->server.origin.host.empty());
  Require(config->username.empty() || (config->token.empty() && config->token_file.empty()));
  Require(!config->insecure || (config->ca_pem.empty() && config->ca_file.empty()));
  return 0;
}
