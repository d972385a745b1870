// AccessControl: authenticates callers and checks their roles.
//
//   with a token file   the caller sends "authorization: Bearer TOKEN", and gets the name, role and
//                       quotas of the token's line in the file
//   without one         everyone who can connect has all roles, under the name in the client's
//                       certificate, or the client's host if there is no certificate
//
// Errors never reveal whether a name, model or method exists, and never repeat what was sent.
//
// Ownership: outlives its users; principals may outlive it. Thread-safety: all methods may be
// called from any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "server/access/principal.h"
#include "server/access/role.h"
#include "server/access/token_file.h"

namespace sinkd {

// The credentials of a call.
struct Credentials {
  std::vector<std::string_view> authorization;  // every header of that name
  std::string_view certificate_name;            // in the client's verified certificate
  std::string_view peer_host;
};

class AccessControl {
 public:
  struct Options {
    std::filesystem::path token_file;  // empty: no tokens are needed
    bool asks_certificates = false;    // require one even if TLS does not
    AccessClock now = std::chrono::steady_clock::now;
  };

  // Errors: those of ReadTextFile and ParseTokenFile; INVALID_ARGUMENT for a file without tokens.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Open(Options options);

  bool asks_for_tokens() const { return !options_.token_file.empty(); }
  int64_t tokens() const;  // in the file

  // The caller, after charging one request to its quota. UNAUTHENTICATED if the required
  // certificate or token is missing or wrong; PERMISSION_DENIED if its role is below `least`;
  // RESOURCE_EXHAUSTED if the quota is used up.
  absl::StatusOr<std::shared_ptr<const Principal>> Admit(const Credentials& credentials,
                                                         Role least);

  // A caller that did not have to authenticate.
  std::shared_ptr<const Principal> Anyone(const Credentials& credentials) const;

  // Reads the token file again. True: the tokens have changed. After an error they are unchanged.
  absl::StatusOr<bool> Reload();

 private:
  struct Tokens {  // immutable
    std::string text;
    std::vector<TokenEntry> entries;
    std::map<std::string, std::shared_ptr<const Principal>, std::less<>> principals;  // by name
  };

  explicit AccessControl(Options options) : options_(std::move(options)) {}
  std::shared_ptr<const Tokens> current() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Usage>, std::less<>> usages_;  // by name
  std::shared_ptr<const Tokens> tokens_;                               // null: no tokens are needed
};

}  // namespace sinkd
