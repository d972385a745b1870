// Peer: the client at the other end of a connection. A value.
#pragma once

#include <string>

namespace sinkd {

struct Peer {
  std::string address = "unknown";    // for logs: "ipv4:192.0.2.7:4711", "ipv6:[::1]:4711", "unix:"
  std::string host = "unknown";       // "192.0.2.7", "::1", "unix"
  std::string certificate_name = {};  // CertificateName of its certificate; empty: it has none
};

}  // namespace sinkd
