// UnaryCall: a call with one request and one response, computed on a thread that may block.
//
// Thread-safety: see call.h.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string_view>
#include <type_traits>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/base/status.h"
#include "server/service/calls/call.h"
#include "server/service/calls/message_bytes.h"

namespace sinkd {

using UnaryWork = std::function<absl::StatusOr<grpc::ByteBuffer>(const grpc::ByteBuffer& request,
                                                                 const std::stop_token& stop)>;

class UnaryCall final : public Call {
 public:
  UnaryCall(grpc::CallbackServerContext* context, std::string_view method,
            const CallResources& resources, Executor* threads, UnaryWork work);

 private:
  absl::Status Start() override;
  absl::Status Received(grpc::ByteBuffer message) override;

  Executor& threads_;
  const UnaryWork work_;
  std::unique_ptr<Executor::Stream> waiting_;
};

// Turns `work` on messages into work on bytes.
template <typename Request, typename Work>
UnaryWork UnaryWorkOf(Work work) {
  return [work](const grpc::ByteBuffer& bytes,
                const std::stop_token& stop) -> absl::StatusOr<grpc::ByteBuffer> {
    Request request;
    if (!ParseMessage(bytes, request)) return MalformedMessage(*request.descriptor());
    if constexpr (std::is_invocable_v<Work, const Request&, const std::stop_token&>) {
      SINKD_ASSIGN_OR_RETURN(const auto response, work(request, stop));
      return SerializeMessage(response);
    } else {
      SINKD_ASSIGN_OR_RETURN(const auto response, work(request));
      return SerializeMessage(response);
    }
  };
}

}  // namespace sinkd
