#include "sdk/harness/http_once.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>

namespace otc::harness {
namespace {

constexpr std::size_t kMaxAnswer = 64u << 20;

bool ParseUrl(std::string_view url, sockaddr_in* out, std::string* authority) {
  constexpr std::string_view kScheme = "http://";
  if (url.substr(0, kScheme.size()) != kScheme) return false;
  url.remove_prefix(kScheme.size());
  if (!url.empty() && url.back() == '/') url.remove_suffix(1);
  const std::size_t colon = url.rfind(':');
  if (colon == std::string_view::npos) return false;
  std::uint16_t port = 0;
  const std::string_view digits = url.substr(colon + 1);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) return false;
  *out = sockaddr_in{};
  out->sin_family = AF_INET;
  out->sin_port = htons(port);
  *authority = url;
  return inet_pton(AF_INET, std::string(url.substr(0, colon)).c_str(), &out->sin_addr) == 1;
}

bool SendAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

// Everything until the peer closes; an error or the time limit ends it too.
std::string ReceiveAll(int fd) {
  std::string out;
  char buffer[16384];
  while (out.size() < kMaxAnswer) {
    const ssize_t size = recv(fd, buffer, sizeof(buffer), 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) break;
    out.append(buffer, static_cast<std::size_t>(size));
  }
  return out;
}

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

HttpAnswer Unclear(std::string problem) {
  HttpAnswer answer;
  answer.kind = HttpAnswer::Kind::kUnclear;
  answer.problem = std::move(problem);
  return answer;
}

HttpAnswer ParseAnswer(std::string_view text) {
  const std::size_t head_end = text.find("\r\n\r\n");
  if (head_end == std::string_view::npos || text.substr(0, 7) != "HTTP/1." || text.size() < 12) {
    return Unclear("the connection ended before a whole answer came");
  }
  HttpAnswer answer;
  answer.kind = HttpAnswer::Kind::kAnswered;
  std::from_chars(text.data() + 9, text.data() + 12, answer.status);
  std::string_view head = text.substr(0, head_end);
  for (std::size_t end = head.find("\r\n"); end != std::string_view::npos;) {
    head.remove_prefix(end + 2);
    end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    std::string_view value = line.substr(colon + 1);
    while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
    answer.headers[Lower(line.substr(0, colon))] = value;
  }
  answer.body = text.substr(head_end + 4);
  if (answer.headers.count("transfer-encoding") != 0) return Unclear("a chunked answer");
  const auto length = answer.headers.find("content-length");
  if (length != answer.headers.end() && length->second != std::to_string(answer.body.size())) {
    return Unclear("a truncated answer");
  }
  return answer;
}

}  // namespace

HttpAnswer HttpOnce(const std::string& base_url, const std::string& method,
                    const std::string& target, const std::map<std::string, std::string>& headers,
                    const std::string& body) {
  HttpAnswer answer;
  sockaddr_in address;
  std::string authority;
  if (!ParseUrl(base_url, &address, &authority)) {
    answer.problem = "not a URL of the form http://<IPv4 address>:<port>: " + base_url;
    return answer;
  }
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval limit{5, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    answer.problem = "connect to " + authority + ": " + std::strerror(errno);
    close(fd);
    return answer;
  }
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: " + authority +
                     "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                     "\r\n";
  for (const auto& [name, value] : headers) text += name + ": " + value + "\r\n";
  text += "\r\n" + body;
  answer = SendAll(fd, text) ? ParseAnswer(ReceiveAll(fd)) : Unclear("the request broke off");
  close(fd);
  return answer;
}

}  // namespace otc::harness
