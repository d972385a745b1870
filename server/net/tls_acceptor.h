// TlsAcceptor: the TLS settings of a port, with the certificate currently in force.
//
// TLS 1.3, or 1.2 with forward secrecy and authenticated encryption. With a client CA, clients may
// or must send a certificate (TlsRules); a certificate that the CA did not sign ends the handshake.
//
// Ownership: the identity is borrowed. Thread-safety: none. Errors: boost::system::system_error.
#pragma once

#include <memory>
#include <string>

#include <boost/asio/ssl/context.hpp>

#include "server/access/tls_identity.h"

namespace sinkd {

// What a port requires of its clients.
struct TlsRules {
  bool needs_certificate = false;  // if there is a client CA
  std::string protocol = {};       // that they must offer in ALPN, "h2"; empty: any
};

class TlsAcceptor {
 public:
  explicit TlsAcceptor(const TlsIdentity& identity, const TlsRules& rules = {});
  TlsAcceptor(const TlsAcceptor&) = delete;  // contexts point at it
  TlsAcceptor& operator=(const TlsAcceptor&) = delete;

  // For a new connection. Valid until the next call.
  boost::asio::ssl::context& context();

 private:
  std::unique_ptr<boost::asio::ssl::context> MakeContext(const TlsFiles& files);

  const TlsIdentity& identity_;
  const bool needs_certificate_;
  std::string protocols_;                  // in the wire format of ALPN
  std::shared_ptr<const TlsFiles> files_;  // that context_ is made of
  std::unique_ptr<boost::asio::ssl::context> context_;
};

}  // namespace sinkd
