// The C++ side of a plugin: an instance class, the interfaces it implements, and
// one macro that makes the C descriptor and the entry from them.
//
//   class Hello : public otc::Plugin, public otc::InstancesV2 {
//    public:
//     static otc::Result<std::unique_ptr<Hello>> Create(const otc::Host& host,
//                                                       const otc::Call& call,
//                                                       std::string_view config);
//     otc::Status Describe(const otc::plugin::v1::InstanceDescribeRequest& request,
//                          otc::InstanceEmitter& out) override;
//   };
//   OTC_DEFINE_PLUGIN(Hello, otc::InstancesV2Interface<Hello>)
//
// Every slot goes through a guard: a failed Status becomes code, reason and
// message; an exception of any kind becomes UNKNOWN with reason PluginException;
// nothing is thrown across the border. Several instances may live side by side:
// keep no mutable globals.
#ifndef OTC_CPP_PLUGIN_H_
#define OTC_CPP_PLUGIN_H_

#include <google/protobuf/stubs/logging.h>

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "otc/cpp/call.h"
#include "otc/cpp/host.h"
#include "otc/cpp/status.h"
#include "otc/cpp/text.h"
#include "otc/plugin.h"
#include "otc/plugin/v1/instances.pb.h"
#include "otc/plugin/v1/load_balancer.pb.h"
#include "otc/plugin/v1/reconciler.pb.h"

namespace otc {

// One instance. Made by the static Create of the derived class, which parses the
// configuration and looks services up, without cloud, network or threads. A
// Create that fails with FAILED_PRECONDITION `NotConfigured` means "switched off
// by configuration". The destructor is the slot `destroy`.
class Plugin {
 public:
  virtual ~Plugin() = default;
  // May read the cloud, must not write to it. UNAVAILABLE is tried again.
  virtual Status Start(const Call&) { return Status::Ok(); }
  // All or nothing: on an error the old configuration stays in force.
  // UNIMPLEMENTED (the default) leaves it in force too.
  virtual Status Reconfigure(const Call&, std::string_view /*config*/) {
    return Status(Code::kUnimplemented, "NotReloadable",
                  "this plugin takes a new configuration at the next start only");
  }
  // Ends own threads; next comes the destructor.
  virtual Status Quiesce(const Call&) { return Status::Ok(); }
};

using InstanceEmitter = Emitter<plugin::v1::InstanceDescribeResult>;

// otc.instances-v2/1. Called by up to two workers at once. Results count even
// when the returned status is an error; a node without a result is UNKNOWN.
class InstancesV2 {
 public:
  virtual ~InstancesV2() = default;
  virtual Status Describe(const plugin::v1::InstanceDescribeRequest& request,
                          InstanceEmitter& out) = 0;
};

// otc.load-balancer/draft-1. One call at a time for a Service, many in parallel.
class LoadBalancer {
 public:
  using Request = plugin::v1::LoadBalancerRequest;
  using Answer = Result<plugin::v1::LoadBalancerResult>;
  virtual ~LoadBalancer() = default;
  virtual Answer Get(const Request& request, const Call& call) = 0;
  virtual Answer Ensure(const Request& request, const Call& call) = 0;
  virtual Answer Update(const Request& request, const Call& call) = 0;
  virtual Answer Remove(const Request& request, const Call& call) = 0;
};

// otc.reconciler/draft-1. One call at a time for an object, many in parallel.
class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual Status Watches(Emitter<plugin::v1::WatchDeclaration>& out) = 0;
  virtual Result<plugin::v1::ReconcileResult> Reconcile(const plugin::v1::ReconcileRequest& request,
                                                        const Call& call) = 0;
};

namespace glue {

// Runs `body` (Call → Status) as a slot. Reporting an exception needs no memory.
template <typename Body>
std::int32_t Guard(const otc_call* raw, Body&& body) noexcept {
  const Call call(raw);
  try {
    return call.Finish(body(call));
  } catch (const std::exception& error) {
    return call.Fail(OTC_UNKNOWN, kReasonException, ShortLine(error.what()).view(), 0);
  } catch (...) {
    return call.Fail(OTC_UNKNOWN, kReasonException, "an exception of unknown type", 0);
  }
}

template <typename Message>
Status Parse(otc_bytes request, Message* out) {
  if (request.len <= INT32_MAX && out->ParseFromArray(request.ptr, static_cast<int>(request.len))) {
    return Status::Ok();
  }
  return Status(Code::kInvalidArgument, kReasonBadRequest,
                "the request of " + std::to_string(request.len) + " bytes cannot be read");
}

// A slot that takes one message and gives one.
template <typename Request, typename Body>
std::int32_t Unary(const otc_call* raw, otc_bytes bytes, Body&& body) noexcept {
  return Guard(raw, [&](const Call& call) -> Status {
    Request request;
    OTC_RETURN_IF_ERROR(Parse(bytes, &request));
    auto answer = body(request, call);
    if (!answer.ok()) return answer.status();
    return call.EmitResult(answer.value());
  });
}

// The life-cycle slots of instance class P.
template <typename P>
struct Life {
  static std::int32_t Create(const otc_host* host, const otc_call* call, otc_bytes config,
                             void** self) noexcept {
    return Guard(call, [&](const Call& wrapped) -> Status {
      // Malformed text would otherwise be printed to stderr by the library.
      google::protobuf::SetLogHandler(nullptr);
      Result<std::unique_ptr<P>> made = P::Create(Host(host), wrapped, View(config));
      if (!made.ok()) return made.status();
      *self = made.value().release();
      return Status::Ok();
    });
  }
  static std::int32_t Start(void* self, const otc_call* call, otc_bytes) noexcept {
    return Guard(call, [&](const Call& c) { return static_cast<P*>(self)->Start(c); });
  }
  static std::int32_t Reconfigure(void* self, const otc_call* call, otc_bytes config) noexcept {
    return Guard(
        call, [&](const Call& c) { return static_cast<P*>(self)->Reconfigure(c, View(config)); });
  }
  static std::int32_t Quiesce(void* self, const otc_call* call, otc_bytes) noexcept {
    return Guard(call, [&](const Call& c) { return static_cast<P*>(self)->Quiesce(c); });
  }
  static void Destroy(void* self) noexcept { delete static_cast<P*>(self); }
};

// True when class P brings its own Reconfigure.
template <typename P>
constexpr bool Reloads() {
  return !std::is_same_v<decltype(&P::Reconfigure), decltype(&Plugin::Reconfigure)>;
}

}  // namespace glue

// The C tables, one template for each interface. `kInterface` goes into the
// descriptor (OTC_DEFINE_PLUGIN takes the templates' instances).
template <typename P>
struct InstancesV2Interface {
  static std::int32_t Describe(void* self, const otc_call* raw, otc_bytes bytes) noexcept {
    return glue::Guard(raw, [&](const Call& call) -> Status {
      plugin::v1::InstanceDescribeRequest request;
      OTC_RETURN_IF_ERROR(glue::Parse(bytes, &request));
      InstanceEmitter out(call);
      return static_cast<P*>(self)->Describe(request, out);
    });
  }
  static constexpr otc_instances_v2_1 kTable = {sizeof(otc_instances_v2_1), 0, &Describe};
  static constexpr otc_interface kInterface = {Str("otc.instances-v2/1"), &kTable};
};

template <typename P>
struct LoadBalancerInterface {
  using Request = plugin::v1::LoadBalancerRequest;
  template <LoadBalancer::Answer (P::*Method)(const Request&, const Call&)>
  static std::int32_t Slot(void* self, const otc_call* raw, otc_bytes bytes) noexcept {
    return glue::Unary<Request>(raw, bytes, [&](const Request& request, const Call& call) {
      return (static_cast<P*>(self)->*Method)(request, call);
    });
  }
  static constexpr otc_load_balancer_1 kTable = {sizeof(otc_load_balancer_1),
                                                 0,
                                                 &Slot<&P::Get>,
                                                 &Slot<&P::Ensure>,
                                                 &Slot<&P::Update>,
                                                 &Slot<&P::Remove>};
  static constexpr otc_interface kInterface = {Str("otc.load-balancer/draft-1"), &kTable};
};

template <typename P>
struct ReconcilerInterface {
  static std::int32_t Watches(void* self, const otc_call* raw, otc_bytes) noexcept {
    return glue::Guard(raw, [&](const Call& call) -> Status {
      Emitter<plugin::v1::WatchDeclaration> out(call);
      return static_cast<P*>(self)->Watches(out);
    });
  }
  static std::int32_t Reconcile(void* self, const otc_call* raw, otc_bytes bytes) noexcept {
    using Request = plugin::v1::ReconcileRequest;
    return glue::Unary<Request>(raw, bytes, [&](const Request& request, const Call& call) {
      return static_cast<P*>(self)->Reconcile(request, call);
    });
  }
  static constexpr otc_reconciler_1 kTable = {sizeof(otc_reconciler_1), 0, &Watches, &Reconcile};
  static constexpr otc_interface kInterface = {Str("otc.reconciler/draft-1"), &kTable};
};

// One gRPC method for an otc_grpc_service_1 table: request bytes in, message
// bytes out. `Method` is Result<std::string> (P::*)(std::string_view, const Call&).
template <typename P, Result<std::string> (P::*Method)(std::string_view, const Call&)>
constexpr otc_grpc_method GrpcUnary(std::string_view path, std::uint32_t flags = 0) {
  return otc_grpc_method{Str(path),
                         [](void* self, const otc_call* raw, otc_bytes bytes) -> std::int32_t {
                           return glue::Guard(raw, [&](const Call& call) -> Status {
                             Result<std::string> answer =
                                 (static_cast<P*>(self)->*Method)(View(bytes), call);
                             if (!answer.ok()) return answer.status();
                             return call.EmitBytes(OTC_EMIT_RESULT, *answer);
                           });
                         },
                         OTC_GRPC_UNARY, flags};
}

// The same for a server stream: `Method` is Status (P::*)(std::string_view,
// const Call&) and sends each message with call.EmitBytes(OTC_EMIT_RESULT, …).
template <typename P, Status (P::*Method)(std::string_view, const Call&)>
constexpr otc_grpc_method GrpcServerStream(std::string_view path) {
  return otc_grpc_method{Str(path),
                         [](void* self, const otc_call* raw, otc_bytes bytes) -> std::int32_t {
                           return glue::Guard(raw, [&](const Call& call) {
                             return (static_cast<P*>(self)->*Method)(View(bytes), call);
                           });
                         },
                         OTC_GRPC_SERVER_STREAM, 0};
}

}  // namespace otc

// Makes the descriptor and the entry of a plugin. `Type` is the instance class,
// behind it one or more structs with a `kInterface`. The texts come from
// otc_add_plugin, which writes the same ones into the manifest.
#define OTC_DEFINE_PLUGIN(Type, ...)                                                    \
  namespace {                                                                           \
  template <typename... Interface>                                                      \
  struct OtcDescriptor {                                                                \
    static constexpr otc_interface kInterfaces[] = {Interface::kInterface...};          \
    static constexpr otc_plugin kPlugin = {                                             \
        sizeof(otc_plugin),                                                             \
        OTC_PLUGIN_MAGIC,                                                               \
        OTC_ABI_MAJOR,                                                                  \
        OTC_ABI_MINOR,                                                                  \
        0,                                                                              \
        ::otc::Str(OTC_PLUGIN_ID),                                                      \
        ::otc::Str(OTC_PLUGIN_TITLE),                                                   \
        ::otc::Str(OTC_PLUGIN_VENDOR),                                                  \
        ::otc::Str(OTC_PLUGIN_VERSION),                                                 \
        ::otc::Str(OTC_PLUGIN_LICENCE),                                                 \
        kInterfaces,                                                                    \
        sizeof...(Interface),                                                           \
        &::otc::glue::Life<Type>::Create,                                               \
        &::otc::glue::Life<Type>::Start,                                                \
        ::otc::glue::Reloads<Type>() ? &::otc::glue::Life<Type>::Reconfigure : nullptr, \
        &::otc::glue::Life<Type>::Quiesce,                                              \
        &::otc::glue::Life<Type>::Destroy};                                             \
  };                                                                                    \
  }                                                                                     \
  extern "C" const otc_plugin* otc_plugin_entry_v1(const otc_host*) {                   \
    return &OtcDescriptor<__VA_ARGS__>::kPlugin;                                        \
  }                                                                                     \
  static_assert(true, "a semicolon may follow")

#endif  // OTC_CPP_PLUGIN_H_
