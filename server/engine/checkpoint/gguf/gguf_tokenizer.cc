#include "server/engine/checkpoint/gguf/gguf_tokenizer.h"

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <absl/strings/str_join.h>
#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/gguf/gguf_vocabulary.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr char kModel[] = "tokenizer.ggml.model";
constexpr char kPre[] = "tokenizer.ggml.pre";
constexpr char kTemplate[] = "tokenizer.chat_template";
constexpr char kBesides[] = "put the model's tokenizer.json beside the file";

// How a text is cut before byte-level merges, by the names that llama.cpp's converter writes: its
// rule where it has one of its own, else that of the tokenizer.json that the name is taken from.
enum class Cut {
  kGpt2,
  kDigits,  // every digit alone, then as GPT-2
  kDefault,
  kLlama3,
  kQwen2,
  kTekken,
  kGpt4o,
  kDeepSeekLlm,
  kDeepSeekCoder,
  kMiniCpm5,
  kSeedCoder,
  kViking,
};

// What else a name stands for.
enum Trait : unsigned {
  kWhole = 1,      // a piece that is a token stays whole, whatever its merges
  kBegins = 2,     // with BOS, where the file does not say
  kNormalize = 4,  // to NFC
  kClean = 8,      // a decoded text loses the blanks before its marks of punctuation
};

struct PreTokenizer {
  std::string_view name;
  Cut cut;
  unsigned traits = 0;

  bool Has(Trait trait) const { return (traits & trait) != 0; }
};

constexpr unsigned kLlama3Traits = kWhole | kBegins | kClean;

constexpr PreTokenizer kPreTokenizers[] = {
    {"default", Cut::kDefault, kClean},
    {"gpt-2", Cut::kGpt2, kClean},
    {"phi-2", Cut::kGpt2, kClean},
    {"a.x-4.0", Cut::kGpt2, kClean},
    {"mellum", Cut::kGpt2, kClean},
    {"trillion", Cut::kGpt2},
    {"smollm", Cut::kDigits},
    {"starcoder", Cut::kDigits, kClean},
    {"refact", Cut::kDigits, kClean},
    {"minerva-7b", Cut::kDigits, kClean},
    {"llama-bpe", Cut::kLlama3, kLlama3Traits},
    {"llama3", Cut::kLlama3, kLlama3Traits},
    {"llama-v3", Cut::kLlama3, kLlama3Traits},
    {"falcon3", Cut::kLlama3, kLlama3Traits},
    {"midm-2.0", Cut::kLlama3, kLlama3Traits},
    {"pixtral", Cut::kLlama3, kLlama3Traits},
    {"smaug-bpe", Cut::kLlama3, kClean},
    {"glm4", Cut::kLlama3, kClean},
    {"qwen2", Cut::kQwen2, kNormalize},
    {"deepseek-r1-qwen", Cut::kQwen2, kNormalize},
    {"megrez", Cut::kQwen2, kClean},
    {"kormo", Cut::kQwen2},
    {"tekken", Cut::kTekken, kWhole | kBegins},
    {"gpt-4o", Cut::kGpt4o},
    {"deepseek-llm", Cut::kDeepSeekLlm},
    {"deepseek-coder", Cut::kDeepSeekCoder},
    {"minicpm5", Cut::kMiniCpm5, kWhole | kClean},
    {"seed-coder", Cut::kSeedCoder},
    {"viking", Cut::kViking},
};

// The pieces that each step keeps apart, in turn; empty for GPT-2's own rule, which the byte level
// brings.
std::vector<std::string_view> Splits(Cut cut) {
  static constexpr char kGpt2[] =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  switch (cut) {
    case Cut::kGpt2:
    case Cut::kDigits:
      return {};
    case Cut::kDefault:
      return {R"([\p{P}$+<=>^~|]+)", kGpt2, R"(\p{N}+)", R"([0-9][0-9][0-9])"};
    case Cut::kLlama3:
      return {
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kQwen2:
      return {
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kTekken:
      return {
          R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kGpt4o:
      return {
          R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kDeepSeekLlm:  // letters of scripts with case, as it lists them
      return {R"([\r\n])",
              "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293"
              "\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a"
              "\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-"
              "\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-"
              "\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-"
              "\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-"
              "\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-"
              "\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d"
              "\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b"
              "\u2c7e-\u2ce4\u2ceb-\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f"
              "\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a"
              "\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb"
              "\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-"
              "\U0001e943]+",
              "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
              R"(\s+$)",
              "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+",
              R"(\p{N}+)"};
    case Cut::kDeepSeekCoder:
      return {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)",
              "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+", R"(\p{N})"};
    case Cut::kMiniCpm5:
      return {
          R"(\p{N}{1,3})",
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kSeedCoder:
      return {
          R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+)"};
    case Cut::kViking:
      return {R"( ?[^(\s|.,!?…。，、।۔،)]+)", R"(\p{N})"};
  }
  return {};
}

std::string KnownPreTokenizers() {
  return absl::StrJoin(kPreTokenizers, ", ", [](std::string* out, const PreTokenizer& known) {
    out->append(known.name);
  });
}

bool IsQwen(std::string_view architecture) {
  return architecture == "qwen2" || architecture == "qwen3";
}

absl::StatusOr<PreTokenizer> FindPreTokenizer(const GgufMetadata& metadata,
                                              std::string_view architecture) {
  // Files from before the key existed; those of other architectures may have been cut in any way.
  if (!metadata.Has(kPre) && !IsQwen(architecture)) {
    return metadata.Error(kPre, "is missing, so that it is not known how text is cut", kBesides);
  }
  SINKD_ASSIGN_OR_RETURN(const std::string name, metadata.TextOr(kPre, "qwen2"));
  for (const PreTokenizer& known : kPreTokenizers) {
    if (known.name == name) return known;
  }
  return metadata.Error(
      kPre, StrCat("is ", Shorten(name), ", which is not known; known are ", KnownPreTokenizers()),
      kBesides);
}

Json AddedTokens(const GgufVocabulary& vocabulary) {
  Json added = Json::array();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) {
    const bool control = vocabulary.types[id] == GgufTokenType::kControl;
    if (!control && vocabulary.types[id] != GgufTokenType::kUserDefined) continue;
    added.push_back({{"id", id},
                     {"content", vocabulary.tokens[id]},
                     {"single_word", false},
                     {"lstrip", false},
                     {"rstrip", false},
                     {"normalized", false},
                     {"special", control}});
  }
  return added;
}

Json Named(const GgufVocabulary& vocabulary, const std::optional<int64_t>& id) {
  return id ? Json(vocabulary.tokens[static_cast<size_t>(*id)]) : Json();
}

Json ModelOf(const GgufVocabulary& vocabulary) {
  Json ids = Json::object();
  for (size_t id = 0; id < vocabulary.tokens.size(); ++id) ids[vocabulary.tokens[id]] = id;
  Json merges = Json::array();
  for (const auto& [left, right] : vocabulary.merges) merges.push_back({left, right});
  return {{"type", "BPE"},
          {"vocab", std::move(ids)},
          {"merges", std::move(merges)},
          {"unk_token", Named(vocabulary, vocabulary.unknown)}};
}

Json ByteLevel(bool use_regex) {
  return {{"type", "ByteLevel"},
          {"add_prefix_space", false},
          {"trim_offsets", false},
          {"use_regex", use_regex}};
}

Json ByteLevelTokenizer(const GgufVocabulary& vocabulary, const PreTokenizer& pre, bool qwen) {
  Json model = ModelOf(vocabulary);
  model["ignore_merges"] = pre.Has(kWhole);
  if (qwen) {
    model["unk_token"] = nullptr;
  } else {
    model["fuse_unk"] = true;
    model["byte_fallback"] = true;
  }
  Json steps = Json::array();
  if (pre.cut == Cut::kDigits) {
    steps.push_back({{"type", "Digits"}, {"individual_digits", true}});
  }
  const std::vector<std::string_view> splits = Splits(pre.cut);
  for (const std::string_view split : splits) {
    steps.push_back({{"type", "Split"},
                     {"pattern", {{"Regex", split}}},
                     {"behavior", "Isolated"},
                     {"invert", false}});
  }
  steps.push_back(ByteLevel(splits.empty()));
  return {{"model", std::move(model)},
          {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", std::move(steps)}}},
          {"normalizer", pre.Has(kNormalize) ? Json{{"type", "NFC"}} : Json()},
          {"decoder", ByteLevel(true)}};
}

// "\u2581" stands for a blank.
Json SentencePieceTokenizer(const GgufVocabulary& vocabulary, bool prefix) {
  constexpr char kBlank[] = "\xe2\x96\x81";
  Json model = ModelOf(vocabulary);
  model["fuse_unk"] = true;
  model["byte_fallback"] = true;
  Json normalizers = Json::array();
  if (prefix) normalizers.push_back({{"type", "Prepend"}, {"prepend", kBlank}});
  normalizers.push_back({{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", kBlank}});
  Json decoders = {{{"type", "ByteFallback"}},
                   {{"type", "Fuse"}},
                   {{"type", "Replace"}, {"pattern", {{"String", kBlank}}}, {"content", " "}}};
  if (prefix) {
    decoders.push_back({{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}});
  }
  return {{"model", std::move(model)},
          {"normalizer", {{"type", "Sequence"}, {"normalizers", std::move(normalizers)}}},
          {"pre_tokenizer", nullptr},
          {"decoder", {{"type", "Sequence"}, {"decoders", std::move(decoders)}}}};
}

// Puts `begin` before a text and `end` behind it; tokens of the vocabulary, or nothing.
Json Around(const GgufVocabulary& vocabulary, const std::optional<int64_t>& begin,
            const std::optional<int64_t>& end) {
  Json tokens = Json::object();
  const auto special = [&](const std::optional<int64_t>& id, int64_t type) {
    const std::string& token = vocabulary.tokens[static_cast<size_t>(*id)];
    tokens[token] = {{"id", token}, {"ids", {*id}}, {"tokens", {token}}};
    return Json{{"SpecialToken", {{"id", token}, {"type_id", type}}}};
  };
  Json single = Json::array();
  if (begin) single.push_back(special(begin, 0));
  single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
  if (end) single.push_back(special(end, 0));
  Json pair = single;
  pair.push_back({{"Sequence", {{"id", "B"}, {"type_id", 1}}}});
  if (end) pair.push_back(special(end, 1));
  return {{"type", "TemplateProcessing"},
          {"single", std::move(single)},
          {"pair", std::move(pair)},
          {"special_tokens", std::move(tokens)}};
}

// BOS and EOS where the file wants them around a text. `begins`: BOS, where it does not say.
absl::StatusOr<Json> PostProcessor(const GgufMetadata& metadata, const GgufVocabulary& vocabulary,
                                   bool begins) {
  SINKD_ASSIGN_OR_RETURN(const bool bos, metadata.FlagOr("tokenizer.ggml.add_bos_token",
                                                         begins && vocabulary.bos.has_value()));
  SINKD_ASSIGN_OR_RETURN(const bool eos, metadata.FlagOr("tokenizer.ggml.add_eos_token", false));
  const auto wanted = [&](bool said, const std::optional<int64_t>& id) {
    return said ? id : std::optional<int64_t>();
  };
  for (const auto& [said, id, name] :
       {std::tuple(bos, vocabulary.bos, "bos"), std::tuple(eos, vocabulary.eos, "eos")}) {
    if (!said || id) continue;
    return metadata.Error(StrCat("tokenizer.ggml.add_", name, "_token"),
                          StrCat("is true, but there is no tokenizer.ggml.", name, "_token_id"),
                          kBesides);
  }
  if (!bos && !eos) return Json();
  return Around(vocabulary, wanted(bos, vocabulary.bos), wanted(eos, vocabulary.eos));
}

absl::StatusOr<std::string> ConfigOf(const GgufMetadata& metadata, const GgufVocabulary& vocabulary,
                                     bool clean_up) {
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"},
                 {"bos_token", Named(vocabulary, vocabulary.bos)},
                 {"eos_token", Named(vocabulary, vocabulary.eos)},
                 {"unk_token", Named(vocabulary, vocabulary.unknown)},
                 {"pad_token", Named(vocabulary, vocabulary.padding)},
                 {"clean_up_tokenization_spaces", clean_up}};
  if (metadata.Has(kTemplate)) {
    SINKD_ASSIGN_OR_RETURN(config["chat_template"], metadata.Text(kTemplate));
  }
  return config.dump();
}

}  // namespace

absl::StatusOr<TokenizerFiles> GgufTokenizer(const GgufFile& file) {
  const GgufMetadata& metadata = file.metadata();
  SINKD_ASSIGN_OR_RETURN(const std::string architecture, metadata.Text("general.architecture"));
  SINKD_ASSIGN_OR_RETURN(const std::string model, metadata.Text(kModel));
  if (model != "gpt2" && model != "llama") {
    return metadata.Error(
        kModel, StrCat("is ", Shorten(model), ", which is not known; known are gpt2, llama"),
        kBesides);
  }
  const bool byte_level = model == "gpt2";
  GgufVocabulary vocabulary;
  Json tokenizer;
  bool begins = true;
  bool clean_up = false;
  if (byte_level) {
    SINKD_ASSIGN_OR_RETURN(const PreTokenizer pre, FindPreTokenizer(metadata, architecture));
    SINKD_ASSIGN_OR_RETURN(vocabulary, ReadByteLevelVocabulary(metadata));
    tokenizer = ByteLevelTokenizer(vocabulary, pre, IsQwen(architecture));
    begins = pre.Has(kBegins);
    clean_up = pre.Has(kClean);
  } else {
    SINKD_ASSIGN_OR_RETURN(const bool prefix,
                           metadata.FlagOr("tokenizer.ggml.add_space_prefix", true));
    SINKD_ASSIGN_OR_RETURN(vocabulary, ReadScoredVocabulary(metadata));
    tokenizer = SentencePieceTokenizer(vocabulary, prefix);
  }
  tokenizer["version"] = "1.0";
  tokenizer["added_tokens"] = AddedTokens(vocabulary);
  SINKD_ASSIGN_OR_RETURN(tokenizer["post_processor"], PostProcessor(metadata, vocabulary, begins));
  TokenizerFiles files;
  files.tokenizer_json = tokenizer.dump();
  SINKD_ASSIGN_OR_RETURN(files.tokenizer_config_json, ConfigOf(metadata, vocabulary, clean_up));
  return files;
}

}  // namespace sinkd
