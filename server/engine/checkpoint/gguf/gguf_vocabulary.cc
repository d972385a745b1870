#include "server/engine/checkpoint/gguf/gguf_vocabulary.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <unordered_map>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

constexpr char kTokens[] = "tokenizer.ggml.tokens";
constexpr char kTypes[] = "tokenizer.ggml.token_type";
constexpr char kScores[] = "tokenizer.ggml.scores";
constexpr char kMerges[] = "tokenizer.ggml.merges";
constexpr char kFix[] = "fetch the file again, or put the model's tokenizer.json beside it";
// Bounds the work of splitting every token everywhere, and the text of the merges that come of it:
// the sum of squared lengths, which is a few million in published vocabularies.
constexpr size_t kMaxSplitWork = size_t{1} << 27;

using Ids = std::unordered_map<std::string_view, size_t>;

absl::StatusOr<std::optional<int64_t>> ReadId(const GgufMetadata& metadata, std::string_view key,
                                              size_t tokens) {
  if (!metadata.Has(key)) return std::optional<int64_t>();
  SINKD_ASSIGN_OR_RETURN(const int64_t id, metadata.Integer(key));
  if (id < 0 || id >= static_cast<int64_t>(tokens)) {
    return metadata.Error(key, StrCat("is ", id, ", and there are ", tokens, " tokens"), kFix);
  }
  return std::optional<int64_t>(id);
}

absl::StatusOr<Ids> IndexTokens(const GgufMetadata& metadata,
                                const std::vector<std::string>& tokens) {
  if (tokens.empty()) return metadata.Error(kTokens, "is empty", kFix);
  Ids ids;
  ids.reserve(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    const auto [place, added] = ids.emplace(tokens[id], id);
    if (!added) {
      return metadata.Error(kTokens,
                            StrCat("holds one token twice, as ", place->second, " and ", id), kFix);
    }
  }
  return ids;
}

absl::StatusOr<GgufVocabulary> ReadTokens(const GgufMetadata& metadata) {
  GgufVocabulary vocabulary;
  SINKD_ASSIGN_OR_RETURN(vocabulary.tokens, metadata.Texts(kTokens));
  const size_t count = vocabulary.tokens.size();
  vocabulary.types.assign(count, GgufTokenType::kNormal);
  if (metadata.Has(kTypes)) {
    SINKD_ASSIGN_OR_RETURN(const std::vector<int64_t> types, metadata.Integers(kTypes));
    if (types.size() != count) {
      return metadata.Error(kTypes, StrCat("holds ", types.size(), " types of ", count, " tokens"),
                            kFix);
    }
    std::transform(types.begin(), types.end(), vocabulary.types.begin(),
                   [](int64_t type) { return static_cast<GgufTokenType>(type); });
  }
  const std::pair<const char*, std::optional<int64_t>*> kIds[] = {
      {"tokenizer.ggml.bos_token_id", &vocabulary.bos},
      {"tokenizer.ggml.eos_token_id", &vocabulary.eos},
      {"tokenizer.ggml.unknown_token_id", &vocabulary.unknown},
      {"tokenizer.ggml.padding_token_id", &vocabulary.padding}};
  for (const auto& [key, id] : kIds) {
    SINKD_ASSIGN_OR_RETURN(*id, ReadId(metadata, key, count));
  }
  return vocabulary;
}

bool BeginsCharacter(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
}

// One way to make a token of two.
struct Split {
  size_t token, left, right;  // ids
};

std::vector<Split> SplitsOf(const std::string& piece, size_t id, const Ids& ids,
                            const std::vector<double>& scores) {
  std::vector<Split> splits;
  const std::string_view whole = piece;
  for (size_t cut = 1; cut < whole.size(); ++cut) {
    if (!BeginsCharacter(whole[cut])) continue;
    const auto left = ids.find(whole.substr(0, cut));
    if (left == ids.end()) continue;
    const auto right = ids.find(whole.substr(cut));
    if (right != ids.end()) splits.push_back({id, left->second, right->second});
  }
  std::stable_sort(splits.begin(), splits.end(), [&scores](const Split& a, const Split& b) {
    return std::pair(scores[a.left], scores[a.right]) > std::pair(scores[b.left], scores[b.right]);
  });
  return splits;
}

}  // namespace

absl::StatusOr<GgufVocabulary> ReadByteLevelVocabulary(const GgufMetadata& metadata) {
  SINKD_ASSIGN_OR_RETURN(GgufVocabulary vocabulary, ReadTokens(metadata));
  SINKD_ASSIGN_OR_RETURN(const Ids ids, IndexTokens(metadata, vocabulary.tokens));
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> merges, metadata.Texts(kMerges));
  vocabulary.merges.reserve(merges.size());
  for (size_t i = 0; i < merges.size(); ++i) {
    const std::string& merge = merges[i];
    const size_t blank = merge.find(' ');
    if (blank == std::string::npos || merge.find(' ', blank + 1) != std::string::npos) {
      return metadata.Error(kMerges, StrCat("item ", i, " is not a pair"), kFix);
    }
    std::string left = merge.substr(0, blank);
    std::string right = merge.substr(blank + 1);
    for (const std::string& part : {left, right, left + right}) {
      if (ids.count(part) == 0) {
        return metadata.Error(
            kMerges, StrCat("item ", i, " names ", Shorten(part), ", which is not a token"), kFix);
      }
    }
    vocabulary.merges.emplace_back(std::move(left), std::move(right));
  }
  return vocabulary;
}

absl::StatusOr<GgufVocabulary> ReadScoredVocabulary(const GgufMetadata& metadata) {
  SINKD_ASSIGN_OR_RETURN(GgufVocabulary vocabulary, ReadTokens(metadata));
  const std::vector<std::string>& tokens = vocabulary.tokens;
  SINKD_ASSIGN_OR_RETURN(const Ids ids, IndexTokens(metadata, tokens));
  SINKD_ASSIGN_OR_RETURN(const std::vector<double> scores, metadata.Numbers(kScores));
  if (scores.size() != tokens.size()) {
    return metadata.Error(
        kScores, StrCat("holds ", scores.size(), " scores of ", tokens.size(), " tokens"), kFix);
  }
  if (!std::all_of(scores.begin(), scores.end(), [](double s) { return std::isfinite(s); })) {
    return metadata.Error(kScores, "holds NaN or infinite values", kFix);
  }
  std::vector<Split> splits;
  size_t work = 0;
  for (size_t id = 0; id < tokens.size(); ++id) {
    work += tokens[id].size() * tokens[id].size();
    if (work > kMaxSplitWork) {
      return metadata.Error(kTokens, "holds tokens too long to be merged of parts", kFix);
    }
    const std::vector<Split> own = SplitsOf(tokens[id], id, ids, scores);
    splits.insert(splits.end(), own.begin(), own.end());
  }
  std::stable_sort(splits.begin(), splits.end(), [&scores](const Split& a, const Split& b) {
    return scores[a.token] > scores[b.token];
  });
  vocabulary.merges.reserve(splits.size());
  for (const Split& split : splits) {
    vocabulary.merges.emplace_back(tokens[split.left], tokens[split.right]);
  }
  return vocabulary;
}

}  // namespace sinkd
