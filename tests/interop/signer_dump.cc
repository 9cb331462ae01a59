// otc-signer-dump VECTORS.json: what our signer makes of each request of the
// file, one JSON object a line, so that official signers can be held against it:
//   {"number":1,"canonical":"…","credential":"SDK-HMAC-SHA256 …","access":"…"}
#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "host/base/strings.h"
#include "host/cloud/signer.h"
#include "tests/sim/otc/json.h"
#include "tests/sim/otc/signature.h"

namespace otc::interop {
namespace {

using host::cloud::SignForm;
using host::http::Header;
using Poco::JSON::Array;
using Poco::JSON::Object;

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

// The header of the real Signer; empty for requests that leave Host unsigned,
// which it never does.
std::string Authorization(const Object& vector, const std::vector<Header>& headers,
                          const std::string& host, const std::string& body, SignForm form) {
  if (host.empty()) return "";
  const auto date = sim::ParseSdkDate(vector.getValue<std::string>("date"));
  const bool credential = form == SignForm::kCredential;
  const host::cloud::Signer signer(
      {vector.getValue<std::string>("ak"), vector.getValue<std::string>("sk"), ""}, form,
      credential ? vector.getValue<std::string>("region") : "",
      credential ? vector.getValue<std::string>("service") : "");
  const auto added =
      signer.Sign(vector.getValue<std::string>("method"), vector.getValue<std::string>("target"),
                  host, headers, body, date.value());
  return added.back().value;
}

void Dump(const Object& vector) {
  std::vector<Header> headers, canonical_headers;
  std::string host;
  const Array::Ptr listed = vector.getArray("signed_headers");
  for (const auto& item : *listed) {
    const auto& pair = item.extract<Array::Ptr>();
    const Header header{pair->getElement<std::string>(0), pair->getElement<std::string>(1)};
    canonical_headers.push_back(header);
    if (host::EqualsIgnoreCase(header.name, "host")) {
      host = header.value;
    } else {
      headers.push_back(header);
    }
  }
  canonical_headers.push_back({"X-Sdk-Date", vector.getValue<std::string>("date")});
  const std::string body = FromHex(vector.getValue<std::string>("body_hex"));
  const auto canonical =
      host::cloud::Canonicalise(vector.getValue<std::string>("method"),
                                vector.getValue<std::string>("target"), canonical_headers, body);
  sim::JsonWriter json;
  json.BeginObject().Field("number", std::int64_t{vector.getValue<int>("number")});
  json.Field("canonical", canonical.text);
  json.Field("credential", Authorization(vector, headers, host, body, SignForm::kCredential));
  json.Field("access", Authorization(vector, headers, host, body, SignForm::kAccess));
  json.EndObject();
  std::printf("%s\n", json.Take().c_str());
}

int Run(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    const auto vectors = Poco::JSON::Parser().parse(text.str()).extract<Array::Ptr>();
    for (const auto& item : *vectors) Dump(*item.extract<Object::Ptr>());
  } catch (const Poco::Exception& error) {
    std::fprintf(stderr, "otc-signer-dump: %s: %s\n", path, error.displayText().c_str());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace otc::interop

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: otc-signer-dump VECTORS.json\n");
    return 2;
  }
  return otc::interop::Run(argv[1]);
}
