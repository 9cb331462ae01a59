// MakeClient with the name look-up replaced, for tests: names lead to loopback
// addresses, or to a look-up that never ends.
#ifndef OTC_HOST_HTTP_CLIENT_IMPL_H_
#define OTC_HOST_HTTP_CLIENT_IMPL_H_

#include <memory>

#include "host/http/client.h"
#include "host/http/resolver.h"

namespace otc::host::http {

Result<std::unique_ptr<Client>> MakeClientWithLookup(ClientOptions options, Clock& clock,
                                                     Resolver::Lookup lookup);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_CLIENT_IMPL_H_
