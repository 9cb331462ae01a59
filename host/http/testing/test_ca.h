// TestCa: a certificate authority made for one test, by the OpenSSL API.
//
// Keys are EC P-256 (fast to make). Failure aborts: it is a test's own ground.
#ifndef OTC_HOST_HTTP_TESTING_TEST_CA_H_
#define OTC_HOST_HTTP_TESTING_TEST_CA_H_

#include <memory>
#include <string>
#include <vector>

namespace otc::host::http::testing {

struct Identity {
  std::string cert_pem;
  std::string key_pem;
};

struct IdentityOptions {
  // Names and IP addresses of the subjectAltName.
  std::vector<std::string> names = {"localhost", "127.0.0.1", "::1"};
  long not_before_seconds = -3600;  // relative to now
  long not_after_seconds = 3600;
};

class TestCa {
 public:
  explicit TestCa(const std::string& common_name = "test CA");
  ~TestCa();
  TestCa(const TestCa&) = delete;
  TestCa& operator=(const TestCa&) = delete;

  const std::string& cert_pem() const;
  // A certificate good for servers and clients alike.
  Identity Issue(const IdentityOptions& options = {}) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace otc::host::http::testing

#endif  // OTC_HOST_HTTP_TESTING_TEST_CA_H_
