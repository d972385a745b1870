// TlsAcceptor: how the HTTP port speaks TLS, with the certificate that is in force.
//
// TLS 1.3, or 1.2 with ciphers that have forward secrecy and authenticate what they encrypt. A
// client may show a certificate; one that the client CA did not sign ends the handshake.
//
// Ownership: the identity is borrowed. Thread-safety: none. Errors: boost::system::system_error.
#pragma once

#include <memory>

#include <boost/asio/ssl/context.hpp>

#include "server/access/tls_identity.h"

namespace sinkd {

class TlsAcceptor {
 public:
  explicit TlsAcceptor(const TlsIdentity& identity) : identity_(identity) {}

  // To begin a connection with. Valid until the next call.
  boost::asio::ssl::context& context();

 private:
  const TlsIdentity& identity_;
  std::shared_ptr<const TlsFiles> files_;  // that context_ is made of
  std::unique_ptr<boost::asio::ssl::context> context_;
};

}  // namespace sinkd
