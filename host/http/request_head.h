// The head of a request as it goes on the wire. Pure, thread-safe.
#ifndef OTC_HOST_HTTP_REQUEST_HEAD_H_
#define OTC_HOST_HTTP_REQUEST_HEAD_H_

#include <string>

#include "host/http/client.h"

namespace otc::host::http {

// INVALID_ARGUMENT "BadRequest" with everything that is wrong: a method or header
// name that is no token, a target that is no absolute path of printable ASCII, a
// header value with a control character (CR, LF and NUL would start a header of
// the attacker's choice), a header that belongs to the client. Values are not
// repeated: they may be secret.
Status CheckRequest(const Request& request);

// Request line and headers, the empty line included. Content-Length is always
// there; `close` announces that no other request follows.
std::string RequestHead(const Request& request, const std::string& user_agent, bool close);

}  // namespace otc::host::http

#endif  // OTC_HOST_HTTP_REQUEST_HEAD_H_
