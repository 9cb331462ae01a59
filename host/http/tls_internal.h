// What tls_context.cc and connection.cc share. Poco's TLS headers: include in
// those two files only.
#ifndef OTC_HOST_HTTP_TLS_INTERNAL_H_
#define OTC_HOST_HTTP_TLS_INTERNAL_H_

#include <Poco/Net/Context.h>

#include <string>

namespace otc::host::http {

struct TlsContext {
  Poco::Net::Context::Ptr context;
  std::string server_name;  // empty: the origin's host
  bool verify = true;
};

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_TLS_INTERNAL_H_
