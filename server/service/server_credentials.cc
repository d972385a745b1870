#include "server/service/server_credentials.h"

#include <grpcpp/security/tls_certificate_provider.h>
#include <grpcpp/security/tls_credentials_options.h>

namespace sinkd {
namespace {

constexpr unsigned kLookAgainSeconds = 1;

}  // namespace

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const TlsIdentity* identity) {
  if (identity == nullptr) return grpc::InsecureServerCredentials();
  namespace tls = grpc::experimental;
  tls::TlsServerCredentialsOptions options(std::make_shared<tls::FileWatcherCertificateProvider>(
      identity->pair_path(), identity->pair_path(), identity->client_ca_path(), kLookAgainSeconds));
  options.watch_identity_key_cert_pairs();
  if (identity->asks_clients()) {
    options.watch_root_certs();
    options.set_cert_request_type(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  }
  return tls::TlsServerCredentials(options);
}

}  // namespace sinkd
