// SimCloud against a server of this test that answers from a list.
#include "sdk/harness/sim_cloud.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace otc::harness {
namespace {

// Gives one answer a connection, in order, then stops listening.
class Server {
 public:
  explicit Server(std::vector<std::string> answers) : answers_(std::move(answers)) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { Run(); });
  }
  ~Server() { Join(); }

  const std::string& url() const { return url_; }
  // Call after the last answer; the requests as they came.
  std::vector<std::string> Join() {
    if (thread_.joinable()) {
      shutdown(fd_, SHUT_RDWR);  // ends a waiting accept
      thread_.join();
      close(fd_);
    }
    return requests_;
  }

 private:
  void Run() {
    for (const std::string& answer : answers_) {
      const int peer = accept(fd_, nullptr, nullptr);
      if (peer < 0) return;
      std::string request;
      char buffer[4096];
      while (request.find("\r\n\r\n") == std::string::npos) {
        const ssize_t size = recv(peer, buffer, sizeof(buffer), 0);
        if (size <= 0) break;
        request.append(buffer, static_cast<std::size_t>(size));
      }
      requests_.push_back(request);
      send(peer, answer.data(), answer.size(), MSG_NOSIGNAL);
      close(peer);
    }
  }

  std::vector<std::string> answers_;
  std::vector<std::string> requests_;
  std::string url_;
  int fd_ = -1;
  std::thread thread_;
};

std::string Http(const std::string& status, const std::string& body,
                 const std::string& headers = "") {
  return "HTTP/1.1 " + status + "\r\n" + headers +
         "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
}

const std::string kToken =
    Http("201 Created", R"({"token":{"project":{"id":"p1"}}})", "X-Subject-Token: token-1\r\n");

std::string StartLine(const std::string& url) {
  return R"({"urls":{"iam":")" + url + R"(","ecs":")" + url + R"("}})";
}

pb::CloudRequest Get(const std::string& path) {
  pb::CloudRequest request;
  request.set_service("ecs");
  request.set_method("GET");
  request.set_path(path);
  return request;
}

TEST(SimCloud, SendsTokenProjectAndQuery) {
  Server server({kToken, Http("200 OK", "{\"a\":1}", "X-Request-Id: r1\r\n")});
  auto cloud = SimCloud::Connect(StartLine(server.url()));
  ASSERT_TRUE(cloud.ok()) << cloud.status().ToString();
  pb::CloudRequest request = Get("/v1/{project_id}/cloudservers");
  pb::Pair* pair = request.add_query();
  pair->set_key("name");
  pair->set_value("a b/\xC3\xA4");
  const pb::CloudResponse response = (*cloud)->Answer(request);
  EXPECT_EQ(response.outcome(), pb::OUTCOME_ANSWERED);
  EXPECT_EQ(response.http_status(), 200u);
  EXPECT_EQ(response.body(), "{\"a\":1}");
  EXPECT_EQ(response.request_id(), "r1");
  const auto requests = server.Join();
  ASSERT_EQ(requests.size(), 2u);
  EXPECT_EQ(requests[0].rfind("POST /v3/auth/tokens HTTP/1.1\r\n", 0), 0u);
  EXPECT_EQ(requests[1].rfind("GET /v1/p1/cloudservers?name=a%20b%2F%C3%A4 HTTP/1.1\r\n", 0), 0u)
      << requests[1];
  EXPECT_NE(requests[1].find("X-Auth-Token: token-1\r\n"), std::string::npos);
}

TEST(SimCloud, OnlyTheServiceProvesAbsence) {
  Server server({kToken, Http("404 Not Found", R"({"error":{"code":"Ecs.0114","message":"x"}})"),
                 Http("404 Not Found", R"({"error_code":"APIGW.0101","error_msg":"x"})"),
                 Http("404 Not Found", "<html>")});
  auto cloud = SimCloud::Connect(StartLine(server.url()));
  ASSERT_TRUE(cloud.ok()) << cloud.status().ToString();
  const pb::CloudResponse gone = (*cloud)->Answer(Get("/a"));
  EXPECT_TRUE(gone.proves_absence());
  EXPECT_EQ(gone.service_code(), "Ecs.0114");
  EXPECT_FALSE((*cloud)->Answer(Get("/b")).proves_absence());
  EXPECT_FALSE((*cloud)->Answer(Get("/c")).proves_absence());
}

TEST(SimCloud, SaysWhetherARequestMayHaveHappened) {
  Server server({kToken, "HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nhalf", "",
                 "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"});
  auto cloud = SimCloud::Connect(StartLine(server.url()));
  ASSERT_TRUE(cloud.ok()) << cloud.status().ToString();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ((*cloud)->Answer(Get("/x")).outcome(), pb::OUTCOME_UNCLEAR) << i;
  }
  server.Join();
  EXPECT_EQ((*cloud)->Answer(Get("/x")).outcome(), pb::OUTCOME_NOT_SENT);
  pb::CloudRequest other = Get("/x");
  other.set_service("moon");
  EXPECT_EQ((*cloud)->Answer(other).outcome(), pb::OUTCOME_NOT_SENT);
}

TEST(SimCloud, ConnectExplainsItself) {
  EXPECT_EQ(SimCloud::Connect("no json").status().reason(), "BadJson");
  EXPECT_EQ(SimCloud::Connect(R"({"urls":{}})").status().reason(), "NoEndpoint");
  EXPECT_EQ(SimCloud::Connect(R"({"urls":{"iam":"ftp://x"}})").status().reason(), "NoToken");
  Server server({Http("401 Unauthorized", "{}")});
  const Status refused = SimCloud::Connect(StartLine(server.url())).status();
  EXPECT_EQ(refused.message(), "token of sim-user: HTTP 401");
}

}  // namespace
}  // namespace otc::harness
