// For the simulator's own tests: a client that signs as the host does, sees
// broken deliveries as they are, and a look into JSON that tells "2" from 2.
#ifndef OTC_TESTS_SIM_OTC_TEST_CLIENT_H_
#define OTC_TESTS_SIM_OTC_TEST_CLIENT_H_

#include <map>
#include <string>
#include <vector>

#include "host/cloud/signer.h"
#include "tests/sim/otc/identity.h"

namespace otc::sim {

struct Answer {
  int status = 0;  // 0: the connection ended without a readable status line
  std::map<std::string, std::string> headers;  // names in lower case
  std::string body;
  std::string raw;
  bool timed_out = false;

  // The value at "servers.0.flavor.vcpus" as JSON text, so strings carry their
  // quotes; "(absent)" if there is none, "(no json)" if the body is not JSON.
  std::string At(const std::string& path) const;
  // How many elements the list or members the object at `path` has.
  std::size_t SizeOf(const std::string& path) const;
};

struct TestClient {
  host::cloud::Credentials credentials{kAccessKey, kSecretKey, ""};
  host::cloud::SignForm form = host::cloud::SignForm::kCredential;
  std::string project_id = kProjectId;      // X-Project-Id; empty: not sent
  std::vector<host::http::Header> headers;  // signed and sent
  std::string token;                        // X-Auth-Token instead of a signature
  bool sign = true;
  std::int64_t skew_s = 0;  // of the client's clock
  const host::Clock* clock = nullptr;
  int timeout_ms = 5000;

  // `url` as a service gives it plus path and query.
  Answer Call(const std::string& method, const std::string& url,
              const std::string& body = "") const;
  Answer Get(const std::string& url) const { return Call("GET", url); }
};

// Sends the bytes (and, if told so, closes its sending half), reads until the end
// or the time-out.
Answer Exchange(const std::string& host, std::uint16_t port, const std::string& bytes,
                int timeout_ms, bool half_close = false);

}  // namespace otc::sim

#endif  // OTC_TESTS_SIM_OTC_TEST_CLIENT_H_
