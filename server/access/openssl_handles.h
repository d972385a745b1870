// Owning pointers to OpenSSL's objects. Thread-safety: none.
#pragma once

#include <memory>

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

namespace sinkd {

template <auto Free>
struct Freed {
  void operator()(auto* pointer) const { Free(pointer); }
};
using Bio = std::unique_ptr<BIO, Freed<BIO_free>>;
using Certificate = std::unique_ptr<X509, Freed<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freed<EVP_PKEY_free>>;

}  // namespace sinkd
