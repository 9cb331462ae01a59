#include "tests/sim/kube/http_message.h"

namespace otc::kubesim {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

std::string HttpRequest::Query(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) {
      return value;
    }
  }
  return "";
}

bool HttpRequest::HasQuery(std::string_view name) const {
  for (const auto& [key, value] : query) {
    if (key == name) {
      return true;
    }
  }
  return false;
}

std::string HttpRequest::Header(const std::string& lower_case_name) const {
  const auto found = headers.find(lower_case_name);
  return found == headers.end() ? "" : found->second;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || HexDigit(text[i + 1]) < 0 || HexDigit(text[i + 2]) < 0) {
        return std::nullopt;
      }
      out.push_back(static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i] == '+' && plus_is_blank ? ' ' : text[i]);
    }
  }
  return out;
}

std::string PercentEncode(std::string_view text) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      out.push_back(c);
    } else {
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

bool SplitTarget(HttpRequest& request) {
  const std::string_view target = request.target;
  const std::size_t question = target.find('?');
  const auto path = PercentDecode(target.substr(0, question), false);
  if (!path) {
    return false;
  }
  request.path = *path;
  request.query.clear();
  if (question == std::string_view::npos) {
    return true;
  }
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::size_t ampersand = rest.find('&');
    const std::string_view pair = rest.substr(0, ampersand);
    rest = ampersand == std::string_view::npos ? "" : rest.substr(ampersand + 1);
    if (pair.empty()) {
      continue;
    }
    const std::size_t equals = pair.find('=');
    const auto key = PercentDecode(pair.substr(0, equals), true);
    const auto value = equals == std::string_view::npos
                           ? std::optional<std::string>("")
                           : PercentDecode(pair.substr(equals + 1), true);
    if (!key || !value) {
      return false;
    }
    request.query.emplace_back(*key, *value);
  }
  return true;
}

const char* ReasonPhrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Request Entity Too Large";
    case 415:
      return "Unsupported Media Type";
    case 422:
      return "Unprocessable Entity";
    case 429:
      return "Too Many Requests";
    case 500:
      return "Internal Server Error";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

}  // namespace otc::kubesim
