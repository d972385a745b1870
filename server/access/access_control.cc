#include "server/access/access_control.h"

#include <utility>

#include "server/access/text_file.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr size_t kMaxFileBytes = size_t{1} << 20;
constexpr size_t kMaxTokenBytes = 512;
constexpr std::string_view kScheme = "bearer";

absl::Status Unauthenticated(std::string_view what, std::string_view reason) {
  return MakeError(absl::StatusCode::kUnauthenticated, what,
                   {.reason = std::string(reason),
                    .subject = "authorization",
                    .fix = "send `authorization: Bearer TOKEN` with a token of this server; "
                           "sinkctl takes it from --token-file"});
}

absl::Status NoCertificate() {
  return MakeError(absl::StatusCode::kUnauthenticated,
                   "this server asks for a client's certificate with a name in it",
                   {.reason = "CERTIFICATE_MISSING",
                    .subject = "certificate",
                    .fix = "connect with a certificate of the server's --tls-client-ca; sinkctl "
                           "takes it from --tls-cert and --tls-key"});
}

absl::Status RoleTooLow(Role held, Role least) {
  return MakeError(
      absl::StatusCode::kPermissionDenied,
      StrCat("this needs the role ", RoleName(least), ", and the token has ", RoleName(held)),
      {.reason = "ROLE_TOO_LOW", .subject = "role", .fix = "use a token of that role"});
}

// The token of "Bearer TOKEN"; empty for anything else.
std::string_view TokenOf(std::string_view header) {
  if (header.size() <= kScheme.size() || header.size() > kScheme.size() + 1 + kMaxTokenBytes) {
    return {};
  }
  for (size_t i = 0; i < kScheme.size(); ++i) {
    if ((header[i] | 0x20) != kScheme[i]) return {};
  }
  if (header[kScheme.size()] != ' ') return {};
  std::string_view token = header.substr(kScheme.size() + 1);
  while (token.starts_with(' ')) token.remove_prefix(1);
  while (token.ends_with(' ')) token.remove_suffix(1);
  return token;
}

}  // namespace

absl::StatusOr<std::unique_ptr<AccessControl>> AccessControl::Open(Options options) {
  std::unique_ptr<AccessControl> control(new AccessControl(std::move(options)));
  if (control->asks_for_tokens()) SINKD_RETURN_IF_ERROR(control->Reload().status());
  return control;
}

std::shared_ptr<const AccessControl::Tokens> AccessControl::current() const {
  const std::lock_guard lock(mutex_);
  return tokens_;
}

int64_t AccessControl::tokens() const {
  const std::shared_ptr<const Tokens> tokens = current();
  return tokens ? static_cast<int64_t>(tokens->entries.size()) : 0;
}

absl::StatusOr<bool> AccessControl::Reload() {
  auto made = std::make_shared<Tokens>();
  SINKD_ASSIGN_OR_RETURN(made->text, ReadTextFile(options_.token_file, kMaxFileBytes));
  SINKD_ASSIGN_OR_RETURN(made->entries, ParseTokenFile(made->text, options_.token_file.string()));
  if (made->entries.empty()) {
    return InvalidArgument("the token file holds no token, so that nobody could call",
                           {.reason = "TOKEN_FILE_INVALID",
                            .subject = options_.token_file.string(),
                            .value = options_.token_file.string(),
                            .fix = "add a line that `sinkctl token new` prints"});
  }
  const std::lock_guard lock(mutex_);
  if (tokens_ && tokens_->text == made->text) return false;
  decltype(usages_) usages;  // of names that are still there
  for (const TokenEntry& entry : made->entries) {
    std::shared_ptr<Usage>& usage = usages[entry.name];
    const auto known = usages_.find(entry.name);
    if (!usage && known != usages_.end()) usage = known->second;
    if (!usage) usage = std::make_shared<Usage>(options_.now);
    made->principals.emplace(entry.name,
                             std::make_shared<const Principal>(entry.name, entry.role, entry.quotas,
                                                               entry.weight, usage));
  }
  usages_ = std::move(usages);
  tokens_ = std::move(made);
  return true;
}

std::shared_ptr<const Principal> AccessControl::Anyone(const Credentials& credentials) const {
  const bool named = !credentials.certificate_name.empty();
  return std::make_shared<const Principal>(
      std::string(named ? credentials.certificate_name : credentials.peer_host), Role::kAdmin,
      Quotas{}, /*weight=*/1, std::make_shared<Usage>(options_.now));
}

absl::StatusOr<std::shared_ptr<const Principal>> AccessControl::Admit(
    const Credentials& credentials, Role least) {
  if (options_.asks_certificates && credentials.certificate_name.empty()) return NoCertificate();
  if (!asks_for_tokens()) return Anyone(credentials);
  if (credentials.authorization.empty()) {
    return Unauthenticated("this server asks for a token", "TOKEN_MISSING");
  }
  const std::string_view token =
      credentials.authorization.size() == 1 ? TokenOf(credentials.authorization[0]) : "";
  const std::shared_ptr<const Tokens> tokens = current();
  // A header without a token takes the same path, so that response times reveal nothing.
  const TokenEntry* const entry = FindToken(tokens->entries, token);
  if (entry == nullptr || token.empty()) {
    return Unauthenticated("the server does not know this token", "TOKEN_UNKNOWN");
  }
  const std::shared_ptr<const Principal>& principal = tokens->principals.find(entry->name)->second;
  SINKD_RETURN_IF_ERROR(principal->TakeRequest());
  if (principal->role() < least) return RoleTooLow(principal->role(), least);
  return principal;
}

}  // namespace sinkd
