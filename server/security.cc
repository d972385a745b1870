#include "server/security.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "server/base/status.h"
#include "server/telemetry/log.h"

namespace sinkd {
namespace {

using std::chrono::system_clock;

constexpr std::chrono::hours kSoon{24 * 14};

void LogCertificate(const char* what, const TlsFiles& files) {
  const auto left = files.not_after - system_clock::now();
  const bool expired = left <= system_clock::duration::zero();
  Log(expired        ? LogLevel::kError
      : left < kSoon ? LogLevel::kWarning
                     : LogLevel::kInfo,
      expired ? "the certificate has expired" : what,
      {{"fingerprint", files.fingerprint},
       {"expires_in_seconds", std::chrono::duration_cast<std::chrono::seconds>(left).count()}});
}

// Once for each outcome that changes anything.
void LogKept(const char* what, const absl::Status& status) {
  const std::string error(status.message());
  Log(LogLevel::kError, what, {{"error", error}});
}

}  // namespace

absl::StatusOr<std::unique_ptr<Security>> Security::Open(const Config& config, Metrics& metrics) {
  std::unique_ptr<Security> security(new Security(config, metrics));
  SINKD_ASSIGN_OR_RETURN(security->access_,
                         AccessControl::Open({.token_file = config.token_file,
                                              .asks_certificates = !config.tls.client_ca.empty()}));
  metrics.access().SetTokens(security->access_->tokens());
  if (config.tls.on()) {
    SINKD_ASSIGN_OR_RETURN(security->tls_, TlsIdentity::Load(config.tls));
    security->TellCertificate(true);
  }
  security->Watch();
  return security;
}

absl::StatusOr<std::shared_ptr<const Principal>> Security::AdmitHttp(const Credentials& credentials,
                                                                     Role least) {
  auto caller = access_->Admit(credentials, least);
  if (!caller.ok()) metrics_.access().Refused(AccessPort::kHttp, caller.status().code());
  return caller;
}

void Security::Watch() {
  std::vector<FileReload::Item> items;
  if (access_->asks_for_tokens()) {
    items.push_back({.files = {config_.token_file},
                     .reload = [this] { return access_->Reload(); },
                     .tell = [this](const absl::StatusOr<bool>& outcome) { TellTokens(outcome); }});
  }
  if (tls_) {
    items.push_back(
        {.files = {config_.tls.certificate, config_.tls.key, config_.tls.client_ca},
         .reload = [this] { return tls_->Reload(); },
         .tell = [this](const absl::StatusOr<bool>& outcome) { TellCertificate(outcome); }});
  }
  reload_ = std::make_unique<FileReload>(std::move(items));
}

void Security::TellTokens(const absl::StatusOr<bool>& outcome) {
  metrics_.access().Reloaded(AccessFile::kTokens, outcome.ok());
  if (!outcome.ok())
    return LogKept("the token file is broken, the tokens before it stay", outcome.status());
  metrics_.access().SetTokens(access_->tokens());
  if (*outcome) Log(LogLevel::kInfo, "tokens read", {{"tokens", access_->tokens()}});
}

void Security::TellCertificate(const absl::StatusOr<bool>& outcome) {
  metrics_.access().Reloaded(AccessFile::kCertificate, outcome.ok());
  if (!outcome.ok()) {
    LogKept("the certificate files are broken, the certificate before them stays",
            outcome.status());
  }
  const std::shared_ptr<const TlsFiles> files = tls_->current();
  metrics_.access().SetCertificateEnd(files->not_after);
  if (outcome.ok() && *outcome) LogCertificate("certificate in use", *files);
}

}  // namespace sinkd
