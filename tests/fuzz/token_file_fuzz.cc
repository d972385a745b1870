// The file of tokens that an operator writes.
#include <string>

#include "server/access/token_file.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto entries = sinkd::ParseTokenFile(text, "tokens");
  if (!entries.ok()) {
    sinkd::fuzz::RequireToldError(entries.status());
    const std::string told = entries.status().ToString();
    // Behind the name stands nothing that may be told.
    for (size_t at = text.find(' '); at != std::string::npos; at = text.find(' ', at + 1)) {
      const std::string word = text.substr(at + 1, 64);
      if (word.size() < 64 || word.find_first_not_of("0123456789abcdef") != std::string::npos) {
        continue;
      }
      Require(told.find(word) == std::string::npos, "an error tells a digest", told);
    }
    return 0;
  }
  for (const sinkd::TokenEntry& entry : *entries) {
    Require(!entry.name.empty() && entry.name.size() <= 64, "a name of no length", entry.name);
    Require(entry.digest.size() == 64, "a digest of another length", entry.name);
    Require(entry.weight >= 0.01 && entry.weight <= 100, "a weight out of range", entry.name);
    for (const auto& quota :
         {entry.quotas.requests_per_minute, entry.quotas.tokens_per_minute, entry.quotas.streams}) {
      Require(quota.value_or(1) >= 1, "a quota that lets nothing through", entry.name);
    }
  }
  return 0;
}
