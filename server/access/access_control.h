// AccessControl: whether a call is let in, and as whom.
//
//   with a token file   a token of it, by "authorization: Bearer TOKEN"; the name of its line, with
//                       the role and quotas given there
//   else                everyone who can connect, with all roles: by the name in the client's
//                       certificate where it has one, by its host where it has not
//
// An error never tells whether a name, a model or a method exists, and never holds what was sent.
//
// Ownership: outlives whoever asks; principals may outlive it. Thread-safety: all methods may be
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

// What a caller shows of itself.
struct Credentials {
  std::vector<std::string_view> authorization;  // every header of that name
  std::string_view certificate_name;            // of a client's certificate that was verified
  std::string_view peer_host;
};

class AccessControl {
 public:
  struct Options {
    std::filesystem::path token_file;  // empty: no tokens are asked for
    bool asks_certificates = false;    // of clients, where the transport does not insist
    AccessClock now = std::chrono::steady_clock::now;
  };

  // Errors: those of ReadTextFile and ParseTokenFile; INVALID_ARGUMENT for a file without tokens.
  static absl::StatusOr<std::unique_ptr<AccessControl>> Open(Options options);

  bool asks_for_tokens() const { return !options_.token_file.empty(); }
  int64_t tokens() const;  // that are taken

  // Who calls, with one request taken from its quota. UNAUTHENTICATED without the certificate or
  // the token that is asked for; PERMISSION_DENIED when its role is less than `least`;
  // RESOURCE_EXHAUSTED when the quota is used up.
  absl::StatusOr<std::shared_ptr<const Principal>> Admit(const Credentials& credentials,
                                                         Role least);

  // A caller that nothing was asked of.
  std::shared_ptr<const Principal> Anyone(const Credentials& credentials) const;

  // Reads the token file again. true: the tokens are others now. An error: they are what they were.
  absl::StatusOr<bool> Reload();

 private:
  struct Tokens {  // never changed once made
    std::string text;
    std::vector<TokenEntry> entries;
    std::map<std::string, std::shared_ptr<const Principal>, std::less<>> principals;  // by name
  };

  explicit AccessControl(Options options) : options_(std::move(options)) {}
  std::shared_ptr<const Tokens> current() const;

  const Options options_;
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Usage>, std::less<>> usages_;  // by name
  std::shared_ptr<const Tokens> tokens_;                               // null: none are asked for
};

}  // namespace sinkd
