// Apart from what reads the file, so that a test can see how this compares.
#include <openssl/crypto.h>

#include "server/access/sha256.h"
#include "server/access/token_file.h"

namespace sinkd {

const TokenEntry* FindToken(const std::vector<TokenEntry>& entries, std::string_view token) {
  const std::string digest = Sha256(token);
  const TokenEntry* found = nullptr;
  for (const TokenEntry& entry : entries) {
    const bool same = CRYPTO_memcmp(entry.digest.data(), digest.data(), digest.size()) == 0;
    found = same ? &entry : found;
  }
  return found;
}

}  // namespace sinkd
