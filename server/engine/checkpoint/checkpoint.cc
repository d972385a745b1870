#include "server/engine/checkpoint/checkpoint.h"

#include <fstream>
#include <memory>
#include <set>

#include <nlohmann/json.hpp>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/checkpoint_files.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/gguf/gguf_source.h"
#include "server/engine/checkpoint/quantized_weights.h"
#include "server/engine/checkpoint/safetensors.h"

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

// The shards that the index names, all of which are there.
absl::StatusOr<std::vector<std::string>> ReadIndex(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kIndex;
  const auto bad = [](std::string_view what) {
    return Refuse("BAD_INDEX", kIndex, StrCat(kIndex, ": ", what), "fetch the file again");
  };
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return bad("cannot be read");
  if (size > kMaxIndexBytes) return bad("is larger than 64 MiB");
  std::string text(size, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(size));
  // nlohmann::json would take it for the end of the text.
  if (text.find('\0') != std::string::npos) return bad("is not a JSON object");
  const auto bound_depth = [](int depth, Json::parse_event_t, Json&) { return depth <= 8; };
  const Json json = Json::parse(text, bound_depth, /*allow_exceptions=*/false);
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
  for (const std::string& shard : shards) {
    SINKD_RETURN_IF_ERROR(CheckFile(folder / shard));
    if (!std::filesystem::exists(folder / shard, error)) {
      return Refuse("MISSING_SHARD", shard,
                    StrCat("the shard ", Shorten(shard), ", named by ", kIndex, ", is missing"),
                    "copy it into the folder");
    }
  }
  return std::vector<std::string>(shards.begin(), shards.end());
}

template <typename Source>
absl::StatusOr<std::unique_ptr<TensorSource>> OpenSource(const std::filesystem::path& path) {
  SINKD_ASSIGN_OR_RETURN(Source opened, Source::Open(path));
  return std::make_unique<Source>(std::move(opened));
}

// The names of the files that hold the weights. A whole file goes before an index, which may be
// left from earlier shards, as in transformers.
absl::StatusOr<std::vector<std::string>> WeightFiles(const std::filesystem::path& folder) {
  std::error_code ignored;
  SINKD_RETURN_IF_ERROR(CheckFile(folder / kSingle));
  if (std::filesystem::exists(folder / kSingle, ignored)) return std::vector<std::string>{kSingle};
  SINKD_RETURN_IF_ERROR(CheckFile(folder / kIndex));
  if (std::filesystem::exists(folder / kIndex, ignored)) return ReadIndex(folder);
  SINKD_ASSIGN_OR_RETURN(const std::filesystem::path gguf, FindGguf(folder));
  if (gguf.empty()) return ExplainNoWeights(folder);
  return std::vector<std::string>{gguf.filename().string()};
}

}  // namespace

absl::StatusOr<Checkpoint> Checkpoint::Open(const std::filesystem::path& folder) {
  Checkpoint checkpoint;
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> files, WeightFiles(folder));
  for (const std::string& name : files) {
    const std::filesystem::path path = folder / name;
    SINKD_RETURN_IF_ERROR(CheckFile(path));
    SINKD_ASSIGN_OR_RETURN(auto file, path.extension() == ".gguf"
                                          ? OpenSource<GgufSource>(path)
                                          : OpenSource<SafetensorsFile>(path));
    SINKD_RETURN_IF_ERROR(checkpoint.AddSource(std::move(file)));
  }
  for (const auto& [name, location] : checkpoint.tensors_) {
    SINKD_RETURN_IF_ERROR(RefuseQuantizedTensor(folder, location.file->name(), name));
  }
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
