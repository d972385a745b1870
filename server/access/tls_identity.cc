#include "server/access/tls_identity.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd {

absl::StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Load(TlsPaths paths) {
  SINKD_ASSIGN_OR_RETURN(TlsFiles files, ReadTlsFiles(paths));
  return std::unique_ptr<TlsIdentity>(new TlsIdentity(std::move(paths), std::move(files)));
}

TlsIdentity::TlsIdentity(TlsPaths paths, TlsFiles files)
    : paths_(std::move(paths)), current_(std::make_shared<const TlsFiles>(std::move(files))) {}

std::shared_ptr<const TlsFiles> TlsIdentity::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

absl::StatusOr<bool> TlsIdentity::Reload() {
  SINKD_ASSIGN_OR_RETURN(TlsFiles files, ReadTlsFiles(paths_));
  const std::lock_guard lock(mutex_);
  if (files == *current_) return false;
  current_ = std::make_shared<const TlsFiles>(std::move(files));
  return true;
}

}  // namespace sinkd
