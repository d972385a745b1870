// TlsFiles: the certificate, key and client CA of a server, read and checked.
//
// What is returned can be served: the chain and the key are PEM, the key is that of the first
// certificate and has no passphrase, and the CA file holds at least one certificate. That a
// certificate has expired is no error, since a server that refuses to start helps nobody; not_after
// tells.
//
// Thread-safety: values; ReadTlsFiles only reads. Errors: FAILED_PRECONDITION naming the file; no
// byte of a key is ever in a message.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct TlsPaths {
  std::filesystem::path certificate;  // PEM, the server's own first, then the intermediate ones
  std::filesystem::path key;          // PEM
  std::filesystem::path client_ca;    // PEM; empty: clients need no certificate

  bool on() const { return !certificate.empty(); }
  bool operator==(const TlsPaths&) const = default;
};

struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;
  std::chrono::system_clock::time_point not_after;  // of the server's own certificate
  std::string fingerprint;                          // its SHA-256, for logs

  // Whether the same bytes.
  bool operator==(const TlsFiles&) const = default;
};

absl::StatusOr<TlsFiles> ReadTlsFiles(const TlsPaths& paths);

}  // namespace sinkd
