#include "server/analysis/summary.h"

#include <algorithm>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>

#include "server/analysis/catalog.h"
#include "server/analysis/gates.h"
#include "server/analysis/learned_sinks.h"
#include "server/analysis/record_check.h"
#include "server/analysis/sink_detection.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

absl::Status OtherLayers(int64_t here, int64_t there) {
  return InvalidArgument(
      absl::StrCat("a summary of a model of ", here, " layers cannot take one of ", there),
      {.reason = "LAYERS_DIFFER",
       .subject = "record.layers",
       .value = absl::StrCat(there),
       .fix = "summarize the records of one model at a time"});
}

absl::Status OtherBlocks() {
  return InvalidArgument(
      "a summary of a model cannot take one with softmax attention in other blocks",
      {.reason = "LAYERS_DIFFER",
       .subject = "record.attention_blocks",
       .fix = "summarize the records of one model at a time"});
}

// "softmax attention is in 2 of 8 blocks, 3 and 7: ..."
std::string PartlyAttention(const std::vector<int32_t>& blocks, int64_t layers) {
  constexpr size_t kMostShown = 32;
  const size_t shown = std::min(blocks.size(), kMostShown);
  return absl::StrCat(
      "softmax attention is in ", blocks.size(), " of ", layers,
      " blocks, over which everything about attention is taken: ",
      absl::StrJoin(blocks.begin(), blocks.begin() + static_cast<int64_t>(shown), ", "),
      blocks.size() > shown ? ", ..." : "");
}

// Samples by how they were computed.
std::string MixedArithmetic(const std::map<std::string, int64_t>& samples) {
  constexpr size_t kMostShown = 16;  // imported records can say anything
  std::vector<std::string> parts;
  for (const auto& [text, count] : samples) {
    if (parts.size() == kMostShown) break;
    parts.push_back(absl::StrCat(count, " in ", text.empty() ? "arithmetic not known" : text));
  }
  const size_t others = samples.size() - parts.size();
  if (others > 0) parts.push_back(absl::StrCat("the rest in ", others, " others"));
  return absl::StrCat(
      "the samples were computed in different arithmetic, so last digits may differ: ",
      absl::StrJoin(parts, "; "));
}

bool SameBlocks(const v1::SampleRecord& record, const std::vector<int32_t>& blocks) {
  return std::equal(record.attention_blocks().begin(), record.attention_blocks().end(),
                    blocks.begin(), blocks.end());
}

}  // namespace

Summary::Summary(v1::AnalysisSpec spec) : spec_(std::move(spec)) {
  for (const AnalysisEntry& analysis : Analyses()) {
    if (analysis.accumulate && Requested(analysis, spec_)) {
      parts_.push_back(analysis.accumulate(spec_));
    }
  }
  if (!RequiredTrace(spec_).attention) return;
  parts_.push_back(std::make_unique<LearnedSinkAccumulator>());
  parts_.push_back(std::make_unique<GateAccumulator>());
}

Summary::Summary(const Summary& other)
    : spec_(other.spec_),
      layers_(other.layers_),
      attention_blocks_(other.attention_blocks_),
      samples_(other.samples_),
      positions_(other.positions_),
      undecided_samples_(other.undecided_samples_),
      arithmetics_(other.arithmetics_) {
  for (const auto& part : other.parts_) parts_.push_back(part->Clone());
}

Summary& Summary::operator=(const Summary& other) {
  if (this != &other) *this = Summary(other);
  return *this;
}

Summary::Summary(Summary&&) noexcept = default;
Summary& Summary::operator=(Summary&&) noexcept = default;
Summary::~Summary() = default;

absl::Status Summary::Add(const v1::SampleRecord& record) {
  SINKD_RETURN_IF_ERROR(CheckRecord(record));
  if (layers_ != 0 && record.layers() != layers_) return OtherLayers(layers_, record.layers());
  if (layers_ != 0 && !SameBlocks(record, attention_blocks_)) return OtherBlocks();
  layers_ = record.layers();
  attention_blocks_.assign(record.attention_blocks().begin(), record.attention_blocks().end());
  ++samples_;
  positions_ += record.positions();
  if (record.undecided()) ++undecided_samples_;
  ++arithmetics_[record.arithmetic()];
  for (const auto& part : parts_) part->Add(record);
  return absl::OkStatus();
}

absl::Status Summary::Merge(const Summary& other) {
  if (&other == this) return Merge(Summary(other));
  if (!Equal(spec_, other.spec_)) {
    return InvalidArgument("summaries made with different parameters cannot be merged",
                           {.reason = "PARAMETERS_DIFFER",
                            .subject = "spec",
                            .fix = "analyse both sets of samples with the same parameters"});
  }
  if (layers_ != 0 && other.layers_ != 0 && layers_ != other.layers_) {
    return OtherLayers(layers_, other.layers_);
  }
  if (layers_ != 0 && other.layers_ != 0 && attention_blocks_ != other.attention_blocks_) {
    return OtherBlocks();
  }
  if (layers_ == 0) {
    layers_ = other.layers_;
    attention_blocks_ = other.attention_blocks_;
  }
  samples_ += other.samples_;
  positions_ += other.positions_;
  undecided_samples_ += other.undecided_samples_;
  for (const auto& [text, samples] : other.arithmetics_) arithmetics_[text] += samples;
  for (size_t i = 0; i < parts_.size(); ++i) parts_[i]->Merge(*other.parts_[i]);
  return absl::OkStatus();
}

v1::Summary Summary::Report() const {
  v1::Summary report;
  report.set_samples(samples_);
  report.set_positions(positions_);
  report.set_undecided_samples(undecided_samples_);
  report.mutable_attention_blocks()->Assign(attention_blocks_.begin(), attention_blocks_.end());
  if (!attention_blocks_.empty() && RequiredTrace(spec_).attention) {
    report.add_notes(PartlyAttention(attention_blocks_, layers_));
  }
  if (spec_.detection().kind_rule() == v1::KIND_RULE_PUBLISHED && layers_ != 0 &&
      layers_ <= kDeepestUnfit) {
    report.add_notes(absl::StrCat(
        "the published kind rule counts fixed numbers of layers and means nothing for "
        "a model of ",
        layers_, " layers (it needs at least ", kDeepestUnfit + 1, "); use the window rule"));
  }
  if (arithmetics_.size() > 1) report.add_notes(MixedArithmetic(arithmetics_));
  for (const auto& part : parts_) part->Report(report);
  return report;
}

}  // namespace sinkd
