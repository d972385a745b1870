// CertificateName: the name of a client from its certificate: the common name, or else the first
// alternative name that is a DNS name, an email address, a URI or an IP address.
//
// Thread-safety: pure functions. Errors: none; the name is empty if the certificate has none.
#pragma once

#include <string>

#include <openssl/x509.h>

namespace sinkd {

// `certificate` must have been verified.
std::string CertificateName(const X509& certificate);

}  // namespace sinkd
