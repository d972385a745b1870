// MakeServerCredentials: how the gRPC port speaks - TLS with the identity, clients' certificates
// asked for where it has a CA for them, or plaintext.
//
// A new certificate serves the connections that begin a second after TlsIdentity took it.
//
// Ownership: `identity` is borrowed and must outlive the server; null: plaintext.
// Thread-safety: as grpc::ServerCredentials, which may serve several ports and acceptors.
#pragma once

#include <memory>

#include <grpcpp/security/server_credentials.h>

#include "server/access/tls_identity.h"

namespace sinkd {

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const TlsIdentity* identity);

}  // namespace sinkd
