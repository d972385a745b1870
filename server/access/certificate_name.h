// CertificateName: who a client's certificate says it is, on both ports: its common name, else its
// first alternative name that is a DNS name, an email address, a URI or an IP address.
//
// Thread-safety: pure functions. Errors: none; a certificate without a name has the empty one.
#pragma once

#include <string>

#include <openssl/x509.h>

namespace sinkd {

// Of a certificate that was verified.
std::string CertificateName(const X509& certificate);

}  // namespace sinkd
