#include "server/engine/weights/weight_plan.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_format.h>
#include <absl/strings/str_join.h>
#include <c10/util/accumulate.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/weights/block_loader.h"
#include "server/engine/weights/planning_loader.h"
#include "server/engine/weights/weight_names.h"
#include "server/engine/weights/weights.h"

namespace sinkd {
namespace {

// Blocks past the config's count mean that config and weights do not belong together.
absl::Status CheckBlockCount(const Checkpoint& checkpoint, const DecoderPlan& plan) {
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (!absl::StartsWith(name, plan.names.block_prefix)) continue;
    const size_t begin = plan.names.block_prefix.size();
    int64_t block = 0;
    if (!absl::SimpleAtoi(name.substr(begin, name.find('.', begin) - begin), &block)) continue;
    if (block >= plan.spec.blocks + plan.names.unused_blocks) {
      return BadTensor(location.file->name(), name,
                       StrCat("belongs to block ", block, ", but config.json says ",
                              plan.spec.blocks, " blocks"),
                       "restore config.json and weights from one source");
    }
  }
  return absl::OkStatus();
}

constexpr int64_t kCompareBytes = int64_t{1} << 20;

// Of two tensors that are there.
absl::StatusOr<bool> SameValues(const Checkpoint& checkpoint, const std::string& one,
                                const std::string& other, std::stop_token stop) {
  const auto [first_file, first] = *checkpoint.Find(one);
  const auto [second_file, second] = *checkpoint.Find(other);
  if (first->dtype != second->dtype || first->shape != second->shape) return false;
  std::vector<char> left(kCompareBytes);
  std::vector<char> right(kCompareBytes);
  for (int64_t offset = 0; offset < first->bytes; offset += kCompareBytes) {
    if (stop.stop_requested()) return Cancelled("the planning was cancelled");
    const int64_t bytes = std::min(kCompareBytes, first->bytes - offset);
    SINKD_RETURN_IF_ERROR(first_file->Read(one, offset, bytes, left.data()));
    SINKD_RETURN_IF_ERROR(second_file->Read(other, offset, bytes, right.data()));
    if (std::memcmp(left.data(), right.data(), static_cast<size_t>(bytes)) != 0) return false;
  }
  return true;
}

// Constants that old checkpoints store beside their weights.
bool IsBuffer(const std::string& name) {
  for (const char* suffix : {"rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias",
                             ".attention.bias", ".attention.masked_bias"}) {
    if (absl::EndsWith(name, suffix)) return true;
  }
  return false;
}

// The tensors of the checkpoint that no load reads. `heads` are those of the output head.
void AddOthers(const Checkpoint& checkpoint, const std::map<std::string, TensorUse>& heads,
               std::map<std::string, PlannedTensor>& tensors, std::vector<std::string>& warnings) {
  std::vector<std::string> extra;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (tensors.contains(name)) continue;
    const TensorEntry& entry = *location.entry;
    const auto head = heads.find(name);
    tensors.emplace(name,
                    PlannedTensor{.name = name,
                                  .stored_type = StoredType(entry),
                                  .shape = entry.shape,
                                  .stored_bytes = entry.BytesInFile(),
                                  .use = head == heads.end() ? TensorUse::kUnused : head->second});
    if (head == heads.end() && !IsBuffer(name)) extra.push_back(name);
  }
  if (extra.empty()) return;
  const auto shown = static_cast<std::ptrdiff_t>(std::min<size_t>(extra.size(), 5));
  warnings.push_back(StrCat(extra.size(), " tensors are not used: ",
                            absl::StrJoin(extra.begin(), extra.begin() + shown, ", "),
                            extra.size() > 5 ? ", ..." : ""));
}

// "gptq 4 bits, 4.63 bits per weight"; empty without quantized weights.
std::string DescribeQuantization(const Checkpoint& checkpoint) {
  if (checkpoint.quantization().empty()) return "";
  int64_t values = 0, bytes = 0;
  for (const auto& [name, location] : checkpoint.tensors()) {
    const TensorEntry& entry = *location.entry;
    if (!entry.stored_as.empty()) {
      values += c10::multiply_integers(entry.shape);
      bytes += entry.stored_bytes;
    } else if (IsMxfp4Blocks(checkpoint, name)) {
      values += 2 * entry.bytes;
      bytes += entry.bytes + entry.bytes / 16;  // a scale for 32 values
    }
  }
  const double bits = 8 * static_cast<double>(bytes) / static_cast<double>(values);
  return StrCat(checkpoint.quantization(), ", ", absl::StrFormat("%.2f", bits), " bits per weight");
}

// Warns of a head that is stored beside the embedding it is tied to, and is another one.
absl::Status CompareHead(const Checkpoint& checkpoint, const WeightNames& names,
                         std::stop_token stop, std::vector<std::string>& warnings) {
  const std::string head = names.head + ".weight";
  const std::string embedding = names.embedding + ".weight";
  if (head == embedding || checkpoint.Find(head) == nullptr) return absl::OkStatus();
  SINKD_ASSIGN_OR_RETURN(const bool same, SameValues(checkpoint, head, embedding, std::move(stop)));
  if (!same) {
    warnings.push_back(StrCat("tie_word_embeddings is true, but ", head, " differs from ",
                              embedding, ", which is taken for both"));
  }
  return absl::OkStatus();
}

}  // namespace

int64_t WeightPlan::StoredBytes() const {
  return std::accumulate(
      tensors.begin(), tensors.end(), int64_t{0}, [](int64_t sum, const PlannedTensor& tensor) {
        return sum + (tensor.use == TensorUse::kLoaded ? tensor.stored_bytes : 0);
      });
}

int64_t WeightPlan::WeightBytes() const {
  return std::accumulate(block_bytes.begin(), block_bytes.end(), outer_bytes);
}

absl::StatusOr<WeightPlan> PlanWeights(const Checkpoint* checkpoint, const DecoderPlan& decoder,
                                       at::ScalarType dtype, std::stop_token stop) {
  WeightPlan plan{.decoder = decoder, .warnings = decoder.warnings};
  if (checkpoint != nullptr) {
    plan.decoder.names = ResolveNames(*checkpoint, decoder.spec, decoder.names);
    SINKD_RETURN_IF_ERROR(CheckBlockCount(*checkpoint, plan.decoder));
  }
  const DecoderSpec& spec = plan.decoder.spec;
  PlanningLoader loader(checkpoint, plan.decoder, dtype);
  SINKD_ASSIGN_OR_RETURN(const OuterWeights outer, LoadOuterWeights(loader, plan.decoder));
  plan.outer_bytes = sinkd::WeightBytes(outer);
  for (int64_t l = 0; l < spec.blocks; ++l) {
    if (stop.stop_requested()) return Cancelled("the planning was cancelled");
    SINKD_ASSIGN_OR_RETURN(const BlockWeights block, LoadBlock(loader, plan.decoder, l));
    plan.block_bytes.push_back(sinkd::WeightBytes(block));
  }
  if (checkpoint != nullptr) plan.quantization = DescribeQuantization(*checkpoint);
  std::map<std::string, PlannedTensor> tensors = loader.tensors();
  const std::string head = plan.decoder.names.head + ".weight";
  const std::string bias = plan.decoder.names.head + ".bias";
  if (checkpoint != nullptr) {
    std::map<std::string, TensorUse> heads = {
        {head, spec.tied_head ? TensorUse::kUnused : TensorUse::kHead}};
    if (spec.head_bias) heads[bias] = TensorUse::kHead;
    AddOthers(*checkpoint, heads, tensors, plan.warnings);
    if (spec.tied_head) {
      SINKD_RETURN_IF_ERROR(
          CompareHead(*checkpoint, plan.decoder.names, std::move(stop), plan.warnings));
    }
    if (!spec.tied_head && !tensors.contains(head)) {
      plan.warnings.push_back(StrCat("there is no ", head, ", which only losses need"));
    }
  } else {
    const auto expect = [&](const std::string& name, at::IntArrayRef shape) {
      PlannedTensor unread = loader.Expected(name, shape);
      unread.use = TensorUse::kHead;
      tensors.emplace(name, std::move(unread));
    };
    if (!spec.tied_head) expect(head, outer.embedding.sizes());
    if (spec.head_bias) expect(bias, {spec.vocabulary});
  }
  for (auto& [name, tensor] : tensors) plan.tensors.push_back(std::move(tensor));
  return plan;
}

}  // namespace sinkd
