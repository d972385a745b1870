#include "server/engine/checkpoint/checkpoint.h"

#include <fstream>
#include <memory>
#include <set>

#include <absl/strings/str_join.h>

#include "server/base/json.h"
#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/checkpoint_files.h"
#include "server/engine/checkpoint/gguf/gguf_folder.h"
#include "server/engine/checkpoint/gguf/gguf_source.h"
#include "server/engine/checkpoint/quantized/quantized_source.h"
#include "server/engine/checkpoint/quantized/unreadable_formats.h"
#include "server/engine/checkpoint/safetensors.h"
#include "server/engine/checkpoint/safetensors_header.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

constexpr char kSingle[] = "model.safetensors";
constexpr char kIndex[] = "model.safetensors.index.json";
constexpr uintmax_t kMaxIndexBytes = 64u << 20;
constexpr size_t kMaxShards = 4096;  // each takes a descriptor
constexpr int64_t kMaxHeaderBytes = int64_t{512} << 20;

absl::Status Refuse(std::string_view reason, std::string_view subject, std::string_view what,
                    std::string_view fix) {
  return FailedPrecondition(
      what,
      {.reason = std::string(reason), .subject = std::string(subject), .fix = std::string(fix)});
}

// The shards that the index names.
absl::StatusOr<std::set<std::string>> ReadShardNames(const std::filesystem::path& path,
                                                     std::stop_token stop) {
  const auto bad = [](std::string_view what) {
    return Refuse("BAD_INDEX", kIndex, StrCat(kIndex, ": ", what), "fetch the file again");
  };
  std::error_code error;
  const uintmax_t size = std::filesystem::file_size(path, error);
  if (error) return bad("cannot be read");
  if (size > kMaxIndexBytes) return bad("is larger than 64 MiB");
  std::string text(size, '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(size));
  const absl::StatusOr<Json> json =
      ParseJson(text, {.depth = 8, .values = kMaxTensors + 1000}, std::move(stop));
  if (absl::IsCancelled(json.status())) return json.status();
  if (!json.ok()) return bad(std::string(json.status().message()));
  if (!json->is_object()) return bad("is not a JSON object");
  const auto map = json->find("weight_map");
  if (map == json->end() || !map->is_object() || map->empty()) return bad("has no weight_map");
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) return bad(StrCat("names no file for ", Shorten(tensor)));
    const auto name = shard.get<std::string>();
    if (name.empty() || name.find('/') != std::string::npos ||
        name.find('\0') != std::string::npos || name == "..") {
      return bad(StrCat("names a file outside the folder: ", Shorten(name)));
    }
    shards.insert(name);
    if (shards.size() > kMaxShards) return bad(StrCat("names over ", kMaxShards, " files"));
  }
  return shards;
}

// The shards that the index names, all of which are there.
absl::StatusOr<std::vector<std::string>> ReadIndex(const std::filesystem::path& folder,
                                                   std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(const std::set<std::string> shards,
                         ReadShardNames(folder / kIndex, std::move(stop)));
  std::error_code error;
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
absl::StatusOr<std::unique_ptr<TensorSource>> OpenSource(const std::filesystem::path& path,
                                                         std::stop_token stop) {
  SINKD_ASSIGN_OR_RETURN(Source opened, Source::Open(path, std::move(stop)));
  return std::make_unique<Source>(std::move(opened));
}

// The names of the files that hold the weights. A whole file goes before an index, which may be
// left from earlier shards, as in transformers.
absl::StatusOr<std::vector<std::string>> WeightFiles(const std::filesystem::path& folder,
                                                     std::stop_token stop) {
  std::error_code ignored;
  SINKD_RETURN_IF_ERROR(CheckFile(folder / kSingle));
  if (std::filesystem::exists(folder / kSingle, ignored)) return std::vector<std::string>{kSingle};
  SINKD_RETURN_IF_ERROR(CheckFile(folder / kIndex));
  if (std::filesystem::exists(folder / kIndex, ignored)) return ReadIndex(folder, std::move(stop));
  SINKD_ASSIGN_OR_RETURN(const std::filesystem::path gguf, FindGguf(folder));
  if (gguf.empty()) return ExplainNoWeights(folder);
  return std::vector<std::string>{gguf.filename().string()};
}

}  // namespace

bool IsMxfp4Blocks(const Checkpoint& checkpoint, std::string_view name) {
  constexpr std::string_view kEnd = "_blocks";
  return name.ends_with(kEnd) &&
         checkpoint.Find(StrCat(name.substr(0, name.size() - kEnd.size()), "_scales")) != nullptr;
}

absl::StatusOr<Checkpoint> Checkpoint::Open(const std::filesystem::path& folder,
                                            std::stop_token stop) {
  Checkpoint checkpoint;
  SINKD_ASSIGN_OR_RETURN(const std::vector<std::string> files, WeightFiles(folder, stop));
  int64_t header_bytes = 0;
  for (const std::string& name : files) {
    const std::filesystem::path path = folder / name;
    SINKD_RETURN_IF_ERROR(CheckFile(path));
    SINKD_ASSIGN_OR_RETURN(auto file, path.extension() == ".gguf"
                                          ? OpenSource<GgufSource>(path, stop)
                                          : OpenSource<SafetensorsFile>(path, stop));
    header_bytes += file->header_bytes();
    SINKD_RETURN_IF_ERROR(checkpoint.AddSource(std::move(file)));
    if (checkpoint.tensors_.size() > kMaxTensors || header_bytes > kMaxHeaderBytes) {
      return Refuse("BAD_SAFETENSORS", name,
                    StrCat("the files' headers describe over ", kMaxTensors, " tensors, or take ",
                           "over 512 MiB"),
                    "fetch the files again, or write them anew with the safetensors library");
    }
  }
  SINKD_RETURN_IF_ERROR(checkpoint.Unpack(folder, std::move(stop)));
  std::set<std::string> formats;
  for (const auto& [name, location] : checkpoint.tensors_) {
    SINKD_RETURN_IF_ERROR(RefuseQuantizedTensor(folder, location.file->name(), name));
    if (!location.entry->stored_as.empty()) formats.insert(location.entry->stored_as);
    if (IsMxfp4Blocks(checkpoint, name)) formats.insert("mxfp4");
  }
  checkpoint.quantization_ = absl::StrJoin(formats, ", ");
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

absl::Status Checkpoint::Unpack(const std::filesystem::path& folder, std::stop_token stop) {
  std::error_code ignored;
  if (!std::filesystem::exists(folder / "config.json", ignored)) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const ConfigReader config, ConfigReader::Open(folder));
  SINKD_ASSIGN_OR_RETURN(const std::string model_type, config.TextOr("model_type", ""));
  SINKD_ASSIGN_OR_RETURN(const QuantizationConfig quantization,
                         ReadQuantization(config, model_type));
  if (quantization.method.empty() || quantization.method == "mxfp4") return absl::OkStatus();
  activations_ = quantization.activations;
  SINKD_ASSIGN_OR_RETURN(auto unpacked,
                         QuantizedSource::Open(tensors_, quantization, std::move(stop)));
  if (unpacked == nullptr) {
    return Refuse("QUANTIZED_WEIGHTS", "config.json: quantization_config",
                  StrCat("quantization_config says that the weights are quantized by ",
                         quantization.method, ", but none is stored so"),
                  "restore config.json and weights from one source");
  }
  for (const std::string& name : unpacked->replaced()) tensors_.erase(name);
  return AddSource(std::move(unpacked));
}

absl::Status Checkpoint::RoundActivations() {
  if (!activations_.other.empty()) {
    return FailedPrecondition(
        "activations cannot be quantized as config.json says",
        {.reason = "QUANTIZED_ACTIVATIONS",
         .subject = "config.json: quantization_config",
         .value = activations_.other,
         .fix = "load without activation quantization; int8 and fp8 per token, dynamic and "
                "symmetric, can be applied"});
  }
  rounds_activations_ = true;
  return absl::OkStatus();
}

std::string Checkpoint::activation_quantization() const {
  return rounds_activations_ ? ActivationText(activations_.scheme) : "";
}

ActivationScheme Checkpoint::ActivationsOf(std::string_view weight) const {
  const Location* found = rounds_activations_ ? Find(weight) : nullptr;
  if (found == nullptr || found->entry->stored_as.empty()) return {};
  return activations_.scheme;
}

const Checkpoint::Location* Checkpoint::Find(std::string_view name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second;
}

}  // namespace sinkd
