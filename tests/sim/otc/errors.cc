#include "tests/sim/otc/errors.h"

#include <Poco/Net/HTTPResponse.h>

#include "tests/sim/otc/json.h"

namespace otc::sim {
namespace {

Response CodeAndMessage(int status, std::string_view code_key, std::string_view code,
                        std::string_view message_key, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Field(code_key, code).Field(message_key, message).EndObject();
  return Response::Json(status, json.Take());
}

std::string Reason(int status) {
  return Poco::Net::HTTPResponse::getReasonForStatus(
      static_cast<Poco::Net::HTTPResponse::HTTPStatus>(status));
}

}  // namespace

Response GatewayError(int status, std::string_view code, std::string_view message,
                      std::string_view request_id) {
  JsonWriter json;
  json.BeginObject().Field("error_msg", message).Field("error_code", code);
  json.Field("request_id", request_id).EndObject();
  return Response::Json(status, json.Take());
}

Response IamError(int status, std::string_view code, std::string_view message) {
  return CodeAndMessage(status, "error_code", code, "error_msg", message);
}

Response EcsError(int status, std::string_view code, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Field("message", message).Field("code", code).EndObject().EndObject();
  return Response::Json(status, json.Take());
}

Response VpcError(int status, std::string_view code, std::string_view message) {
  return CodeAndMessage(status, "code", code, "message", message);
}

Response NovaError(int status, std::string_view kind, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Key(kind).BeginObject();
  json.Field("message", message).Field("code", status).EndObject().EndObject();
  return Response::Json(status, json.Take());
}

Response KeystoneError(int status, std::string_view title, std::string_view message) {
  JsonWriter json;
  json.BeginObject().Key("error").BeginObject();
  json.Field("message", message).Field("code", status).Field("title", title);
  json.EndObject().EndObject();
  return Response::Json(status, json.Take());
}

Response ScriptedError(const std::string& service, int status, std::string_view request_id) {
  const std::string message = "scripted failure: " + Reason(status);
  switch (status) {
    case 401:
      return GatewayError(status, "APIGW.0301", "Incorrect IAM authentication information",
                          request_id);
    case 403:
      return GatewayError(status, "APIGW.0302", "The IAM user is not authorized", request_id);
    case 429:
      return service == "iam"
                 ? IamError(status, "IAM.0012",
                            "The throttling threshold has been reached. "
                            "Threshold: 10 times per 60 seconds")
                 : GatewayError(status, "APIGW.0308",
                                "The throttling threshold has been reached: policy user over "
                                "ratelimit,limit:200,time:5 minute",
                                request_id);
    case 502:
      return GatewayError(status, "APIGW.0202", "Backend unavailable", request_id);
    case 503:
      return GatewayError(status, "APIGW.0613", "The IAM service is unavailable", request_id);
    case 504:
      return GatewayError(status, "APIGW.0203", "Backend timeout", request_id);
    default:
      break;
  }
  if (service == "iam") return IamError(status, status == 404 ? "IAM.0004" : "IAM.0006", message);
  if (service == "vpc") return VpcError(status, status == 404 ? "VPC.0504" : "VPC.0503", message);
  if (service == "ecs") {
    return EcsError(status, status == 404 ? "Ecs.0114" : "Common.0001", message);
  }
  return GatewayError(status, "APIGW.0103", message, request_id);
}

}  // namespace otc::sim
