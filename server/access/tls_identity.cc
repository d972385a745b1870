#include "server/access/tls_identity.h"

#include <utility>

#include "server/base/status.h"

namespace sinkd {
namespace {

std::string PairOf(const TlsFiles& files) {
  return files.key + "\n" + files.certificate;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TlsIdentity>> TlsIdentity::Load(TlsPaths paths) {
  SINKD_ASSIGN_OR_RETURN(TlsFiles files, ReadTlsFiles(paths));
  SINKD_ASSIGN_OR_RETURN(MemoryFile pair, MemoryFile::Make(PairOf(files)));
  SINKD_ASSIGN_OR_RETURN(MemoryFile client_ca, MemoryFile::Make(files.client_ca));
  std::unique_ptr<TlsIdentity> identity(
      new TlsIdentity(std::move(paths), std::move(pair), std::move(client_ca)));
  identity->current_ = std::make_shared<const TlsFiles>(std::move(files));
  return identity;
}

TlsIdentity::TlsIdentity(TlsPaths paths, MemoryFile pair, MemoryFile client_ca)
    : paths_(std::move(paths)), pair_(std::move(pair)), client_ca_(std::move(client_ca)) {}

std::shared_ptr<const TlsFiles> TlsIdentity::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

absl::StatusOr<bool> TlsIdentity::Reload() {
  SINKD_ASSIGN_OR_RETURN(TlsFiles files, ReadTlsFiles(paths_));
  const std::lock_guard lock(mutex_);
  if (files == *current_) return false;
  SINKD_RETURN_IF_ERROR(pair_.Write(PairOf(files)));
  SINKD_RETURN_IF_ERROR(client_ca_.Write(files.client_ca));
  current_ = std::make_shared<const TlsFiles>(std::move(files));
  return true;
}

}  // namespace sinkd
