#include "server/engine/checkpoint/gguf/gguf_tokenizer.h"

#include <optional>
#include <string>
#include <string_view>

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

constexpr char kQwen2Split[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr char kLlama3Split[] =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

// How a text is cut before byte-level merges. `split` empty: GPT-2's own rule.
struct PreTokenizer {
  std::string_view name;
  std::string_view split;
  bool normalize;      // to NFC
  bool ignore_merges;  // a piece that is a token stays whole
};

// smollm is cut by GPT-2's rule alone, digits not one by one, since that is how transformers reads
// such a file, and ids have to be the same.
constexpr PreTokenizer kPreTokenizers[] = {
    {"default", "", false, false},       {"gpt-2", "", false, false},
    {"smollm", "", false, false},        {"llama-bpe", kLlama3Split, false, true},
    {"qwen2", kQwen2Split, true, false}, {"deepseek-r1-qwen", kQwen2Split, true, false},
};

std::string KnownPreTokenizers() {
  std::string list;
  for (const PreTokenizer& known : kPreTokenizers) {
    list += StrCat(list.empty() ? "" : ", ", known.name);
  }
  return list;
}

bool IsQwen(std::string_view architecture) {
  return architecture == "qwen2" || architecture == "qwen3";
}

absl::StatusOr<PreTokenizer> FindPreTokenizer(const GgufMetadata& metadata,
                                              std::string_view architecture) {
  // Files from before the key existed.
  const std::string_view unsaid = IsQwen(architecture) ? "qwen2" : "default";
  SINKD_ASSIGN_OR_RETURN(const std::string name, metadata.TextOr(kPre, unsaid));
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
  model["ignore_merges"] = pre.ignore_merges;
  if (qwen) {
    model["unk_token"] = nullptr;
  } else {
    model["fuse_unk"] = true;
    model["byte_fallback"] = true;
  }
  Json cut = ByteLevel(true);
  if (!pre.split.empty()) {
    const Json split = {{"type", "Split"},
                        {"pattern", {{"Regex", pre.split}}},
                        {"behavior", "Isolated"},
                        {"invert", false}};
    cut = {{"type", "Sequence"}, {"pretokenizers", {split, ByteLevel(false)}}};
  }
  return {{"model", std::move(model)},
          {"pre_tokenizer", std::move(cut)},
          {"normalizer", pre.normalize ? Json{{"type", "NFC"}} : Json()},
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

Json BeginWith(const std::string& token, int64_t id) {
  const Json special = {{"SpecialToken", {{"id", token}, {"type_id", 0}}}};
  const Json text = {{"Sequence", {{"id", "A"}, {"type_id", 0}}}};
  const Json second = {{"Sequence", {{"id", "B"}, {"type_id", 1}}}};
  Json tokens = Json::object();
  tokens[token] = {{"id", token}, {"ids", {id}}, {"tokens", {token}}};
  return {{"type", "TemplateProcessing"},
          {"single", {special, text}},
          {"pair", {special, text, second}},
          {"special_tokens", std::move(tokens)}};
}

// transformers' class for llama begins a text with BOS whatever add_bos_token says; qwen's never
// does, and there the file's word counts.
absl::StatusOr<bool> BeginsWithBos(const GgufMetadata& metadata, std::string_view architecture,
                                   const GgufVocabulary& vocabulary) {
  SINKD_ASSIGN_OR_RETURN(const bool said, metadata.FlagOr("tokenizer.ggml.add_bos_token", false));
  return vocabulary.bos.has_value() && (said || architecture == "llama");
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
  if (byte_level) {
    SINKD_ASSIGN_OR_RETURN(const PreTokenizer pre, FindPreTokenizer(metadata, architecture));
    SINKD_ASSIGN_OR_RETURN(vocabulary, ReadByteLevelVocabulary(metadata));
    tokenizer = ByteLevelTokenizer(vocabulary, pre, IsQwen(architecture));
  } else {
    SINKD_ASSIGN_OR_RETURN(const bool prefix,
                           metadata.FlagOr("tokenizer.ggml.add_space_prefix", true));
    SINKD_ASSIGN_OR_RETURN(vocabulary, ReadScoredVocabulary(metadata));
    tokenizer = SentencePieceTokenizer(vocabulary, prefix);
  }
  tokenizer["version"] = "1.0";
  tokenizer["added_tokens"] = AddedTokens(vocabulary);
  SINKD_ASSIGN_OR_RETURN(const bool begins, BeginsWithBos(metadata, architecture, vocabulary));
  if (begins) {
    const int64_t bos = *vocabulary.bos;
    tokenizer["post_processor"] = BeginWith(vocabulary.tokens[static_cast<size_t>(bos)], bos);
  }
  TokenizerFiles files;
  files.tokenizer_json = tokenizer.dump();
  SINKD_ASSIGN_OR_RETURN(files.tokenizer_config_json,
                         ConfigOf(metadata, vocabulary, byte_level && !IsQwen(architecture)));
  return files;
}

}  // namespace sinkd
