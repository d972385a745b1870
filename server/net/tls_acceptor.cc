#include "server/net/tls_acceptor.h"

#include <openssl/ssl.h>
#include <utility>

#include <boost/asio/buffer.hpp>

namespace sinkd {
namespace {

namespace ssl = boost::asio::ssl;

constexpr char kTls12Ciphers[] = "ECDHE+AESGCM:ECDHE+CHACHA20";

const unsigned char* Bytes(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// `mine` is the std::string of protocols to choose from.
int ChooseProtocol(SSL*, const unsigned char** chosen, unsigned char* size,
                   const unsigned char* offered, unsigned int offered_size, void* mine) {
  const auto& protocols = *static_cast<const std::string*>(mine);
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, Bytes(protocols),
                            static_cast<unsigned int>(protocols.size()), offered,
                            offered_size) != OPENSSL_NPN_NEGOTIATED) {
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  }
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

}  // namespace

TlsAcceptor::TlsAcceptor(const TlsIdentity& identity, const TlsRules& rules)
    : identity_(identity), needs_certificate_(rules.needs_certificate) {
  if (rules.protocol.empty()) return;
  protocols_ = static_cast<char>(rules.protocol.size()) + rules.protocol;
}

std::unique_ptr<ssl::context> TlsAcceptor::MakeContext(const TlsFiles& files) {
  auto context = std::make_unique<ssl::context>(ssl::context::tls_server);
  SSL_CTX* const handle = context->native_handle();
  SSL_CTX_set_min_proto_version(handle, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(handle, kTls12Ciphers);
  // A resumed session would outlive the certificate.
  SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(handle, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(handle, 0);
  if (!protocols_.empty()) SSL_CTX_set_alpn_select_cb(handle, ChooseProtocol, &protocols_);
  context->use_certificate_chain(boost::asio::buffer(files.certificate));
  context->use_private_key(boost::asio::buffer(files.key), ssl::context::pem);
  if (files.client_ca.empty()) return context;
  context->set_verify_mode(needs_certificate_ ? ssl::verify_peer | ssl::verify_fail_if_no_peer_cert
                                              : ssl::verify_peer);
  context->add_certificate_authority(boost::asio::buffer(files.client_ca));
  // Clients with several certificates choose by these.
  STACK_OF(X509_OBJECT)* const store = X509_STORE_get0_objects(SSL_CTX_get_cert_store(handle));
  for (int i = 0; i < sk_X509_OBJECT_num(store); ++i) {
    SSL_CTX_add_client_CA(handle, X509_OBJECT_get0_X509(sk_X509_OBJECT_value(store, i)));
  }
  return context;
}

ssl::context& TlsAcceptor::context() {
  std::shared_ptr<const TlsFiles> files = identity_.current();
  if (files != files_) {
    context_ = MakeContext(*files);
    files_ = std::move(files);
  }
  return *context_;
}

}  // namespace sinkd
