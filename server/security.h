// Security: the tokens and the certificate of a server, kept in step with their files, each reload
// logged and counted.
//
// Ownership: borrows metrics; outlives the ports. Thread-safety: all methods may be called from any
// thread. Errors: those of AccessControl::Open and TlsIdentity::Load.
#pragma once

#include <memory>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/access/access_control.h"
#include "server/access/file_reload.h"
#include "server/access/tls_identity.h"
#include "server/config/config.h"
#include "server/telemetry/metrics.h"

namespace sinkd {

class Security {
 public:
  static absl::StatusOr<std::unique_ptr<Security>> Open(const Config& config, Metrics& metrics);

  AccessControl& access() { return *access_; }
  const TlsIdentity* tls() const { return tls_.get(); }  // null: plaintext

  // Who sends a request over HTTP; a refusal is counted.
  absl::StatusOr<std::shared_ptr<const Principal>> AdmitHttp(const Credentials& credentials,
                                                             Role least);

  // Reads the files again, changed or not.
  void ReloadSoon() { reload_->LookSoon(); }

 private:
  Security(const Config& config, Metrics& metrics) : config_(config), metrics_(metrics) {}
  void Watch();
  void TellTokens(const absl::StatusOr<bool>& outcome);
  void TellCertificate(const absl::StatusOr<bool>& outcome);

  const Config& config_;  // the daemon's
  Metrics& metrics_;
  std::unique_ptr<AccessControl> access_;
  std::unique_ptr<TlsIdentity> tls_;
  std::unique_ptr<FileReload> reload_;  // last: its thread uses the rest
};

}  // namespace sinkd
