#include "tests/sim/kube/testing/sim_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "host/base/strings.h"

namespace otc::kubesim {
namespace {

constexpr int kTimeoutMillis = 5000;

}  // namespace

Json SimResponse::json() const { return ParseJson(body).value_or(Json()); }

std::string SimResponse::reason() const { return TextAt(json(), {"reason"}); }

SimClient::SimClient(std::uint16_t port) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(fd_);
    fd_ = -1;
  }
}

SimClient::~SimClient() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

void SimClient::Send(const std::string& method, const std::string& target, const std::string& body,
                     const std::string& headers) {
  std::string text = method + " " + target + " HTTP/1.1\r\nHost: sim\r\nUser-Agent: sim-test/1\r\n";
  if (!headers.empty()) {
    text += headers + "\r\n";
  }
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t sent = send(fd_, rest.data(), rest.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return;  // the read that follows tells how it ended
    }
    rest.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool SimClient::Fill(int timeout_ms) {
  pollfd waiting = {fd_, POLLIN, 0};
  if (poll(&waiting, 1, timeout_ms) <= 0) {
    end_ = ReadEnd::kTimeout;
    return false;
  }
  char bytes[65536];
  const ssize_t got = recv(fd_, bytes, sizeof(bytes), 0);
  if (got <= 0) {
    end_ = got < 0 && errno == ECONNRESET ? ReadEnd::kReset : ReadEnd::kClosed;
    return false;
  }
  buffer_.append(bytes, static_cast<std::size_t>(got));
  return true;
}

SimResponse SimClient::ReadHead() {
  SimResponse response;
  std::size_t end = 0;
  while ((end = buffer_.find("\r\n\r\n")) == std::string::npos) {
    if (!Fill(kTimeoutMillis)) {
      response.end = end_;
      return response;
    }
  }
  const std::string head = buffer_.substr(0, end);
  buffer_.erase(0, end + 4);
  for (const std::string& raw : host::Split(head, '\n')) {
    const std::string line(host::TrimSpace(raw));
    const std::size_t colon = line.find(": ");
    if (line.rfind("HTTP/1.1 ", 0) == 0) {
      response.status = std::atoi(line.c_str() + 9);
    } else if (colon != std::string::npos) {
      response.headers[host::ToLower(line.substr(0, colon))] = line.substr(colon + 2);
    }
  }
  return response;
}

bool SimClient::TakeChunk(std::string& out, bool& last) {
  const std::size_t line = buffer_.find("\r\n");
  if (line == std::string::npos) {
    return false;
  }
  const std::size_t size = std::strtoul(buffer_.c_str(), nullptr, 16);
  if (buffer_.size() < line + 2 + size + 2) {
    return false;
  }
  out.append(buffer_, line + 2, size);
  buffer_.erase(0, line + 2 + size + 2);
  last = size == 0;
  return true;
}

SimResponse SimClient::Do(const std::string& method, const std::string& target,
                          const std::string& body, const std::string& headers) {
  Send(method, target, body, headers);
  SimResponse response = ReadHead();
  if (response.status == 0) {
    return response;
  }
  if (response.headers.count("transfer-encoding") != 0) {
    bool last = false;
    while (!last) {
      if (!TakeChunk(response.body, last) && !Fill(kTimeoutMillis)) {
        response.end = end_;
        return response;
      }
    }
    response.complete = true;
    return response;
  }
  const std::size_t length =
      host::ParseUint(response.headers["content-length"]).value_or(std::string::npos);
  while (buffer_.size() < length) {
    if (!Fill(kTimeoutMillis)) {
      response.end = end_;
      break;
    }
  }
  response.complete = buffer_.size() >= length;
  response.body = buffer_.substr(0, length);
  buffer_.erase(0, length);
  return response;
}

SimResponse SimClient::Post(const std::string& target, const Json& body) {
  return Do("POST", target, DumpJson(body), "Content-Type: application/json");
}

SimResponse SimClient::Put(const std::string& target, const Json& body) {
  return Do("PUT", target, DumpJson(body), "Content-Type: application/json");
}

SimResponse SimClient::Patch(const std::string& target, const std::string& kind,
                             const Json& patch) {
  const std::string type = kind == "merge"       ? "application/merge-patch+json"
                           : kind == "strategic" ? "application/strategic-merge-patch+json"
                                                 : "application/json-patch+json";
  return Do("PATCH", target, DumpJson(patch), "Content-Type: " + type);
}

SimResponse SimClient::Delete(const std::string& target, const Json& options) {
  return options.is_null()
             ? Do("DELETE", target)
             : Do("DELETE", target, DumpJson(options), "Content-Type: application/json");
}

std::optional<Json> SimClient::NextEvent(int timeout_ms) {
  for (;;) {
    const std::size_t line = stream_.find('\n');
    if (line != std::string::npos) {
      const std::optional<Json> event = ParseJson(stream_.substr(0, line));
      stream_.erase(0, line + 1);
      return event;
    }
    bool last = false;
    if (TakeChunk(stream_, last)) {
      if (last) {
        end_ = ReadEnd::kClosed;
        return std::nullopt;
      }
    } else if (!Fill(timeout_ms)) {
      return std::nullopt;
    }
  }
}

std::string SimClient::ReadSome(int timeout_ms) {
  if (buffer_.empty()) {
    Fill(timeout_ms);
  }
  std::string bytes;
  bytes.swap(buffer_);
  return bytes;
}

}  // namespace otc::kubesim
