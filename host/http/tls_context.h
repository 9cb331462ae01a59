// TlsContext: TlsOptions turned into one explicit Poco context.
//
// TLS 1.2 or newer, chain and name always verified (VERIFY_STRICT, loopback
// included) unless insecure_skip_verify says otherwise. With a CA given, only that
// CA is trusted. Certificates and keys never touch the file system. Built once,
// then shared by all connections of a Client; immutable, thread-safe.
#ifndef OTC_HOST_HTTP_TLS_CONTEXT_H_
#define OTC_HOST_HTTP_TLS_CONTEXT_H_

#include <memory>
#include <string>

#include "host/http/client.h"

namespace otc::host::http {

struct TlsContext;  // holds the Poco context; defined in tls_internal.h

// INVALID_ARGUMENT "BadTls": every part that cannot be used, and why.
Result<std::shared_ptr<const TlsContext>> MakeTlsContext(const TlsOptions& options);

// Why the last chain verification on this thread failed ("certificate has
// expired"), or "". Handshakes run on the calling thread.
std::string TakeVerifyError();

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_TLS_CONTEXT_H_
