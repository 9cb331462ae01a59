#include "tests/sim/otc/test_client.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Parser.h>
#include <Poco/Net/NetException.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>

#include "host/base/strings.h"
#include "tests/sim/otc/json.h"

namespace otc::sim {
namespace {

using Poco::Dynamic::Var;

Var Descend(const std::string& body, const std::string& path) {
  Var node = Poco::JSON::Parser().parse(body);
  if (path.empty()) return node;
  for (const std::string& part : host::Split(path, '.')) {
    if (node.type() == typeid(Poco::JSON::Array::Ptr)) {
      node = node.extract<Poco::JSON::Array::Ptr>()->get(std::stoul(part));
    } else if (node.type() == typeid(Poco::JSON::Object::Ptr)) {
      const auto object = node.extract<Poco::JSON::Object::Ptr>();
      if (!object->has(part)) throw Poco::NotFoundException(part);
      node = object->get(part);
    } else {
      throw Poco::NotFoundException(part);
    }
  }
  return node;
}

void ParseHead(Answer* answer) {
  const auto end = answer->raw.find("\r\n\r\n");
  if (answer->raw.rfind("HTTP/1.", 0) != 0 || end == std::string::npos) return;
  answer->body = answer->raw.substr(end + 4);
  const auto lines = host::Split(answer->raw.substr(0, end), '\n');
  answer->status = std::stoi(lines[0].substr(9, 3));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    const auto colon = lines[i].find(':');
    answer->headers[host::ToLower(lines[i].substr(0, colon))] =
        std::string(host::TrimSpace(lines[i].substr(colon + 1)));
  }
}

}  // namespace

std::string Answer::At(const std::string& path) const {
  try {
    return ToJsonText(Descend(body, path));
  } catch (const Poco::NotFoundException&) {
    return "(absent)";
  } catch (const Poco::RangeException&) {
    return "(absent)";
  } catch (const Poco::Exception&) {
    return "(no json)";
  }
}

std::size_t Answer::SizeOf(const std::string& path) const {
  const Var node = Descend(body, path);
  if (node.type() == typeid(Poco::JSON::Array::Ptr)) {
    return node.extract<Poco::JSON::Array::Ptr>()->size();
  }
  return node.extract<Poco::JSON::Object::Ptr>()->size();
}

Answer Exchange(const std::string& host, std::uint16_t port, const std::string& bytes,
                int timeout_ms, bool half_close) {
  Answer answer;
  try {
    Poco::Net::StreamSocket socket(Poco::Net::SocketAddress(host, port));
    socket.setReceiveTimeout(Poco::Timespan(Poco::Timespan::TimeDiff{timeout_ms} * 1000));
    std::size_t sent = 0;
    while (sent < bytes.size()) {
      sent += static_cast<std::size_t>(
          socket.sendBytes(bytes.data() + sent, static_cast<int>(bytes.size() - sent)));
    }
    if (half_close) socket.shutdownSend();
    char buffer[65536];
    for (int got = socket.receiveBytes(buffer, sizeof buffer); got > 0;
         got = socket.receiveBytes(buffer, sizeof buffer)) {
      answer.raw.append(buffer, static_cast<std::size_t>(got));
    }
  } catch (const Poco::TimeoutException&) {
    answer.timed_out = true;
  } catch (const Poco::Net::NetException&) {
    // Reset by the peer: what came before is the answer.
  }
  ParseHead(&answer);
  return answer;
}

Answer TestClient::Call(const std::string& method, const std::string& url,
                        const std::string& body) const {
  const std::string rest = url.substr(std::string("http://").size());
  const std::string authority = rest.substr(0, rest.find('/'));
  const auto slash = rest.find('/');
  const std::string target = slash == std::string::npos ? "/" : rest.substr(slash);
  std::vector<host::http::Header> all = headers;
  if (!project_id.empty()) all.push_back({"X-Project-Id", project_id});
  if (!body.empty()) all.push_back({"Content-Type", "application/json"});
  if (!token.empty()) {
    all.push_back({"X-Auth-Token", token});
  } else if (sign) {
    const host::SystemClock system;
    const auto now = (clock != nullptr ? clock : &system)->Wall() + std::chrono::seconds(skew_s);
    const host::cloud::Signer signer(credentials, form);
    for (const auto& header : signer.Sign(method, target, authority, all, body, now)) {
      all.push_back(header);
    }
  }
  std::string bytes = method + " " + target + " HTTP/1.1\r\nHost: " + authority +
                      "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
                      "\r\n";
  for (const auto& header : all) bytes += header.name + ": " + header.value + "\r\n";
  const auto colon = authority.rfind(':');
  return Exchange(authority.substr(0, colon),
                  static_cast<std::uint16_t>(std::stoul(authority.substr(colon + 1))),
                  bytes + "\r\n" + body, timeout_ms);
}

}  // namespace otc::sim
