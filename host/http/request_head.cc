#include "host/http/request_head.h"

#include <algorithm>
#include <array>
#include <vector>

#include "host/base/strings.h"

namespace otc::host::http {
namespace {

bool IsTokenChar(char c) {
  if ((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenChar);
}

bool IsPrintableAscii(char c) { return c > 0x20 && c < 0x7f; }

bool IsFieldValueChar(char c) {
  return c == '\t' || static_cast<unsigned char>(c) >= 0x80 || (c >= 0x20 && c < 0x7f);
}

bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), IsFieldValueChar);
}

bool BelongsToClient(std::string_view name) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "host", "content-length", "connection", "transfer-encoding", "expect", "upgrade", "te"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view own) { return EqualsIgnoreCase(own, name); });
}

}  // namespace

Status CheckRequest(const Request& request) {
  std::vector<std::string> errors;
  if (!IsToken(request.method)) {
    errors.push_back("method " + JsonQuote(request.method) + " is not a token");
  }
  if (request.target.empty() || request.target.front() != '/' ||
      !std::all_of(request.target.begin(), request.target.end(), IsPrintableAscii)) {
    errors.push_back("target " + JsonQuote(request.target) +
                     " is not an absolute path of printable ASCII; percent-encode the rest");
  }
  if (!std::all_of(request.host_header.begin(), request.host_header.end(), IsPrintableAscii)) {
    errors.push_back("host header " + JsonQuote(request.host_header) +
                     " holds a blank, control or non-ASCII character");
  }
  for (const auto& header : request.headers) {
    if (!IsToken(header.name)) {
      errors.push_back("header name " + JsonQuote(header.name) + " is not a token");
    } else if (BelongsToClient(header.name)) {
      errors.push_back("header " + header.name + " is set by the HTTP client itself");
    }
    if (!IsFieldValue(header.value)) {
      errors.push_back("the value of header " + JsonQuote(header.name) +
                       " holds a control character");
    }
  }
  if (errors.empty()) return Status::Ok();
  return Status(Code::kInvalidArgument, "BadRequest", Join(errors, "; "));
}

std::string RequestHead(const Request& request, const std::string& user_agent, bool close) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\nHost: ";
  head += request.host_header.empty() ? request.origin.HostHeader() : request.host_header;
  head += "\r\n";
  bool has_user_agent = false;
  for (const auto& header : request.headers) {
    has_user_agent = has_user_agent || EqualsIgnoreCase(header.name, "user-agent");
    head += header.name + ": " + header.value + "\r\n";
  }
  if (!has_user_agent && !user_agent.empty()) head += "User-Agent: " + user_agent + "\r\n";
  head += "Content-Length: " + std::to_string(request.body.size()) + "\r\n";
  if (close) head += "Connection: close\r\n";
  return head + "\r\n";
}

}  // namespace otc::host::http
