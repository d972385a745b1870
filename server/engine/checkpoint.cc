#include "server/engine/checkpoint.h"

#include <fstream>
#include <memory>
#include <set>

#include <absl/strings/match.h>
#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/gguf/gguf_folder.h"
#include "server/engine/gguf/gguf_source.h"
#include "server/engine/safetensors.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr char kSingle[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";
constexpr uintmax_t kMaxIndexBytes = 64u << 20;

absl::Status Refuse(std::string_view reason, std::string_view subject, std::string_view what,
                    std::string_view fix) {
  return FailedPrecondition(
      what,
      {.reason = std::string(reason), .subject = std::string(subject), .fix = std::string(fix)});
}

// What is there instead of safetensors, so that the error can name the way out.
absl::Status ExplainMissing(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& item : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = item.path().filename().string();
    if (name == "adapter_config.json") {
      return Refuse("ADAPTER_ONLY", name, "the folder holds an adapter alone",
                    "merge it into its base model (peft: merge_and_unload) and save that");
    }
    if (absl::StartsWith(name, "pytorch_model") || absl::EndsWith(name, ".pt") ||
        absl::EndsWith(name, ".pth") || absl::EndsWith(name, ".ckpt")) {
      return Refuse("PICKLED_WEIGHTS", name,
                    StrCat(name, " is pickled, and loading it would run code from it"),
                    "convert it to safetensors with transformers' save_pretrained");
    }
  }
  return Refuse("NO_WEIGHTS", kSingle,
                StrCat("the folder holds neither ", kSingle, " nor ", kIndex, " nor a GGUF file"),
                "copy the checkpoint's safetensors files into it");
}

absl::StatusOr<std::set<std::string>> ReadIndex(const std::filesystem::path& path) {
  const auto bad = [](std::string_view what) {
    return Refuse("BAD_INDEX", kIndex, StrCat(kIndex, ": ", what), "fetch the file again");
  };
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return bad("cannot be read");
  if (size > kMaxIndexBytes) return bad("is larger than 64 MiB");
  std::ifstream stream(path, std::ios::binary);
  const auto bound_depth = [](int depth, Json::parse_event_t, Json&) { return depth <= 8; };
  const Json json = Json::parse(stream, bound_depth, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) return bad("is not a JSON object");
  const auto map = json.find("weight_map");
  if (map == json.end() || !map->is_object() || map->empty()) return bad("has no weight_map");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) return bad(StrCat("names no file for ", Shorten(tensor)));
    const auto name = shard.get<std::string>();
    if (name.empty() || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos || name == "..") {
      return bad(StrCat("names a file outside the folder: ", Shorten(name)));
    }
    shards.insert(name);
  }
  return shards;
}

template <typename Source>
absl::StatusOr<std::unique_ptr<TensorSource>> OpenSource(const std::filesystem::path& path) {
  SINKD_ASSIGN_OR_RETURN(Source opened, Source::Open(path));
  return std::make_unique<Source>(std::move(opened));
}

}  // namespace

absl::StatusOr<Checkpoint> Checkpoint::Open(const std::filesystem::path& folder) {
  Checkpoint checkpoint;
  std::error_code ignored;
  if (std::filesystem::exists(folder / kIndex, ignored)) {
    SINKD_ASSIGN_OR_RETURN(const std::set<std::string> shards, ReadIndex(folder / kIndex));
    for (const std::string& shard : shards) {
      if (!std::filesystem::exists(folder / shard, ignored)) {
        return Refuse("MISSING_SHARD", shard,
                      StrCat("the shard ", Shorten(shard), ", named by ", kIndex, ", is missing"),
                      "copy it into the folder");
      }
      SINKD_ASSIGN_OR_RETURN(auto file, OpenSource<SafetensorsFile>(folder / shard));
      SINKD_RETURN_IF_ERROR(checkpoint.AddSource(std::move(file)));
    }
    return checkpoint;
  }
  std::unique_ptr<TensorSource> file;
  if (std::filesystem::exists(folder / kSingle, ignored)) {
    SINKD_ASSIGN_OR_RETURN(file, OpenSource<SafetensorsFile>(folder / kSingle));
  } else {
    SINKD_ASSIGN_OR_RETURN(const std::filesystem::path gguf, FindGguf(folder));
    if (gguf.empty()) return ExplainMissing(folder);
    SINKD_ASSIGN_OR_RETURN(file, OpenSource<GgufSource>(gguf));
  }
  SINKD_RETURN_IF_ERROR(checkpoint.AddSource(std::move(file)));
  return checkpoint;
}

absl::Status Checkpoint::AddSource(std::unique_ptr<TensorSource> source) {
  sources_.push_back(std::move(source));
  const TensorSource& file = *sources_.back();
  for (const auto& [name, entry] : file.tensors()) {
    const auto [place, added] = tensors_.emplace(name, Location{&file, &entry});
    if (!added) {
      return Refuse("DUPLICATE_TENSOR", name,
                    StrCat("tensor ", Shorten(name), " is in both ", place->second.file->name(),
                           " and ", file.name()),
                    "fetch the shards and their index again");
    }
  }
  return absl::OkStatus();
}

const Checkpoint::Location* Checkpoint::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace sinkd
