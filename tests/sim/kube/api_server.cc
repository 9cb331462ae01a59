#include "tests/sim/kube/api_server.h"

#include "tests/sim/kube/discovery.h"
#include "tests/sim/kube/schema.h"

namespace otc::kubesim {
namespace {

Format ErrorFormat(const HttpRequest& request) {
  const auto format = NegotiateFormat(request.Header("accept"), true, false);
  return format.value_or(Format::kJson);
}

Reply ErrorReply(const ApiError& error, Format format) {
  Reply reply;
  reply.status = error.code;
  reply.content_type = ContentTypeOf(format, false);
  reply.body = EncodeStatus(error.ToStatus(), format);
  reply.retry_after_seconds = error.retry_after_seconds;
  return reply;
}

Reply JsonReply(int status, const Json& document) {
  return Reply{status, "application/json", DumpJson(document), 0};
}

void SendReply(const Reply& reply, ResponseWriter& writer) {
  if (reply.retry_after_seconds > 0) {
    writer.AddHeader("Retry-After", std::to_string(reply.retry_after_seconds));
  }
  writer.Send(reply.status, reply.content_type, reply.body);
}

AccessQuestion QuestionOf(const RequestInfo& info, const HttpRequest& request) {
  AccessQuestion question;
  question.verb = info.verb;
  if (info.resource == nullptr) {
    question.path = request.path;
    return question;
  }
  question.group = info.resource->group;
  question.resource = info.resource->plural;
  if (!info.subresource.empty()) {
    question.resource += "/" + info.subresource;
  }
  question.namespace_name = info.namespace_name;
  question.name = info.name;
  return question;
}

Call CallOf(const RequestInfo& info, const HttpRequest& request, std::int64_t unix_ms) {
  Call call;
  call.unix_ms = unix_ms;
  call.verb = info.verb;
  call.method = request.method;
  call.target = request.target;
  call.resource = info.resource != nullptr ? info.resource->plural : "";
  call.name = info.name;
  call.subresource = info.subresource;
  call.content_type = request.Header("content-type");
  call.accept = request.Header("accept");
  call.user_agent = request.Header("user-agent");
  call.body = request.body;
  return call;
}

// Protobuf is served for the kinds whose messages are known.
bool HasProtobuf(const ResourceInfo& resource) { return resource.schema != &UntypedType(); }

}  // namespace

ApiServer::ApiServer(const Options& options, const host::Clock& clock)
    : options_(options),
      clock_(clock),
      store_(options.history_limit),
      crud_(store_, clock),
      list_watch_(store_, clock),
      auth_(options.require_auth),
      reviews_(auth_, store_, clock) {
  crud_.set_not_ready_taint(options.not_ready_taint);
  list_watch_.set_bookmark_interval_ms(options.bookmark_interval_ms);
}

void ApiServer::Handle(HttpRequest& request, ResponseWriter& writer) {
  const RequestInfo info = ParseRequestInfo(request);
  const std::optional<Identity> identity = auth_.Authenticate(request);
  Call call = CallOf(info, request, host::UnixMillis(clock_.Wall()));
  call.user = identity ? identity->name : "";
  const std::uint64_t sequence = calls_.Begin(std::move(call));

  writer.set_on_status([this, sequence](int status) { calls_.SetStatus(sequence, status); });

  FaultAction action;
  if (auto taken = faults_.Take(info, request)) {
    calls_.CountFault(sequence, taken->first);
    action = std::move(taken->second);
    writer.set_fault(action.wire);
    if (action.delay_ms > 0 && writer.Wait(action.delay_ms, -1) != WaitResult::kTimeout) {
      return;  // the peer gave up, or the server stops
    }
  }
  if (action.effect != Effect::kNone && action.after_commit && identity &&
      info.resource != nullptr && info.verb != "watch" && !CheckPath(info) &&
      auth_.WhyForbidden(*identity, QuestionOf(info, request)).empty()) {
    Resource(info, request, *identity);  // carried out; its answer is lost
  }
  switch (action.effect) {
    case Effect::kNone:
      if (!identity) {
        SendReply(ErrorReply(Unauthorized(), ErrorFormat(request)), writer);
      } else {
        Answer(info, request, action.watch, *identity, writer);
      }
      break;
    case Effect::kRespond:
      for (const auto& [name, value] : action.headers) {
        writer.AddHeader(name, value);
      }
      writer.Send(action.status, action.content_type, action.body);
      break;
    case Effect::kRaw:
      writer.Raw(action.body);
      break;
    case Effect::kHang:
      writer.End(EndStyle::kSilent);
      break;
    case Effect::kDrop:
      writer.End(action.drop_style);
      break;
  }
}

std::optional<ApiError> ApiServer::CheckPath(const RequestInfo& info) const {
  const ResourceInfo& resource = *info.resource;
  const bool read = info.verb == "get" || info.verb == "list" || info.verb == "watch";
  const std::string& sub = info.subresource;
  if (!sub.empty() && !(sub == "status" && resource.has_status) &&
      !(sub == "token" && resource.kind == "ServiceAccount")) {
    return PathNotFound();
  }
  if (!resource.namespaced && !info.namespace_name.empty()) {
    return PathNotFound();
  }
  if (resource.namespaced && info.namespace_name.empty() && !info.name.empty()) {
    return PathNotFound();
  }
  const bool creates_only = resource.review || sub == "token";
  if ((creates_only && info.verb != "create") ||
      (sub == "status" && (info.verb == "create" || info.verb == "delete")) ||
      (info.verb == "create" && !info.name.empty() && sub != "token") ||
      (info.name.empty() && (info.verb == "update" || info.verb == "patch")) ||
      (info.verb != "create" && info.verb != "update" && info.verb != "patch" &&
       info.verb != "delete" && info.verb != "deletecollection" && !read)) {
    return MethodNotAllowed();
  }
  return std::nullopt;
}

void ApiServer::Answer(const RequestInfo& info, const HttpRequest& request,
                       const WatchFault& watch_fault, const Identity& identity,
                       ResponseWriter& writer) {
  const std::string why = auth_.WhyForbidden(identity, QuestionOf(info, request));
  if (!why.empty()) {
    ApiError error;
    if (info.resource != nullptr) {
      error = Forbidden(*info.resource, info.name, why);
    } else {
      error = ApiError{.code = 403, .reason = "Forbidden", .message = "forbidden: " + why};
    }
    SendReply(ErrorReply(error, ErrorFormat(request)), writer);
    return;
  }
  if (info.resource == nullptr) {
    auto reply = ServeDiscovery(request, options_.version, address_);
    if (!reply && IsServedGroup(request.path)) {
      reply = ErrorReply(PathNotFound(), ErrorFormat(request));
    }
    SendReply(reply ? *reply : Reply{404, "text/plain; charset=utf-8", "404 page not found\n", 0},
              writer);
    return;
  }
  if (auto error = CheckPath(info)) {
    SendReply(ErrorReply(*error, ErrorFormat(request)), writer);
    return;
  }
  if (info.verb == "watch") {
    Watch(info, request, watch_fault, writer);
    return;
  }
  SendReply(Resource(info, request, identity), writer);
}

void ApiServer::Watch(const RequestInfo& info, const HttpRequest& request, const WatchFault& fault,
                      ResponseWriter& writer) {
  const auto format = NegotiateFormat(request.Header("accept"), HasProtobuf(*info.resource), true);
  if (!format) {
    SendReply(ErrorReply(NotAcceptable("application/json"), Format::kJson), writer);
    return;
  }
  const ApiResult<ListOptions> options = ParseListOptions(request);
  if (!options.ok()) {
    SendReply(ErrorReply(options.error(), ErrorFormat(request)), writer);
    return;
  }
  if (auto error = list_watch_.Watch(info, options.value(), *format, fault, writer)) {
    SendReply(ErrorReply(*error, ErrorFormat(request)), writer);
  }
}

ApiResult<Reply> ApiServer::DeleteCollection(const RequestInfo& info, const HttpRequest& request) {
  const ApiResult<ListOptions> options = ParseListOptions(request);
  if (!options.ok()) {
    return options.error();
  }
  ListOptions newest = options.value();
  newest.limit = 0;
  ApiResult<Reply> listed = list_watch_.List(info, newest, Format::kJson);
  if (!listed.ok()) {
    return listed;
  }
  const Json list = *ParseJson(listed.value().body);
  for (const Json& item : list["items"]) {
    RequestInfo each = info;
    each.verb = "delete";
    each.name = TextAt(item, {"metadata", "name"});
    each.namespace_name = TextAt(item, {"metadata", "namespace"});
    const ApiResult<WriteResult> deleted = crud_.Delete(each, request);
    if (!deleted.ok() && deleted.error().code != 404) {
      return deleted.error();
    }
  }
  return listed;
}

Reply ApiServer::Resource(const RequestInfo& info, const HttpRequest& request,
                          const Identity& identity) {
  const Format error_format = ErrorFormat(request);
  const bool reads = info.verb == "get" || info.verb == "list";
  const auto format = NegotiateFormat(request.Header("accept"), HasProtobuf(*info.resource), reads);
  if (!format) {
    return ErrorReply(NotAcceptable("application/json, application/vnd.kubernetes.protobuf"),
                      Format::kJson);
  }
  if (info.resource->review || info.subresource == "token") {
    const ApiResult<Json> reviewed = info.resource->review
                                         ? reviews_.Review(info, request, identity)
                                         : reviews_.RequestToken(info, request);
    return reviewed.ok() ? JsonReply(201, reviewed.value())
                         : ErrorReply(reviewed.error(), error_format);
  }
  if (info.verb == "list" || info.verb == "deletecollection") {
    const ApiResult<ListOptions> options = ParseListOptions(request);
    if (!options.ok()) {
      return ErrorReply(options.error(), error_format);
    }
    ApiResult<Reply> reply = info.verb == "list" ? list_watch_.List(info, options.value(), *format)
                                                 : DeleteCollection(info, request);
    // Moved: a list of thousands of nodes is tens of megabytes.
    return reply.ok() ? std::move(reply.value()) : ErrorReply(reply.error(), error_format);
  }
  if (info.verb == "get") {
    const ApiResult<ObjectPtr> object = crud_.Get(info, request);
    if (!object.ok()) {
      return ErrorReply(object.error(), error_format);
    }
    if (*format == Format::kTable) {
      return JsonReply(200, list_watch_.TableOf(object.value(), request.Query("includeObject")));
    }
    return Reply{200, ContentTypeOf(*format, false), EncodeObject(*object.value(), *format), 0};
  }
  const ApiResult<WriteResult> written = info.verb == "create"   ? crud_.Create(info, request)
                                         : info.verb == "update" ? crud_.Update(info, request)
                                         : info.verb == "patch"  ? crud_.Patch(info, request)
                                                                 : crud_.Delete(info, request);
  if (!written.ok()) {
    return ErrorReply(written.error(), error_format);
  }
  const WriteResult& result = written.value();
  return Reply{result.code, ContentTypeOf(*format, false),
               result.object != nullptr ? EncodeObject(*result.object, *format)
                                        : EncodeStatus(result.status, *format),
               0};
}

}  // namespace otc::kubesim
