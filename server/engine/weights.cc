#include "server/engine/weights.h"

#include <algorithm>
#include <map>
#include <set>

#include <ATen/ATen.h>
#include <absl/strings/match.h>
#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status BadTensor(std::string_view file, std::string_view tensor, std::string_view what,
                       std::string_view fix) {
  const std::string where = file.empty() ? std::string(tensor) : StrCat(file, ":", tensor);
  return FailedPrecondition(StrCat("tensor ", where, " ", what),
                            {.reason = "BAD_WEIGHTS", .subject = where, .fix = std::string(fix)});
}

absl::StatusOr<at::ScalarType> ToScalarType(std::string_view file, std::string_view tensor,
                                            std::string_view dtype) {
  if (dtype == "F32") return at::kFloat;
  if (dtype == "BF16") return at::kBFloat16;
  if (dtype == "F16") return at::kHalf;
  if (dtype == "F64") return at::kDouble;
  return BadTensor(file, tensor, StrCat("has dtype ", dtype, ", which holds no plain weights"),
                   "use the float32, float16 or bfloat16 checkpoint");
}

std::string ShapeText(at::IntArrayRef shape) {
  return StrCat("[", absl::StrJoin(shape, ", "), "]");
}

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, at::ScalarType dtype, const at::Device& device,
         const std::function<void(const LoadProgress&)>& progress, const std::stop_token& stop)
      : checkpoint_(checkpoint), dtype_(dtype), device_(device), progress_(progress), stop_(stop) {}

  void ExpectBytes(int64_t total) { loaded_.bytes_total = total; }

  // The tensor `name` of `shape`, in the target dtype.
  absl::StatusOr<at::Tensor> Load(const std::string& name, at::IntArrayRef shape) {
    SINKD_ASSIGN_OR_RETURN(const Checkpoint::Location* location, Find(name, shape));
    at::Tensor whole = at::empty(shape, at::TensorOptions().dtype(dtype_).device(device_));
    SINKD_RETURN_IF_ERROR(LoadInto(name, *location, whole));
    bytes_ += static_cast<int64_t>(whole.nbytes());
    return whole;
  }

  // Several tensors stacked along the first axis; `parts` are (name, rows).
  absl::StatusOr<at::Tensor> LoadStacked(const std::vector<std::pair<std::string, int64_t>>& parts,
                                         at::IntArrayRef row_shape) {
    std::vector<int64_t> shape = {0};
    shape.insert(shape.end(), row_shape.begin(), row_shape.end());
    std::vector<const Checkpoint::Location*> locations;
    int64_t all_rows = 0;
    for (const auto& [name, rows] : parts) {
      shape[0] = rows;
      SINKD_ASSIGN_OR_RETURN(locations.emplace_back(), Find(name, shape));
      all_rows += rows;
    }
    shape[0] = all_rows;
    at::Tensor whole = at::empty(shape, at::TensorOptions().dtype(dtype_).device(device_));
    int64_t row = 0;
    for (size_t i = 0; i < parts.size(); ++i) {
      const auto& [name, rows] = parts[i];
      SINKD_RETURN_IF_ERROR(LoadInto(name, *locations[i], whole.narrow(0, row, rows)));
      row += rows;
    }
    bytes_ += static_cast<int64_t>(whole.nbytes());
    return whole;
  }

  int64_t bytes() const { return bytes_; }
  const std::set<std::string>& used() const { return used_; }

 private:
  // Checked before memory is asked for, since a wrong config may name any size.
  absl::StatusOr<const Checkpoint::Location*> Find(const std::string& name,
                                                   at::IntArrayRef shape) const {
    const Checkpoint::Location* location = checkpoint_.Find(name);
    if (location == nullptr) {
      return BadTensor("", name, "is missing",
                       "copy the complete checkpoint, or correct config.json");
    }
    if (shape != at::IntArrayRef(location->entry->shape)) {
      return BadTensor(location->file->name(), name,
                       StrCat("has shape ", ShapeText(location->entry->shape),
                              " where config.json wants ", ShapeText(shape)),
                       "restore config.json and weights from one source");
    }
    return location;
  }

  absl::Status LoadInto(const std::string& name, const Checkpoint::Location& location,
                        const at::Tensor& target) {
    if (stop_.stop_requested()) return Cancelled("the load was cancelled");
    const std::string& file = location.file->name();
    const TensorEntry& entry = *location.entry;
    SINKD_ASSIGN_OR_RETURN(const at::ScalarType stored, ToScalarType(file, name, entry.dtype));
    at::Tensor read = at::empty(entry.shape, at::TensorOptions().dtype(stored));
    SINKD_RETURN_IF_ERROR(location.file->Read(name, 0, entry.bytes, read.data_ptr()));
    if (!at::isfinite(read).all().item<bool>()) {
      return BadTensor(file, name, "holds NaN or infinite values", "fetch the checkpoint again");
    }
    target.copy_(read);
    if (stored == at::kDouble && !at::isfinite(target).all().item<bool>()) {
      return BadTensor(file, name, "holds values too large for the compute type",
                       "compute in a wider type");
    }
    used_.insert(name);
    loaded_.bytes_done += entry.bytes;
    if (progress_) progress_(loaded_);
    return absl::OkStatus();
  }

  const Checkpoint& checkpoint_;
  at::ScalarType dtype_;
  at::Device device_;
  const std::function<void(const LoadProgress&)>& progress_;
  const std::stop_token& stop_;
  LoadProgress loaded_;
  int64_t bytes_ = 0;
  std::set<std::string> used_;
};

// The names of one block's tensors, with the block's prefix.
class BlockNames {
 public:
  BlockNames(const WeightNames& names, int64_t block)
      : prefix_(StrCat(names.block_prefix, block, ".")) {}
  std::string Weight(std::string_view name) const { return StrCat(prefix_, name, ".weight"); }
  std::string Bias(std::string_view name) const { return StrCat(prefix_, name, ".bias"); }

 private:
  std::string prefix_;
};

absl::Status LoadAttention(Loader& loader, const DecoderPlan& plan, const BlockNames& at,
                           BlockWeights& block) {
  const DecoderSpec& spec = plan.spec;
  const BlockWeightNames& names = plan.names.block;
  const int64_t q_rows = spec.heads * spec.head_size;
  const int64_t kv_rows = spec.kv_heads * spec.head_size;
  SINKD_ASSIGN_OR_RETURN(block.attention_norm,
                         loader.Load(at.Weight(names.attention_norm), {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.qkv, loader.LoadStacked({{at.Weight(names.q), q_rows},
                                                        {at.Weight(names.k), kv_rows},
                                                        {at.Weight(names.v), kv_rows}},
                                                       {spec.hidden}));
  if (spec.qkv_bias) {
    SINKD_ASSIGN_OR_RETURN(block.qkv_bias, loader.LoadStacked({{at.Bias(names.q), q_rows},
                                                               {at.Bias(names.k), kv_rows},
                                                               {at.Bias(names.v), kv_rows}},
                                                              {}));
  }
  if (spec.head_norms) {
    SINKD_ASSIGN_OR_RETURN(block.q_norm, loader.Load(at.Weight(names.q_norm), {spec.head_size}));
    SINKD_ASSIGN_OR_RETURN(block.k_norm, loader.Load(at.Weight(names.k_norm), {spec.head_size}));
  }
  SINKD_ASSIGN_OR_RETURN(block.output, loader.Load(at.Weight(names.o), {spec.hidden, q_rows}));
  if (spec.output_bias) {
    SINKD_ASSIGN_OR_RETURN(block.output_bias, loader.Load(at.Bias(names.o), {spec.hidden}));
  }
  return absl::OkStatus();
}

absl::Status LoadMlp(Loader& loader, const DecoderPlan& plan, const BlockNames& at,
                     BlockWeights& block) {
  const DecoderSpec& spec = plan.spec;
  const BlockWeightNames& names = plan.names.block;
  SINKD_ASSIGN_OR_RETURN(block.mlp_norm, loader.Load(at.Weight(names.mlp_norm), {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.gate_up,
                         loader.LoadStacked({{at.Weight(names.gate), spec.intermediate},
                                             {at.Weight(names.up), spec.intermediate}},
                                            {spec.hidden}));
  SINKD_ASSIGN_OR_RETURN(block.down,
                         loader.Load(at.Weight(names.down), {spec.hidden, spec.intermediate}));
  if (spec.mlp_bias) {
    SINKD_ASSIGN_OR_RETURN(block.gate_up_bias,
                           loader.LoadStacked({{at.Bias(names.gate), spec.intermediate},
                                               {at.Bias(names.up), spec.intermediate}},
                                              {}));
    SINKD_ASSIGN_OR_RETURN(block.down_bias, loader.Load(at.Bias(names.down), {spec.hidden}));
  }
  return absl::OkStatus();
}

// Blocks past the config's count mean that config and weights do not belong together.
absl::Status CheckBlockCount(const Checkpoint& checkpoint, const DecoderPlan& plan) {
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (!absl::StartsWith(name, plan.names.block_prefix)) continue;
    const size_t begin = plan.names.block_prefix.size();
    int64_t block = 0;
    if (!absl::SimpleAtoi(name.substr(begin, name.find('.', begin) - begin), &block)) continue;
    if (block >= plan.spec.blocks) {
      return BadTensor(location.file->name(), name,
                       StrCat("belongs to block ", block, ", but config.json says ",
                              plan.spec.blocks, " blocks"),
                       "restore config.json and weights from one source");
    }
  }
  return absl::OkStatus();
}

std::vector<std::string> Warnings(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                  const std::set<std::string>& used) {
  const std::string head = plan.names.head + ".weight";
  std::vector<std::string> extra;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (used.count(name) == 0 && name != head && !absl::EndsWith(name, "rotary_emb.inv_freq")) {
      extra.push_back(name);
    }
  }
  std::vector<std::string> warnings;
  if (!extra.empty()) {
    const size_t shown = std::min<size_t>(extra.size(), 5);
    warnings.push_back(StrCat(
        extra.size(), " tensors are not used: ",
        absl::StrJoin(extra.begin(), extra.begin() + static_cast<std::ptrdiff_t>(shown), ", "),
        extra.size() > shown ? ", ..." : ""));
  }
  if (!plan.spec.tied_head && checkpoint.Find(head) == nullptr) {
    warnings.push_back(StrCat("there is no ", head, ", which no analysis needs"));
  }
  return warnings;
}

}  // namespace

absl::StatusOr<DecoderWeights> LoadWeights(const Checkpoint& checkpoint, const DecoderPlan& plan,
                                           at::ScalarType dtype, const at::Device& device,
                                           const std::function<void(const LoadProgress&)>& progress,
                                           const std::stop_token& stop) {
  SINKD_RETURN_IF_ERROR(CheckBlockCount(checkpoint, plan));
  Loader loader(checkpoint, dtype, device, progress, stop);
  const std::string head = plan.names.head + ".weight";
  int64_t total = 0;
  for (const auto& [name, location] : checkpoint.tensors()) {
    if (name != head) total += location.entry->bytes;
  }
  loader.ExpectBytes(total);

  DecoderWeights weights;
  SINKD_ASSIGN_OR_RETURN(weights.embedding, loader.Load(plan.names.embedding + ".weight",
                                                        {plan.spec.vocabulary, plan.spec.hidden}));
  for (int64_t l = 0; l < plan.spec.blocks; ++l) {
    const BlockNames names(plan.names, l);
    BlockWeights& block = weights.blocks.emplace_back();
    SINKD_RETURN_IF_ERROR(LoadAttention(loader, plan, names, block));
    SINKD_RETURN_IF_ERROR(LoadMlp(loader, plan, names, block));
  }
  SINKD_ASSIGN_OR_RETURN(weights.final_norm,
                         loader.Load(plan.names.final_norm + ".weight", {plan.spec.hidden}));
  weights.bytes = loader.bytes();
  weights.warnings = Warnings(checkpoint, plan, loader.used());
  return weights;
}

}  // namespace sinkd
