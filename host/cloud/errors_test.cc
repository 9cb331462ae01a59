#include "host/cloud/errors.h"

#include <gtest/gtest.h>

#include <vector>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

TEST(ErrorBodyTest, AllShapes) {
  const struct {
    const char *shape, *body, *code, *message, *kind, *request_id;
  } rows[] = {
      {"1 gateway", R"({"error_msg":"Incorrect","error_code":"APIGW.0301","request_id":"r1"})",
       "APIGW.0301", "Incorrect", "", "r1"},
      {"2 v3 services", R"({"error_code":"VPC.9902","error_msg":"exists","request_id":"r2"})",
       "VPC.9902", "exists", "", "r2"},
      {"3 ECS", R"({"error":{"code":"Ecs.0114","message":"gone","details":[{"x":1}]}})", "Ecs.0114",
       "gone", "error", ""},
      {"4 VPC v1", R"({"code":"VPC.0504","message":"no EIP"})", "VPC.0504", "no EIP", "", ""},
      {"4 with 6 inside",
       R"({"code":"VPC.0602","message":"{\"NeutronError\":{\"type\":\"SecurityGroupRuleExists\",\"message\":\"Rule id is 7\",\"detail\":\"\"}}"})",
       "VPC.0602", "Rule id is 7", "SecurityGroupRuleExists", ""},
      {"4 numeric with 6 inside",
       R"({"code":409,"message":"{\"NeutronError\":{\"type\":\"PortInUse\",\"message\":\"m\"}}"})",
       "PortInUse", "m", "NeutronError", ""},
      {"5 Nova", R"({"itemNotFound":{"message":"no server","code":404}})", "itemNotFound",
       "no server", "itemNotFound", ""},
      {"5 code as text", R"({"badRequest":{"message":"bad","code":"400"}})", "badRequest", "bad",
       "badRequest", ""},
      {"5 lower case", R"({"badrequest":{"code":400,"message":"bad"}})", "badrequest", "bad",
       "badrequest", ""},
      {"6 Neutron", R"({"NeutronError":{"type":"PortNotFound","message":"no port","detail":""}})",
       "PortNotFound", "no port", "NeutronError", ""},
      {"7 keystone", R"({"error":{"code":401,"message":"sign in","title":"Unauthorized"}})", "401",
       "sign in", "error", ""},
      {"8 ECS batch",
       R"({"error":{},"internalError":[{"id":"s","error_code":"Ecs.0012","error_message":"part"}]})",
       "Ecs.0012", "part", "internalError", ""},
      {"8 failed job",
       R"({"job_id":"j","status":"FAIL","error_code":"Ecs.0319","fail_reason":"no"})", "Ecs.0319",
       "no", "", ""},
      {"8 security groups of a port",
       R"({"success":[],"fail":[{"code":"VPC.0007","message":"x"}]})", "VPC.0007", "x", "fail", ""},
      {"9 empty", "", "", "", "", ""},
      {"9 HTML", "<html><body>502 Bad Gateway</body></html>", "",
       "<html><body>502 Bad Gateway</body></html>", "", ""},
      {"9 text", "stream\r\ntimeout\x01", "", "stream  timeout", "", ""},
      {"10 nested", R"({"message":{"code":"ces.0015","details":"wrong project"}})", "ces.0015",
       "wrong project", "message", ""},
      {"array", R"([{"code":"X.001"}])", "", R"([{"code":"X.001"}])", "", ""},
      {"nulls", R"({"error":null,"code":null,"message":null,"list":null})", "",
       R"({"error":null,"code":null,"message":null,"list":null})", "", ""},
      {"the first object counts", R"({"zeta":{"code":"Z.0001"},"alpha":{"code":"A.0001"}})",
       "Z.0001", R"({"zeta":{"code":"Z.0001"},"alpha":{"code":"A.0001"}})", "zeta", ""},
      {"unknown fields only", R"({"foo":{"bar":1}})", "foo", R"({"foo":{"bar":1}})", "foo", ""},
      {"wrong types", R"({"error_code":true,"error_msg":["x"],"error":"text"})", "",
       R"({"error_code":true,"error_msg":["x"],"error":"text"})", "", ""},
      {"cut", R"({"error":{"code":"Ecs.01)", "", R"({"error":{"code":"Ecs.01)", "", ""},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.shape);
    const CloudError error = ParseErrorBody(row.body);
    EXPECT_EQ(error.service_code, row.code);
    EXPECT_EQ(error.message, row.message);
    EXPECT_EQ(error.kind, row.kind);
    EXPECT_EQ(error.request_id, row.request_id);
  }
}

TEST(ErrorBodyTest, TextsAreBoundedAndValid) {
  const CloudError plain = ParseErrorBody(std::string(100'000, 'x'));
  EXPECT_EQ(plain.message.size(), 1024u);
  std::string umlauts;
  for (int i = 0; i < 2000; ++i) umlauts += "ü";
  const CloudError cut = ParseErrorBody(R"({"code":"Ecs.1","message":")" + umlauts + "x\"}");
  EXPECT_LE(cut.message.size(), 1024u);
  EXPECT_TRUE(IsValidUtf8(cut.message));
  EXPECT_TRUE(IsValidUtf8(ParseErrorBody("\xff\xfe\xc3").message));
  EXPECT_LE(
      ParseErrorBody(R"({"error_code":")" + std::string(5000, 'a') + "\"}").service_code.size(),
      128u);
  // Deep nesting is refused, not followed.
  EXPECT_EQ(ParseErrorBody(std::string(1000, '{')).service_code, "");
  std::string deep;
  for (int i = 0; i < 1000; ++i) deep += R"({"a":)";
  EXPECT_EQ(ParseErrorBody(deep + "1" + std::string(1000, '}')).service_code, "");
}

Verdict JudgeBody(int status, const std::string& body) {
  return Judge(status, ParseErrorBody(body));
}

std::string Coded(const std::string& code) {
  return R"({"error_code":")" + code + R"(","error_msg":"m"})";
}

TEST(JudgeTest, CanonicalCodes) {
  const struct {
    int status;
    std::string body;
    Code code;
    Condition condition;
  } rows[] = {
      {200, "{}", Code::kOk, Condition::kDone},
      {204, "", Code::kOk, Condition::kDone},
      {202, "{}", Code::kOk, Condition::kDone},
      {202, R"({"error":{"code":"Common.0024","message":"Flow limit exceeded"}})",
       Code::kResourceExhausted, Condition::kFlowLimit},
      {202, Coded("Common.0024"), Code::kResourceExhausted, Condition::kFlowLimit},
      {200, Coded("Common.0024"), Code::kOk, Condition::kDone},
      {400, Coded("Ecs.0005"), Code::kInvalidArgument, Condition::kRefused},
      {400, Coded("IAM.1106"), Code::kUnauthenticated, Condition::kRefused},
      {400, Coded("Ecs.0023"), Code::kFailedPrecondition, Condition::kRefused},
      {400, Coded("SYS.0400"), Code::kFailedPrecondition, Condition::kRefused},
      {400, Coded("Common.0021"), Code::kUnavailable, Condition::kServerError},
      {400, Coded("Ecs.0057"), Code::kAlreadyExists, Condition::kConflict},
      {400, Coded("Ecs.0100"), Code::kAborted, Condition::kBusy},
      {400, Coded("VPC.0604"), Code::kResourceExhausted, Condition::kConflict},
      {401, Coded("APIGW.0301"), Code::kUnauthenticated, Condition::kUnauthorized},
      {401, R"({"badRequest":{"message":"doesn't match Context's project_id","code":"401"}})",
       Code::kFailedPrecondition, Condition::kRefused},
      {403, Coded("APIGW.0302"), Code::kPermissionDenied, Condition::kRefused},
      {403, R"({"forbidden":{"message":"no","code":403}})", Code::kPermissionDenied,
       Condition::kRefused},
      {403, Coded("Ecs.0013"), Code::kResourceExhausted, Condition::kConflict},
      {404, Coded("Ecs.0114"), Code::kNotFound, Condition::kRefused},
      {404, Coded("APIGW.0101"), Code::kUnimplemented, Condition::kRefused},
      {404, Coded("APIG.0101"), Code::kUnimplemented, Condition::kRefused},
      {405, "", Code::kUnimplemented, Condition::kRefused},
      {408, "", Code::kUnavailable, Condition::kTimedOut},
      {409, R"({"NeutronError":{"type":"SecurityGroupRuleExists","message":"m"}})",
       Code::kAlreadyExists, Condition::kConflict},
      {409, Coded("VPC.0517"), Code::kAborted, Condition::kBusy},
      {409, R"({"NeutronError":{"type":"OverQuota","message":"m"}})", Code::kResourceExhausted,
       Condition::kConflict},
      {409, "", Code::kAborted, Condition::kConflict},
      {410, Coded("IAM.0020"), Code::kUnavailable, Condition::kRefused},
      {413, R"({"overLimit":{"message":"m","code":413}})", Code::kResourceExhausted,
       Condition::kConflict},
      {413, "", Code::kInvalidArgument, Condition::kRefused},
      {414, "", Code::kInvalidArgument, Condition::kRefused},
      {429, Coded("APIGW.0308"), Code::kResourceExhausted, Condition::kThrottled},
      {429, "", Code::kResourceExhausted, Condition::kThrottled},
      {500, Coded("VPC.0504"), Code::kInternal, Condition::kServerError},
      {500, Coded("Ecs.1000"), Code::kInternal, Condition::kServerError},
      {501, Coded("Ecs.0603"), Code::kAborted, Condition::kBusy},
      {501, "", Code::kUnimplemented, Condition::kRefused},
      {502, "<html>", Code::kUnavailable, Condition::kUnavailable},
      {503, Coded("APIGW.0613"), Code::kUnavailable, Condition::kUnavailable},
      {504, Coded("APIGW.0201"), Code::kUnavailable, Condition::kLost},
      {302, "", Code::kUnknown, Condition::kRefused},
      {418, "", Code::kUnknown, Condition::kRefused},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(std::to_string(row.status) + " " + row.body);
    const Verdict verdict = JudgeBody(row.status, row.body);
    EXPECT_EQ(CodeName(verdict.code), std::string(CodeName(row.code)));
    EXPECT_EQ(static_cast<int>(verdict.condition), static_cast<int>(row.condition));
  }
}

TEST(JudgeTest, OnlyAServicesOwnWordProvesAbsence) {
  const struct {
    int status;
    std::string body;
    bool proves;
  } rows[] = {
      {404, Coded("Ecs.0114"), true},
      {404, Coded("Ecs.0614"), true},
      {404, Coded("EVS.5400"), true},
      {404, Coded("ELB.8904"), true},
      {404, Coded("VPC.0504"), true},
      {404, Coded("IAM.0004"), true},
      {404, R"({"itemNotFound":{"message":"m","code":404}})", true},
      {404, R"({"itemnotfound":{"message":"m","code":"404"}})", true},
      {404, R"({"NeutronError":{"type":"PoolNotFound","message":"m"}})", true},
      {404, R"({"code":"VPC.0306","message":"m"})", true},
      {404, Coded("APIG.0101"), false},
      {404, Coded("APIGW.0101"), false},
      {404, "", false},
      {404, "<html>404</html>", false},
      {404, R"({"error":{"code":404,"message":"m","title":"Not Found"}})", false},
      {404, R"({"code":404,"message":"no route"})", false},
      {404, R"({"forbidden":{"message":"m","code":404}})", false},
      {404, Coded("SYS.0400"), false},
      {400, Coded("Ecs.0114"), false},
      {500, Coded("VPC.0504"), false},
      {403, Coded("Ecs.0114"), false},
      {401, R"({"itemNotFound":{"message":"m","code":404}})", false},
      {503, R"({"itemNotFound":{"message":"m","code":404}})", false},
      {200, R"({"itemNotFound":{"message":"m","code":404}})", false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(JudgeBody(row.status, row.body).proves_absence, row.proves)
        << row.status << " " << row.body;
  }
}

// Row by row as documented: condition, GET, PUT/DELETE, POST.
TEST(RetryTest, TheTable) {
  constexpr Retry kNo = Retry::kNever, kYes = Retry::kYes, kFew = Retry::kFewTimes,
                  kLook = Retry::kIfIdempotent;
  const struct {
    const char* row;
    Condition condition;
    Retry get, put_delete, post;
  } rows[] = {
      {"no connection", Condition::kNotSent, kYes, kYes, kYes},
      {"lost after sending, 504", Judge(504, {}).condition, kYes, kLook, kLook},
      {"408", Judge(408, {}).condition, kYes, kLook, kLook},
      {"429", Judge(429, {}).condition, kYes, kYes, kYes},
      {"202 flow limit", JudgeBody(202, Coded("Common.0024")).condition, kNo, kYes, kYes},
      {"500", Judge(500, {}).condition, kFew, kFew, kLook},
      {"502", Judge(502, {}).condition, kYes, kYes, kLook},
      {"503", Judge(503, {}).condition, kYes, kYes, kLook},
      {"409 busy", JudgeBody(409, Coded("VPC.0512")).condition, kNo, kYes, kYes},
      {"409 exists", JudgeBody(409, Coded("VPC.9902")).condition, kNo, kNo, kNo},
      {"409 quota", JudgeBody(409, Coded("VPC.9905")).condition, kNo, kNo, kNo},
      {"400", Judge(400, {}).condition, kNo, kNo, kNo},
      {"401", Judge(401, {}).condition, kNo, kNo, kNo},
      {"403", Judge(403, {}).condition, kNo, kNo, kNo},
      {"404", Judge(404, {}).condition, kNo, kNo, kNo},
      {"405", Judge(405, {}).condition, kNo, kNo, kNo},
      {"413", Judge(413, {}).condition, kNo, kNo, kNo},
      {"414", Judge(414, {}).condition, kNo, kNo, kNo},
      {"200", Judge(200, {}).condition, kNo, kNo, kNo},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.row);
    EXPECT_EQ(RetryRule(row.condition, MethodGroup::kGet), row.get);
    EXPECT_EQ(RetryRule(row.condition, MethodGroup::kPutDelete), row.put_delete);
    EXPECT_EQ(RetryRule(row.condition, MethodGroup::kPost), row.post);
  }
}

TEST(RetryTest, WhatMayHaveHappened) {
  for (const int status : {500, 502, 503, 504, 408}) {
    EXPECT_TRUE(MayHaveHappened(Judge(status, {}).condition, MethodGroup::kPost)) << status;
    EXPECT_TRUE(MayHaveHappened(Judge(status, {}).condition, MethodGroup::kPutDelete)) << status;
    EXPECT_FALSE(MayHaveHappened(Judge(status, {}).condition, MethodGroup::kGet)) << status;
  }
  for (const int status : {200, 400, 401, 403, 404, 409, 429}) {
    EXPECT_FALSE(MayHaveHappened(Judge(status, {}).condition, MethodGroup::kPost)) << status;
  }
  EXPECT_FALSE(MayHaveHappened(Condition::kNotSent, MethodGroup::kPost));
}

}  // namespace
}  // namespace otc::host::cloud
