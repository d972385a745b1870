// TokenFile: the tokens that a server accepts, one per line:
//
//   NAME ROLE SHA256 [requests-per-minute=N] [tokens-per-minute=N] [streams=N] [weight=W]
//   ci analyse 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 streams=4
//
// The file holds the hexadecimal SHA-256 of each token instead of the token. # begins a comment,
// and empty lines are ignored. A name may have several tokens, which share its quotas; its lines
// must then be equal except for the digest.
//
// Thread-safety: pure functions. Errors: INVALID_ARGUMENT naming file and line but no digest.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/access/principal.h"
#include "server/access/role.h"

namespace sinkd {

struct TokenEntry {
  std::string name;
  Role role = Role::kRead;
  std::string digest;  // 64 lower-case hexadecimal digits
  Quotas quotas;
  double weight = 1;  // relative share of a busy device, 0.01 to 100
};

absl::StatusOr<std::vector<TokenEntry>> ParseTokenFile(std::string_view text,
                                                       std::string_view file);

// The entry of `token`; null if there is none. Takes the same time whether there is one or not, and
// whichever it is.
const TokenEntry* FindToken(const std::vector<TokenEntry>& entries, std::string_view token);

}  // namespace sinkd
