// PeerHost: the host of what gRPC calls a peer, without the port.
//
//   ipv4:127.0.0.1:50051        127.0.0.1
//   ipv6:%5B::1%5D:50051        ::1
//   unix:/run/a, unix:          unix
//
// Thread-safety: pure function.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

std::string PeerHost(std::string_view peer);

}  // namespace sinkd
