// TlsIdentity: the server's certificate and key and the CA of its clients, reloaded from files.
//
// New files that are unusable (damaged, half written, or a key of another certificate) leave the
// current identity in use. Open connections keep the identity that they began with.
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

  // The current identity.
  std::shared_ptr<const TlsFiles> current() const;

  // Reads the files again. True: they have changed. After an error the old identity stays in use.
  absl::StatusOr<bool> Reload();

 private:
  TlsIdentity(TlsPaths paths, TlsFiles files);

  const TlsPaths paths_;
  mutable std::mutex mutex_;
  std::shared_ptr<const TlsFiles> current_;
};

}  // namespace sinkd
