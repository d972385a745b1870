#include "client/cli/commands/shard.h"

#include <array>
#include <charconv>

#include <openssl/sha.h>

#include "client/cli/input/content_id.h"

namespace sinkd::cli {
namespace {

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

bool Shard::Takes(const InputItem& item) const {
  if (count == 1) return true;
  if (const auto* error = std::get_if<InputError>(&item)) {
    return error->line == 0 || ShardOf(error->Describe(), count) == index;
  }
  const sinks::v1::Sample& sample = std::get<InputSample>(item).sample;
  const std::string& id = sample.sample_id();
  return ShardOf(id.empty() ? ContentId(sample) : id, count) == index;
}

std::optional<Shard> ParseShard(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto index = ParseNumber(text.substr(0, slash));
  const auto count = ParseNumber(text.substr(slash + 1));
  if (!index || !count || *count < 1 || *count > kMostShards) return std::nullopt;
  if (*index < 0 || *index >= *count) return std::nullopt;
  return Shard{*index, *count};
}

int64_t ShardOf(std::string_view id, int64_t count) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256(reinterpret_cast<const unsigned char*>(id.data()), id.size(), digest.data());
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(number); ++i) number = number << 8 | digest[i];
  return static_cast<int64_t>(number % static_cast<uint64_t>(count));
}

}  // namespace sinkd::cli
