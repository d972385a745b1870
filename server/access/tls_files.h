// TlsFiles: the certificate, key and client CA of a server, read and checked.
//
// The result is usable: chain and key are PEM, the key belongs to the first certificate and has no
// passphrase, and the CA file holds at least one certificate. An expired certificate is not an
// error, since a server that does not start is worse than one whose clients complain; see
// not_after.
//
// Thread-safety: values; ReadTlsFiles only reads. Errors: FAILED_PRECONDITION, which names the file
// and never contains a part of a key.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include <absl/status/statusor.h>

namespace sinkd {

struct TlsPaths {
  std::filesystem::path certificate;  // PEM: the server's, then intermediate ones
  std::filesystem::path key;          // PEM
  std::filesystem::path client_ca;    // PEM; empty: clients need no certificate

  bool on() const { return !certificate.empty(); }
  bool operator==(const TlsPaths&) const = default;
};

struct TlsFiles {
  std::string certificate;
  std::string key;
  std::string client_ca;
  std::chrono::system_clock::time_point not_after;  // of the server's certificate
  std::string fingerprint;                          // its SHA-256, for logs

  // Compares all bytes.
  bool operator==(const TlsFiles&) const = default;
};

absl::StatusOr<TlsFiles> ReadTlsFiles(const TlsPaths& paths);

}  // namespace sinkd
