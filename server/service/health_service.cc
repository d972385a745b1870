#include "server/service/health_service.h"

#include <optional>
#include <utility>

#include "server/base/status.h"
#include "server/service/calls/admission.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {

// One open Watch. Changes that come while a write is under way are told as one, the latest.
class HealthService::Watcher final : public grpc::ServerWriteReactor<Proto>,
                                     public std::enable_shared_from_this<Watcher> {
 public:
  Watcher(HealthService& service, std::string name) : service_(service), name_(std::move(name)) {}

  const std::string& name() const { return name_; }

  void Tell(Proto::ServingStatus status) {
    const std::lock_guard lock(mutex_);
    next_ = status;
    Pump();
  }

  void End(grpc::Status status) {
    const std::lock_guard lock(mutex_);
    if (!end_) end_ = std::move(status);
    Pump();
  }

  void OnWriteDone(bool ok) override {
    const std::lock_guard lock(mutex_);
    writing_ = false;
    if (!ok && !end_) end_ = grpc::Status::CANCELLED;
    Pump();
  }

  void OnCancel() override { End(grpc::Status::CANCELLED); }

  void OnDone() override {
    const std::shared_ptr<Watcher> self = shared_from_this();
    const std::lock_guard lock(service_.mutex_);
    service_.watchers_.erase(self);
  }

 private:
  void Pump() {
    if (finished_ || writing_) return;
    if (next_ && next_ != told_) {
      told_ = next_;
      message_.set_status(*next_);
      writing_ = true;
      StartWrite(&message_);
    } else if (end_) {
      finished_ = true;
      Finish(*end_);
    }
  }

  HealthService& service_;
  const std::string name_;
  std::mutex mutex_;
  Proto message_;
  std::optional<Proto::ServingStatus> next_, told_;
  std::optional<grpc::Status> end_;
  bool writing_ = false;
  bool finished_ = false;
};

HealthService::HealthService(const std::vector<std::string>& services)
    : services_(services.begin(), services.end()) {
  services_.insert("");
}

HealthService::~HealthService() = default;

HealthService::Proto::ServingStatus HealthService::StatusOf(const std::string& service) const {
  if (!services_.contains(service)) return Proto::SERVICE_UNKNOWN;
  return serving_ && !stuck_ ? Proto::SERVING : Proto::NOT_SERVING;
}

bool HealthService::serving() const {
  const std::lock_guard lock(mutex_);
  return serving_ && !stuck_;
}

void HealthService::SetServing(bool serving) {
  const std::lock_guard lock(mutex_);
  serving_ = serving && !shut_down_;
  TellAll();
}

void HealthService::SetStuck(bool stuck) {
  const std::lock_guard lock(mutex_);
  stuck_ = stuck;
  TellAll();
}

void HealthService::TellAll() {
  for (const std::shared_ptr<Watcher>& watcher : watchers_) {
    watcher->Tell(StatusOf(watcher->name()));
  }
}

void HealthService::Shutdown() {
  const std::lock_guard lock(mutex_);
  shut_down_ = true;
  serving_ = false;
  for (const std::shared_ptr<Watcher>& watcher : watchers_) {
    watcher->Tell(StatusOf(watcher->name()));
    watcher->End(ToGrpcStatus(ServerStopping()));
  }
}

grpc::ServerUnaryReactor* HealthService::Check(grpc::CallbackServerContext* context,
                                               const grpc::health::v1::HealthCheckRequest* request,
                                               Proto* response) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  const std::lock_guard lock(mutex_);
  const Proto::ServingStatus status = StatusOf(request->service());
  if (status == Proto::SERVICE_UNKNOWN) {
    reactor->Finish(ToGrpcStatus(
        NotFound("no such service", {.reason = "SERVICE_NOT_FOUND",
                                     .subject = "services/" + Shorten(request->service()),
                                     .value = Shorten(request->service()),
                                     .fix = "ask for the server as a whole with an empty name"})));
  } else {
    response->set_status(status);
    reactor->Finish(grpc::Status::OK);
  }
  return reactor;
}

grpc::ServerWriteReactor<HealthService::Proto>* HealthService::Watch(
    grpc::CallbackServerContext*, const grpc::health::v1::HealthCheckRequest* request) {
  auto watcher = std::make_shared<Watcher>(*this, request->service());
  const std::lock_guard lock(mutex_);
  watchers_.insert(watcher);
  watcher->Tell(StatusOf(watcher->name()));
  if (shut_down_) watcher->End(ToGrpcStatus(ServerStopping()));
  return watcher.get();
}

}  // namespace sinkd
