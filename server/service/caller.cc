#include "server/service/caller.h"

#include "server/service/call_gate.h"
#include "server/service/peer_host.h"

namespace sinkd {

Caller CallerOf(const grpc::ServerContextBase& context) {
  const auto* const judged = dynamic_cast<const CallContext*>(&context);
  if (judged == nullptr || !judged->principal) return {.name = PeerHost(context.peer())};
  return {.name = judged->principal->name(),
          .weight = judged->principal->weight(),
          .principal = judged->principal};
}

}  // namespace sinkd
