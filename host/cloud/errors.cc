#include "host/cloud/errors.h"

#include <Poco/Exception.h>
#include <Poco/JSON/Array.h>
#include <Poco/JSON/Object.h>
#include <Poco/JSON/Parser.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <exception>
#include <initializer_list>

#include "host/base/strings.h"

namespace otc::host::cloud {
namespace {

using Poco::JSON::Array;
using Poco::JSON::Object;

constexpr std::size_t kMaxMessageBytes = 1024;
constexpr std::size_t kMaxJsonBytes = 64u << 10;  // an error body larger than this is no error body

constexpr std::string_view kCodeNames[] = {"error_code", "code", "type"};
constexpr std::string_view kMessageNames[] = {"error_msg", "message",     "error_message",
                                              "details",   "fail_reason", "title"};

// One line of at most kMaxMessageBytes, cut at a character.
std::string OneLine(std::string_view text) {
  std::string line = ReplaceInvalidUtf8(text.substr(0, 4 * kMaxMessageBytes));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  }
  line = TrimSpace(line);
  if (line.size() > kMaxMessageBytes) {
    std::size_t end = kMaxMessageBytes;
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end;
    line.resize(end);
  }
  return line;
}

// The value as text if it is a string or a number; "" for everything else.
std::string Scalar(const Object& object, std::string_view name) {
  const Poco::Dynamic::Var value = object.get(std::string(name));
  if (value.isEmpty() || value.isBoolean() || !(value.isString() || value.isNumeric())) return "";
  return value.convert<std::string>();
}

template <std::size_t N>
std::string FirstScalar(const Object& object, const std::string_view (&names)[N]) {
  for (const std::string_view name : names) {
    if (std::string value = Scalar(object, name); !value.empty()) return value;
  }
  return "";
}

bool IsNumber(std::string_view text) { return ParseUint(text).has_value(); }

// Null if the text is no JSON object. The only place that Poco's exceptions reach.
Object::Ptr ParseObject(std::string_view text) {
  if (text.empty() || text.size() > kMaxJsonBytes || text.front() != '{') return nullptr;
  try {
    Poco::JSON::Parser parser(new Poco::JSON::ParseHandler(/*preserveObjectOrder=*/true));
    parser.setDepth(32);
    const Poco::Dynamic::Var value = parser.parse(std::string(text));
    return value.type() == typeid(Object::Ptr) ? value.extract<Object::Ptr>() : nullptr;
  } catch (const Poco::Exception&) {
    return nullptr;
  } catch (const std::exception&) {
    return nullptr;
  }
}

void ReadMembers(const Object& object, CloudError& error) {
  if (error.service_code.empty()) error.service_code = FirstScalar(object, kCodeNames);
  if (error.message.empty()) error.message = FirstScalar(object, kMessageNames);
  if (error.request_id.empty()) error.request_id = Scalar(object, "request_id");
}

void ReadObject(const Object& top, CloudError& error, bool nested_allowed);

// VPC puts Neutron's whole body as text into `message`.
void ReadJsonMessage(CloudError& error) {
  const Object::Ptr inner_object = ParseObject(TrimSpace(error.message));
  if (inner_object.isNull()) return;
  CloudError inner;
  ReadObject(*inner_object, inner, false);
  if (!inner.message.empty()) error.message = inner.message;
  // The inner code is the more exact one, yet the outer is the service's own.
  if (error.service_code.empty() || IsNumber(error.service_code)) {
    error.service_code = inner.service_code;
    error.kind = inner.kind;
  } else {
    error.kind = inner.service_code.empty() ? inner.kind : inner.service_code;
  }
}

void ReadObject(const Object& top, CloudError& error, bool nested_allowed) {
  ReadMembers(top, error);
  if (error.service_code.empty() && error.message.empty()) {
    for (const std::string& name : top.getNames()) {  // in the order of the text
      const Poco::Dynamic::Var value = top.get(name);
      if (value.type() == typeid(Object::Ptr)) {
        const auto& object = value.extract<Object::Ptr>();
        if (object.isNull()) continue;
        error.kind = name;
        ReadMembers(*object, error);
      } else if (value.type() == typeid(Array::Ptr)) {  // internalError, fail
        const auto& array = value.extract<Array::Ptr>();
        if (array.isNull() || array->size() == 0 || !array->isObject(0)) continue;
        error.kind = name;
        ReadMembers(*array->getObject(0), error);
      }
      if (!error.service_code.empty() || !error.message.empty()) break;
    }
  }
  if (nested_allowed) ReadJsonMessage(error);
}

bool OneOf(std::string_view text, std::initializer_list<std::string_view> list) {
  return std::any_of(list.begin(), list.end(),
                     [&](std::string_view other) { return EqualsIgnoreCase(text, other); });
}

bool EndsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// "Ecs.0114": a service's name, a point and at least three digits.
bool IsServiceCode(std::string_view code) {
  const std::size_t point = code.rfind('.');
  if (point == std::string_view::npos || point == 0 || code.size() - point < 4) return false;
  return std::all_of(code.begin() + static_cast<std::ptrdiff_t>(point) + 1, code.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

// The words by which an error can be known: its code and the name around it.
template <typename Test>
bool Either(const CloudError& error, Test test) {
  return test(std::string_view(error.service_code)) || test(std::string_view(error.kind));
}

bool SaysNotFound(const CloudError& error) {
  return Either(error, [](std::string_view word) {
    return EqualsIgnoreCase(word, "itemNotFound") || EndsWith(word, "NotFound");
  });
}

bool SaysExists(const CloudError& error) {
  return Either(error, [](std::string_view word) {
    return OneOf(word, {"Ecs.0057", "VPC.9902", "SecurityGroupRuleExists"});
  });
}

bool SaysQuota(const CloudError& error) {
  return Either(error, [](std::string_view word) {
    return OneOf(word, {"Ecs.0001", "Ecs.0013", "Ecs.0021", "Ecs.0042", "Ecs.0104", "VPC.0521",
                        "VPC.0604", "VPC.9905", "OverQuota", "overLimit"});
  });
}

bool SaysForbidden(const CloudError& error) {
  return Either(error, [](std::string_view word) {
    return OneOf(word, {"Ecs.0003", "Ecs.0110", "Pdp.0001", "VPC.0010", "VPC.2201", "VPC.2701",
                        "IAM.0002", "IAM.0003", "forbidden"});
  });
}

// The request names another project than the credentials: a matter of
// configuration.
bool SaysWrongScope(const CloudError& error) {
  return OneOf(error.service_code, {"Ecs.0023", "Common.0018", "VPC.0007", "SYS.0400"});
}

bool SaysBusy(const CloudError& error) {
  return Either(error, [](std::string_view word) {
    return OneOf(word, {"VPC.0512", "VPC.0516", "VPC.0517", "Ecs.0603", "Ecs.0100", "Ecs.1000",
                        "Ecs.1001", "Ecs.1002", "Ecs.1200", "Ecs.1300"});
  });
}

bool SaysTransient(const CloudError& error) {
  return OneOf(error.service_code,
               {"Common.0020", "Common.0021", "Common.0022", "Common.0025", "Common.0026"});
}

bool SaysBadKey(const CloudError& error) {
  return OneOf(error.service_code, {"IAM.1104", "IAM.1105", "IAM.1106", "IAM.1107", "IAM.1108"});
}

// 400 and the other client errors that have no row of their own.
Verdict JudgeRefusal(int http_status, const CloudError& error) {
  const auto refused = [](Code code) { return Verdict{Condition::kRefused, code, false}; };
  if (SaysWrongScope(error)) return refused(Code::kFailedPrecondition);
  if (SaysBadKey(error)) return refused(Code::kUnauthenticated);
  if (SaysForbidden(error) || http_status == 403) return refused(Code::kPermissionDenied);
  switch (http_status) {
    case 400:
    case 414:
    case 422:
    case 494:
      return refused(Code::kInvalidArgument);
    case 405:
      return refused(Code::kUnimplemented);
    case 409:
      return {Condition::kConflict, Code::kAborted, false};
    case 410:
      return refused(error.service_code == "IAM.0020" ? Code::kUnavailable : Code::kNotFound);
    case 412:
      return refused(Code::kFailedPrecondition);
    case 413:
      return refused(Code::kInvalidArgument);
    default:
      return refused(Code::kUnknown);
  }
}

Verdict JudgeNotFound(const CloudError& error) {
  if (IsGatewayCode(error.service_code)) {
    // The gateway knows no such path here; that says nothing about the object.
    return {Condition::kRefused, Code::kUnimplemented, false};
  }
  if (SaysForbidden(error)) return {Condition::kRefused, Code::kPermissionDenied, false};
  const bool by_service = IsServiceCode(error.service_code) || SaysNotFound(error);
  return {Condition::kRefused, Code::kNotFound, by_service && !SaysWrongScope(error)};
}

Verdict JudgeServerSide(int http_status) {
  switch (http_status) {
    case 501:
      return {Condition::kRefused, Code::kUnimplemented, false};
    case 502:
    case 503:
      return {Condition::kUnavailable, Code::kUnavailable, false};
    case 504:
      return {Condition::kLost, Code::kUnavailable, false};
    default:
      return {Condition::kServerError, Code::kInternal, false};
  }
}

struct RetryRow {
  Condition condition;
  Retry get, put_delete, post;
};

constexpr std::array<RetryRow, 12> kRetryTable = {{
    {Condition::kDone, Retry::kNever, Retry::kNever, Retry::kNever},
    {Condition::kNotSent, Retry::kYes, Retry::kYes, Retry::kYes},
    {Condition::kLost, Retry::kYes, Retry::kIfIdempotent, Retry::kIfIdempotent},
    {Condition::kTimedOut, Retry::kYes, Retry::kIfIdempotent, Retry::kIfIdempotent},
    {Condition::kThrottled, Retry::kYes, Retry::kYes, Retry::kYes},
    {Condition::kFlowLimit, Retry::kNever, Retry::kYes, Retry::kYes},
    {Condition::kServerError, Retry::kFewTimes, Retry::kFewTimes, Retry::kIfIdempotent},
    {Condition::kUnavailable, Retry::kYes, Retry::kYes, Retry::kIfIdempotent},
    {Condition::kBusy, Retry::kNever, Retry::kYes, Retry::kYes},
    {Condition::kConflict, Retry::kNever, Retry::kNever, Retry::kNever},
    {Condition::kUnauthorized, Retry::kNever, Retry::kNever, Retry::kNever},
    {Condition::kRefused, Retry::kNever, Retry::kNever, Retry::kNever},
}};

}  // namespace

CloudError ParseErrorBody(std::string_view body) {
  CloudError error;
  const Object::Ptr object = ParseObject(TrimSpace(body));
  if (object.isNull()) {
    error.message = OneLine(body.substr(0, kMaxMessageBytes));
    return error;
  }
  ReadObject(*object, error, true);
  // "code" is often the HTTP status once more; then the name around it says it.
  const bool telling_kind = !error.kind.empty() && !OneOf(error.kind, {"error", "message"});
  if (telling_kind && (error.service_code.empty() || IsNumber(error.service_code))) {
    error.service_code = error.kind;
  }
  error.service_code = OneLine(error.service_code.substr(0, 128));
  error.request_id = OneLine(error.request_id.substr(0, 128));
  error.message = OneLine(error.message.empty() ? body.substr(0, kMaxMessageBytes)
                                                : std::string_view(error.message));
  return error;
}

bool IsGatewayCode(std::string_view service_code) {
  return service_code.substr(0, 5) == "APIG." || service_code.substr(0, 6) == "APIGW.";
}

Verdict Judge(int http_status, const CloudError& error) {
  if (http_status == 202 && error.service_code == "Common.0024") {
    return {Condition::kFlowLimit, Code::kResourceExhausted, false};
  }
  if (http_status >= 200 && http_status < 300) return {Condition::kDone, Code::kOk, false};
  if (http_status == 429) return {Condition::kThrottled, Code::kResourceExhausted, false};
  if (http_status == 401) {
    // Nova says 401 when the project of the URL is not the one of the credentials.
    const bool scope = EqualsIgnoreCase(error.kind, "badRequest");
    return {scope ? Condition::kRefused : Condition::kUnauthorized,
            scope ? Code::kFailedPrecondition : Code::kUnauthenticated, false};
  }
  if (http_status == 408) return {Condition::kTimedOut, Code::kUnavailable, false};
  if (SaysBusy(error) && (http_status < 500 || http_status == 501)) {
    return {Condition::kBusy, Code::kAborted, false};
  }
  if (http_status >= 500) return JudgeServerSide(http_status);
  if (http_status == 404) return JudgeNotFound(error);
  if (SaysExists(error)) return {Condition::kConflict, Code::kAlreadyExists, false};
  if (SaysQuota(error)) return {Condition::kConflict, Code::kResourceExhausted, false};
  if (SaysTransient(error)) return {Condition::kServerError, Code::kUnavailable, false};
  return JudgeRefusal(http_status, error);
}

Retry RetryRule(Condition condition, MethodGroup method) {
  for (const RetryRow& row : kRetryTable) {
    if (row.condition != condition) continue;
    if (method == MethodGroup::kGet) return row.get;
    return method == MethodGroup::kPutDelete ? row.put_delete : row.post;
  }
  return Retry::kNever;
}

bool MayHaveHappened(Condition condition, MethodGroup method) {
  if (method == MethodGroup::kGet) return false;
  switch (condition) {
    case Condition::kLost:
    case Condition::kTimedOut:
    case Condition::kServerError:
    case Condition::kUnavailable:
      return true;
    default:
      return false;
  }
}

}  // namespace otc::host::cloud
