#include "server/service/calls/caller.h"

#include "server/service/calls/call_gate.h"

namespace sinkd {

Caller CallerOf(const grpc::CallbackServerContext& context) {
  const std::shared_ptr<const Principal> principal = PrincipalOf(context);
  if (!principal) return {.name = PeerOf(context).host};
  return {.name = principal->name(), .weight = principal->weight(), .principal = principal};
}

Account AccountOf(const Caller& caller, Lane lane) {
  return {.caller = caller.name, .weight = caller.weight, .lane = lane};
}

}  // namespace sinkd
