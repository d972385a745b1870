#include "server/analysis/heads.h"

#include <algorithm>
#include <vector>

#include <absl/strings/str_cat.h>

#include "server/analysis/record_part.h"
#include "server/base/status.h"

namespace sinkd {
namespace {

using Floats = google::protobuf::RepeatedField<float>;

constexpr double kCollapsedEntropy = 0.03;
constexpr double kFocusedWeight = 0.9;

constexpr double kShare = RecordPart::kMostShare;
constexpr double kAny = RecordPart::kAny;

// What HeadMeans and HeadReport share.
struct Field {
  const char* name;
  const Floats& (v1::HeadMeans::*of_sample)() const;
  google::protobuf::RepeatedField<double>* (v1::HeadReport::*mean)();
  double most;
  bool may_lack = false;
};

constexpr Field kFields[HeadAccumulator::kMeans] = {
    {"entropy", &v1::HeadMeans::entropy, &v1::HeadReport::mutable_entropy, kShare},
    {"max_weight", &v1::HeadMeans::max_weight, &v1::HeadReport::mutable_max_weight, kShare},
    {"primary", &v1::HeadMeans::primary, &v1::HeadReport::mutable_primary, kShare},
    {"secondary", &v1::HeadMeans::secondary, &v1::HeadReport::mutable_secondary, kAny, true},
    {"rest", &v1::HeadMeans::rest, &v1::HeadReport::mutable_rest, kShare},
    {"learned_sink", &v1::HeadMeans::learned_sink, &v1::HeadReport::mutable_learned_sink, kShare,
     true},
    {"previous_token", &v1::HeadMeans::previous_token, &v1::HeadReport::mutable_previous_token,
     kShare},
    {"duplicate_token", &v1::HeadMeans::duplicate_token, &v1::HeadReport::mutable_duplicate_token,
     kShare},
    {"first_token", &v1::HeadMeans::first_token, &v1::HeadReport::mutable_first_token, kShare},
    {"primary_value", &v1::HeadMeans::primary_value, &v1::HeadReport::mutable_primary_value, kAny},
    {"secondary_value", &v1::HeadMeans::secondary_value, &v1::HeadReport::mutable_secondary_value,
     kAny, true},
    {"rest_value", &v1::HeadMeans::rest_value, &v1::HeadReport::mutable_rest_value, kAny},
};
constexpr size_t kEntropy = 0, kSecondary = 3;

// Positions by what they are to a sample.
struct Places {
  int64_t primary = 0;
  std::vector<int64_t> secondary;  // those that a query lies past
  std::vector<int64_t> rest;
};

Places PlacesOf(const Trace& trace, const v1::SampleRecord& record) {
  Places places{.primary = record.primary().position()};
  std::vector<bool> sink(Trace::At(trace.positions));
  sink[Trace::At(places.primary)] = true;
  for (const v1::Sink& each : record.sinks()) {
    if (!IsSecondary(each)) continue;
    sink[Trace::At(each.position())] = true;
    if (each.position() + 1 < trace.positions) places.secondary.push_back(each.position());
  }
  for (int64_t k = 0; k < trace.positions; ++k) {
    if (!sink[Trace::At(k)]) places.rest.push_back(k);
  }
  return places;
}

// One head of one block, whose attention to position k counts factor(k) times.
class Head {
 public:
  Head(const Trace& trace, const Places& places, int64_t block, int64_t head)
      : trace_(trace), places_(places), block_(block), head_(head) {}

  template <typename Factor>
  void AddMasses(Floats& primary, Floats& secondary, Floats& rest, const Factor& factor) const {
    primary.Add(static_cast<float>(Past(places_.primary) * factor(places_.primary)));
    if (!places_.secondary.empty()) {
      double sum = 0;
      for (const int64_t k : places_.secondary) sum += Past(k) * factor(k);
      secondary.Add(static_cast<float>(sum));
    }
    double sum = 0;
    for (const int64_t k : places_.rest) sum += Sum(k) * factor(k);
    rest.Add(static_cast<float>(sum / static_cast<double>(trace_.positions)));
  }

  void AddTo(v1::HeadMeans& means) const {
    const size_t cell = Trace::At(block_ * trace_.heads + head_);
    means.add_entropy(trace_.row_entropy[cell]);
    means.add_max_weight(trace_.row_maximum[cell]);
    AddMasses(*means.mutable_primary(), *means.mutable_secondary(), *means.mutable_rest(),
              [](int64_t) { return 1.0; });
    AddMasses(*means.mutable_primary_value(), *means.mutable_secondary_value(),
              *means.mutable_rest_value(), [this](int64_t k) {
                return static_cast<double>(trace_.ValueNorm(block_, head_, k));
              });
    if (!trace_.learned_sink_mass.empty()) {
      means.add_learned_sink(trace_.LearnedSinkMass(block_, head_));
    }
    double whole = 0;
    for (int64_t k = 0; k < trace_.positions; ++k) whole += Sum(k);
    const auto share = [whole](double sum) {
      return static_cast<float>(whole > 0 ? sum / whole : 0);
    };
    means.add_previous_token(share(trace_.previous_attention[cell]));
    means.add_duplicate_token(share(trace_.duplicate_attention[cell]));
    means.add_first_token(share(Sum(0)));
  }

 private:
  double Sum(int64_t k) const { return trace_.AttentionSum(block_, head_, k); }
  // Mean over the queries past k.
  double Past(int64_t k) const {
    const double sum = Sum(k) - trace_.AttentionSelf(block_, head_, k);
    return std::max(0.0, sum) / static_cast<double>(trace_.positions - 1 - k);
  }

  const Trace& trace_;
  const Places& places_;
  const int64_t block_;
  const int64_t head_;
};

}  // namespace

void FillHeads(const v1::AnalysisSpec& /*spec*/, const Trace& trace, v1::SampleRecord& record) {
  v1::HeadMeans& means = *record.mutable_heads();
  if (record.primary().position() + 1 >= trace.positions) return;
  const Places places = PlacesOf(trace, record);
  for (const int32_t l : trace.AttentionBlocks()) {
    for (int64_t h = 0; h < trace.heads; ++h) Head(trace, places, l, h).AddTo(means);
  }
}

void HeadAccumulator::Add(const v1::SampleRecord& record) {
  if (!record.has_heads()) return;
  if (record.heads().entropy().empty()) {
    ++left_out_;
    return;
  }
  blocks_.clear();
  for (int64_t i = 0; i < AttentionBlockCount(record); ++i) {
    blocks_.push_back(AttentionBlock(record, i));
  }
  for (size_t i = 0; i < kMeans; ++i) {
    means_[i].Add(SpanOf((record.heads().*kFields[i].of_sample)()));
  }
  gate_.Add(SpanOf(record.gates().all()));
}

void HeadAccumulator::MergeSame(const HeadAccumulator& other) {
  if (blocks_.empty()) blocks_ = other.blocks_;
  left_out_ += other.left_out_;
  for (size_t i = 0; i < means_.size(); ++i) means_[i].Merge(other.means_[i]);
  gate_.Merge(other.gate_);
}

void HeadAccumulator::AddShares(v1::HeadReport& heads) const {
  const double with_secondary =
      static_cast<double>(heads.samples_with_secondary()) / static_cast<double>(heads.samples());
  for (int i = 0; i < heads.primary_value_size(); ++i) {
    const double primary = heads.primary_value(i);
    const double secondary =
        i < heads.secondary_value_size() ? heads.secondary_value(i) * with_secondary : 0;
    const double whole = primary + secondary + heads.rest_value(i);
    heads.add_primary_value_share(whole > 0 ? primary / whole : 0);
  }
}

void HeadAccumulator::AddFlags(v1::HeadReport& heads) const {
  for (int i = 0; i < heads.entropy_size(); ++i) {
    v1::HeadPlace place;
    place.set_block(blocks_[static_cast<size_t>(i / heads.heads())]);
    place.set_head(i % heads.heads());
    if (heads.primary(i) > parameters_.dormant_mass() &&
        heads.primary_value_share(i) < parameters_.dormant_value_share()) {
      *heads.add_dormant() = place;
    }
    if (heads.entropy(i) < kCollapsedEntropy) *heads.add_collapsed() = place;
    if (heads.max_weight(i) > kFocusedWeight) *heads.add_focused() = place;
  }
}

void HeadAccumulator::Report(v1::Summary& report) const {
  v1::HeadReport& heads = *report.mutable_heads();
  const ExactMeans& entropy = means_[kEntropy];
  heads.set_samples(entropy.samples());
  heads.set_left_out(left_out_);
  const auto write = [](const ExactMeans& means, google::protobuf::RepeatedField<double>& out) {
    const std::vector<double> values = means.Means();
    out.Assign(values.begin(), values.end());
  };
  heads.set_samples_with_secondary(means_[kSecondary].samples());
  if (entropy.samples() == 0) return;
  heads.set_heads(static_cast<int32_t>(entropy.size() / blocks_.size()));
  for (size_t i = 0; i < kMeans; ++i) write(means_[i], *(heads.*kFields[i].mean)());
  write(gate_, *heads.mutable_gate());
  AddShares(heads);
  AddFlags(heads);
}

absl::Status CheckHeads(const v1::SampleRecord& record) {
  if (!record.has_heads()) return absl::OkStatus();
  const v1::HeadMeans& means = record.heads();
  const RecordPart part(record, "heads");
  const int64_t blocks = AttentionBlockCount(record);
  const int64_t values =
      means.entropy().empty() ? 0 : std::max<int64_t>(means.entropy_size() / blocks, 1) * blocks;
  for (const Field& field : kFields) {
    const Floats& present = (means.*field.of_sample)();
    if (!field.may_lack || !present.empty()) {
      SINKD_RETURN_IF_ERROR(part.Size(field.name, present.size(), values, values));
    }
    SINKD_RETURN_IF_ERROR(part.Numbers(field.name, present, RecordPart::kLeastShare, field.most));
  }
  if (means.secondary_size() == means.secondary_value_size()) return absl::OkStatus();
  return part.Bad("secondary_value", absl::StrCat(means.secondary_value_size(), " values"),
                  absl::StrCat("it has ", means.secondary_size()));
}

}  // namespace sinkd
