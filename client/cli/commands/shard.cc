#include "client/cli/commands/shard.h"

#include <charconv>

#include "client/cli/input/content_id.h"

namespace sinkd::cli {
namespace {

bool ParseNumber(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
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
  Shard shard;
  if (!ParseNumber(text.substr(0, slash), shard.index)) return std::nullopt;
  if (!ParseNumber(text.substr(slash + 1), shard.count)) return std::nullopt;
  const bool valid = shard.count >= 1 && shard.count <= kMostShards && shard.index >= 0 &&
                     shard.index < shard.count;
  return valid ? std::optional(shard) : std::nullopt;
}

int64_t ShardOf(std::string_view id, int64_t count) {
  const std::string digest = Sha256(id);
  uint64_t number = 0;
  for (size_t i = 0; i < sizeof(number); ++i) {
    number = number << 8 | static_cast<unsigned char>(digest[i]);
  }
  return static_cast<int64_t>(number % static_cast<uint64_t>(count));
}

}  // namespace sinkd::cli
