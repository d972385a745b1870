#include "server/service/health_service.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"
#include "server/scheduler/caller_bound.h"
#include "server/service/calls/message_bytes.h"

namespace sinkd {
namespace {

constexpr size_t kMostRequestBytes = 4 << 10;
constexpr size_t kMostOpen = 1024;
// A name is there at once, and until it is whole anybody can hold as much as a message may have.
constexpr std::chrono::milliseconds kNameTimeout{5000};

CallResources Hastened(CallResources calls) {
  calls.times.first_message = std::min(calls.times.first_message, kNameTimeout);
  return calls;
}

absl::Status RequestTooLarge(size_t bytes) {
  return InvalidArgument(absl::StrCat("a request of ", bytes, " bytes is larger than the ",
                                      kMostRequestBytes, " that a service's name may take"),
                         {.reason = "MESSAGE_TOO_LARGE",
                          .subject = "service",
                          .value = absl::StrCat(bytes),
                          .fix = "name a service of this server, or none"});
}

absl::Status NoSuchService(const std::string& name) {
  return NotFound("no such service", {.reason = "SERVICE_NOT_FOUND",
                                      .subject = "services/" + Shorten(name),
                                      .value = Shorten(name),
                                      .fix = "ask for the server as a whole with an empty name"});
}

}  // namespace

// One Check or Watch. Of changes that happen during a write, only the latest is sent.
class HealthService::HealthCall final : public Call {
 public:
  HealthCall(grpc::CallbackServerContext* context, const CallResources& calls,
             HealthService& service, bool watch)
      : Call(context, {}, calls), service_(service), watch_(watch) {}
  ~HealthCall() override { service_.Leave(this); }

  const std::string& owner() const { return caller().name; }

  void Tell() {
    const std::lock_guard lock(mutex_);
    Pump();
  }

 private:
  absl::Status Start() override {
    SINKD_RETURN_IF_ERROR(service_.Enter(std::static_pointer_cast<HealthCall>(shared_from_this())));
    Read();
    return absl::OkStatus();
  }

  absl::Status Received(grpc::ByteBuffer message) override {
    if (message.Length() > kMostRequestBytes) return RequestTooLarge(message.Length());
    grpc::health::v1::HealthCheckRequest request;
    if (!ParseMessage(message, request)) return MalformedMessage(*request.descriptor());
    const std::lock_guard lock(mutex_);
    name_ = request.service();
    return absl::OkStatus();
  }

  void Advance() override {
    if (!name_ || writing()) return;
    Proto message;
    message.set_status(service_.StatusOf(*name_));
    if (!watch_) {
      if (message.status() == Proto::SERVICE_UNKNOWN) return End(NoSuchService(*name_));
      return EndWith(SerializeMessage(message));
    }
    if (message.status() != told_) {
      told_ = message.status();
      Write(SerializeMessage(message));
    } else if (service_.shut_down()) {
      End(ServerStopping());
    }
  }

  HealthService& service_;
  const bool watch_;
  std::optional<std::string> name_;  // once it came
  std::optional<Proto::ServingStatus> told_;
};

HealthService::HealthService(const CallResources& resources,
                             const std::vector<std::string>& services)
    : CallService(Hastened(resources)),
      services_(services.begin(), services.end()),
      bound_("open health calls", CallersPart(kMostOpen, resources.max_caller_percent)) {
  services_.insert("");
  for (const bool watch : {false, true}) {
    AddMethod(watch ? "/grpc.health.v1.Health/Watch" : "/grpc.health.v1.Health/Check",
              [this, watch](grpc::CallbackServerContext* context) {
                return Call::Begin(std::make_shared<HealthCall>(context, calls(), *this, watch));
              });
  }
}

HealthService::~HealthService() = default;

HealthService::Proto::ServingStatus HealthService::StatusOf(const std::string& service) const {
  const std::lock_guard lock(mutex_);
  if (!services_.contains(service)) return Proto::SERVICE_UNKNOWN;
  return serving_ && !stuck_ ? Proto::SERVING : Proto::NOT_SERVING;
}

bool HealthService::serving() const {
  return StatusOf("") == Proto::SERVING;
}

bool HealthService::shut_down() const {
  const std::lock_guard lock(mutex_);
  return shut_down_;
}

absl::Status HealthService::Enter(const std::shared_ptr<HealthCall>& call) {
  const std::lock_guard lock(mutex_);
  if (open_.size() >= kMostOpen) {
    return ResourceExhausted(absl::StrCat("all ", kMostOpen, " health calls are in use"),
                             {.reason = "TOO_MANY_STREAMS",
                              .subject = "health calls",
                              .value = absl::StrCat(kMostOpen),
                              .fix = "retry when another one has ended",
                              .retry_after = std::chrono::milliseconds(1000)});
  }
  SINKD_RETURN_IF_ERROR(bound_.Check(call->owner()));
  bound_.Take(call->owner(), 1);
  open_.emplace(call.get(), call);
  return absl::OkStatus();
}

void HealthService::Leave(const HealthCall* call) {
  const std::lock_guard lock(mutex_);
  if (open_.erase(call) > 0) bound_.Give(call->owner(), 1);
}

void HealthService::SetServing(bool serving) {
  {
    const std::lock_guard lock(mutex_);
    serving_ = serving && !shut_down_;
  }
  TellAll();
}

void HealthService::SetStuck(bool stuck) {
  {
    const std::lock_guard lock(mutex_);
    stuck_ = stuck;
  }
  TellAll();
}

void HealthService::Shutdown() {
  {
    const std::lock_guard lock(mutex_);
    shut_down_ = true;
    serving_ = false;
  }
  TellAll();
}

void HealthService::TellAll() {
  std::vector<std::shared_ptr<HealthCall>> calls;  // which may be the last to hold them
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [address, each] : open_) {
      if (std::shared_ptr<HealthCall> call = each.lock()) calls.push_back(std::move(call));
    }
  }
  for (const std::shared_ptr<HealthCall>& call : calls) call->Tell();
}

}  // namespace sinkd
