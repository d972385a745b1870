// TlsIdentity: who this server is to its clients, and whom it takes, kept in step with its files.
//
// A new pair that cannot be used - broken, half written, key and certificate of two pairs - leaves
// the one in force as it is. Connections that are open go on with what they began with.
//
// Ownership: none. Thread-safety: all methods may be called from any thread.
#pragma once

#include <memory>
#include <mutex>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

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

 private:
  TlsIdentity(TlsPaths paths, TlsFiles files);

  const TlsPaths paths_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsFiles> current_;
};

}  // namespace sinkd
