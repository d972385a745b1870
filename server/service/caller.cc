#include "server/service/caller.h"

namespace sinkd {

Caller CallerOf(const grpc::ServerContextBase& context) {
  const std::string peer = context.peer();  // "ipv4:127.0.0.1:41234"
  return {.name = peer.substr(0, peer.rfind(':'))};
}

}  // namespace sinkd
