#include "server/service/calls/call_gate.h"

#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <grpc/grpc.h>
#include <grpcpp/support/server_interceptor.h>

#include "server/access/method_roles.h"
#include "server/base/status.h"
#include "server/scheduler/caller_bound.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {
namespace {

using grpc::experimental::InterceptionHookPoints;

constexpr char kAuthorization[] = "authorization";

absl::Status NotOffered() {
  // The code that makes clients try an older version of a method, of reflection for one.
  return MakeError(absl::StatusCode::kUnimplemented, "this server has no such method",
                   {.reason = "METHOD_UNKNOWN",
                    .subject = "method",
                    .fix = "use a method of the protocol that this server's documents name"});
}

using Metadata = std::multimap<grpc::string_ref, grpc::string_ref>;

std::vector<std::string_view> ValuesOf(const Metadata& metadata, const char* key) {
  std::vector<std::string_view> values;
  const auto [begin, end] = metadata.equal_range(key);
  for (auto each = begin; each != end; ++each) {
    values.emplace_back(each->second.data(), each->second.size());
  }
  return values;
}

// The open calls of gRPC's reflection, each of which holds a thread.
class ReflectionCalls {
 public:
  absl::Status Enter(const std::string& caller) {
    const std::lock_guard lock(mutex_);
    SINKD_RETURN_IF_ERROR(bound_.Check(caller));
    bound_.Take(caller, 1);
    return absl::OkStatus();
  }
  void Leave(const std::string& caller) {
    const std::lock_guard lock(mutex_);
    bound_.Give(caller, 1);
  }

 private:
  static constexpr int64_t kMostOfACaller = 8;

  std::mutex mutex_;
  CallerBound bound_{"open reflection calls", kMostOfACaller};
};

class Interceptor final : public grpc::experimental::Interceptor {
 public:
  Interceptor(AccessControl& access, const FindPeer& find_peer, const LocalCallers& local,
              Metrics& metrics, ReflectionCalls& reflection,
              grpc::experimental::ServerRpcInfo& call)
      : access_(access),
        find_peer_(find_peer),
        local_(local),
        metrics_(metrics),
        reflection_(reflection),
        call_(call) {}

  ~Interceptor() override {
    if (reflects_for_) reflection_.Leave(*reflects_for_);
  }

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_INITIAL_METADATA)) {
      Judge();
    }
    // Whatever a handler answers that did not look.
    if (!verdict_.ok() &&
        methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      methods->ModifySendStatus(ToGrpcStatus(verdict_));
    }
    methods->Proceed();
  }

 private:
  void Judge() {
    const std::shared_ptr<const Peer> found = find_peer_(call_.server_context()->peer());
    const std::optional<LocalCaller> local = found ? std::nullopt : FindLocal();
    const Peer peer = found ? *found : local ? local->peer : Peer();
    absl::StatusOr<std::shared_ptr<const Principal>> principal =
        local ? local->principal : Admit(found != nullptr, peer);
    auto* const context = dynamic_cast<CallContext*>(call_.server_context());
    if (principal.ok() && context == nullptr) {
      principal = EnterReflection(*std::move(principal), peer);
    }
    verdict_ = principal.status();
    if (!verdict_.ok() && !absl::IsCancelled(verdict_)) {
      metrics_.access().Refused(AccessPort::kGrpc, verdict_.code());
    }
    if (context != nullptr) {
      context->verdict = verdict_;
      context->peer = peer;
      if (principal.ok()) context->principal = *std::move(principal);
    } else if (!verdict_.ok()) {
      const std::string message(verdict_.message());
      grpc_call_cancel_with_status(call_.server_context()->c_call(),
                                   static_cast<grpc_status_code>(verdict_.code()), message.c_str(),
                                   nullptr);
    }
  }

  std::optional<LocalCaller> FindLocal() const {
    const auto keys = ValuesOf(call_.server_context()->client_metadata(), kLocalCallerKey);
    return keys.size() == 1 ? local_.Find(keys[0]) : std::nullopt;
  }

  absl::StatusOr<std::shared_ptr<const Principal>> Admit(bool connected, const Peer& peer) {
    // gRPC still begins calls of a client that has disconnected. They must not take places, since
    // nobody is left whom they could be counted for.
    if (!connected) return Cancelled("the client has disconnected");
    std::string_view method = call_.method();
    method.remove_prefix(method.starts_with('/') ? 1 : 0);
    const MethodRole* const rule = FindMethodRole(method);
    if (rule == nullptr) return NotOffered();
    const grpc::ServerContextBase& context = *call_.server_context();
    const Credentials shown{.authorization = ValuesOf(context.client_metadata(), kAuthorization),
                            .certificate_name = peer.certificate_name,
                            .peer_host = peer.host};
    if (!rule->role) return access_.Anyone(shown);
    return access_.Admit(shown, *rule->role);
  }

  // Reflection is the only service that gRPC provides.
  absl::StatusOr<std::shared_ptr<const Principal>> EnterReflection(
      std::shared_ptr<const Principal> principal, const Peer& peer) {
    const std::string caller = principal ? principal->name() : peer.host;
    SINKD_RETURN_IF_ERROR(reflection_.Enter(caller));
    reflects_for_ = caller;
    return principal;
  }

  AccessControl& access_;
  const FindPeer& find_peer_;
  const LocalCallers& local_;
  Metrics& metrics_;
  ReflectionCalls& reflection_;
  grpc::experimental::ServerRpcInfo& call_;
  absl::Status verdict_;
  std::optional<std::string> reflects_for_;  // the caller whose place it holds
};

class InterceptorFactory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  InterceptorFactory(AccessControl& access, FindPeer find_peer, const LocalCallers& local,
                     Metrics& metrics)
      : access_(access), find_peer_(std::move(find_peer)), local_(local), metrics_(metrics) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(
      grpc::experimental::ServerRpcInfo* info) override {
    // gRPC's from now on.
    return new Interceptor(access_, find_peer_, local_, metrics_, reflection_, *info);
  }

 private:
  AccessControl& access_;
  const FindPeer find_peer_;
  const LocalCallers& local_;
  Metrics& metrics_;
  ReflectionCalls reflection_;
};

class ContextAllocator final : public grpc::ContextAllocator {
 public:
  grpc::CallbackServerContext* NewCallbackServerContext() override { return new CallContext; }
  // gRPC hands over the contexts of unknown methods too, which it made and deletes itself.
  void Release(grpc::CallbackServerContext* context) override {
    delete dynamic_cast<CallContext*>(context);
  }
};

}  // namespace

absl::Status VerdictOf(const grpc::CallbackServerContext& context) {
  const auto* const judged = dynamic_cast<const CallContext*>(&context);
  return judged != nullptr ? judged->verdict : CallContext().verdict;
}

std::shared_ptr<const Principal> PrincipalOf(const grpc::CallbackServerContext& context) {
  const auto* const judged = dynamic_cast<const CallContext*>(&context);
  return judged != nullptr ? judged->principal : nullptr;
}

const Peer& PeerOf(const grpc::CallbackServerContext& context) {
  static const Peer unknown;
  const auto* const judged = dynamic_cast<const CallContext*>(&context);
  return judged != nullptr ? judged->peer : unknown;
}

void AddCallGate(AccessControl& access, FindPeer find_peer, const LocalCallers& local,
                 Metrics& metrics, grpc::ServerBuilder& builder) {
  builder.SetContextAllocator(std::make_unique<ContextAllocator>());
  std::vector<std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface>> gates;
  gates.push_back(
      std::make_unique<InterceptorFactory>(access, std::move(find_peer), local, metrics));
  builder.experimental().SetInterceptorCreators(std::move(gates));
}

}  // namespace sinkd
