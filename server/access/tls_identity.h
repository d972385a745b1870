// TlsIdentity: who this server is to its clients, and whom it takes, kept in step with its files.
//
// A new pair that cannot be used - broken, half written, key and certificate of two pairs - leaves
// the one in force as it is. Connections that are open go on with what they began with.
//
// gRPC reads certificates from files only, and would serve any pair that it finds there; so it is
// given the paths of copies in memory, which hold nothing that was not checked first.
//
// Ownership: owns the copies; to outlive whoever reads them. Thread-safety: all methods may be
// called from any thread.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/access/memory_file.h"
#include "server/access/tls_files.h"

namespace sinkd {

class TlsIdentity {
 public:
  // Errors: those of ReadTlsFiles.
  static absl::StatusOr<std::unique_ptr<TlsIdentity>> Load(TlsPaths paths);

  // What is in force.
  std::shared_ptr<const TlsFiles> current() const;

  // Reads the files again. true: something new is in force. An error: what was stays.
  absl::StatusOr<bool> Reload();

  // Certificate chain and key in one file.
  const std::string& pair_path() const { return pair_.path(); }
  // Empty: clients need no certificate.
  std::string client_ca_path() const { return asks_clients() ? client_ca_.path() : std::string(); }
  bool asks_clients() const { return !paths_.client_ca.empty(); }

 private:
  TlsIdentity(TlsPaths paths, MemoryFile pair, MemoryFile client_ca);

  const TlsPaths paths_;
  mutable std::mutex mutex_;
  MemoryFile pair_;
  MemoryFile client_ca_;
  std::shared_ptr<const TlsFiles> current_;
};

}  // namespace sinkd
