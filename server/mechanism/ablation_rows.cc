#include "server/mechanism/ablation_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace sinkd {
namespace {

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

bool Names(const std::vector<AblatedPosition>& positions, int64_t wanted) {
  const auto found =
      std::lower_bound(positions.begin(), positions.end(), wanted,
                       [](const AblatedPosition& each, int64_t t) { return each.position < t; });
  return found != positions.end() && found->position == wanted;
}

EditAction ActionOf(v1::Ablation ablation) {
  if (ablation == v1::ABLATION_HIDE_KEYS) return EditAction::kHideKeys;
  if (ablation == v1::ABLATION_ZERO_VALUES) return EditAction::kZeroValues;
  return EditAction::kRemove;
}

}  // namespace

Variant AblatePositions(v1::Ablation ablation, const std::vector<AblatedPosition>& positions,
                        const std::vector<float>& direction, const DecoderSpec& spec) {
  const EditAction action = ActionOf(ablation);
  const bool states = action == EditAction::kRemove;
  Variant variant;
  for (int64_t reader = 1; reader < spec.blocks; ++reader) {
    if (!states && !spec.Attends(reader)) continue;
    // What it reads is what the block before it wrote.
    Edit edit{.block = states ? reader - 1 : reader,
              .site = Site::kResidPost,
              .positions = {},
              .action = action,
              .vector = {}};
    for (const AblatedPosition& each : positions) {
      if (each.first_layer < reader) edit.positions.push_back(each.position);
    }
    if (edit.positions.empty()) continue;
    if (states) edit.vector = direction;
    variant.push_back(std::move(edit));
  }
  return variant;
}

void AblationRow::Add(const AblatedSample& sample, const SampleAblation& ablation,
                      const PassOutcome& outcome, const SinkMap& sinks) {
  AddPredictions(sample, ablation, outcome.predictions);
  AddSinks(sample, ablation, sinks);
}

void AblationRow::Merge(const AblationRow& other) {
  loss_.Merge(other.loss_);
  divergence_.Merge(other.divergence_);
  choices_.Merge(other.choices_);
  suppressed_.Merge(other.suppressed_);
  vanished_.Merge(other.vanished_);
  appeared_.Merge(other.appeared_);
  for (const auto& [digits, loss] : other.curve_) curve_[digits].Merge(loss);
  const auto room = static_cast<size_t>(kMostChanged) - changed_.size();
  const auto last = static_cast<std::ptrdiff_t>(std::min(room, other.changed_.size()));
  changed_.insert(changed_.end(), other.changed_.begin(), other.changed_.begin() + last);
}

void AblationRow::AddPredictions(const AblatedSample& sample, const SampleAblation& ablation,
                                 const Predictions& predicted) {
  const Predictions& base = sample.base.predictions;
  const size_t count = base.losses.size();
  if (count == 0) return;
  double changed = 0;
  std::map<int, std::pair<double, double>> by_distance;  // sum and count
  for (size_t t = 0; t < count; ++t) {
    changed += predicted.choices[t] != base.choices[t] ? 1 : 0;
    const int64_t distance = static_cast<int64_t>(t) - ablation.origin;
    if (distance < 0) continue;
    auto& [sum, values] =
        by_distance[static_cast<int>(std::bit_width(static_cast<uint64_t>(distance)))];
    sum += predicted.losses[t] - base.losses[t];
    values += 1;
  }
  const auto n = static_cast<double>(count);
  loss_.Add((Sum(predicted.losses) - Sum(base.losses)) / n, 1);
  divergence_.Add(Sum(predicted.divergence) / n, 1);
  choices_.Add(changed / n, 1);
  for (const auto& [digits, sum] : by_distance) curve_[digits].Add(sum.first, sum.second);
}

void AblationRow::AddSinks(const AblatedSample& sample, const SampleAblation& ablation,
                           const SinkMap& sinks) {
  double own = 0, suppressed = 0, others = 0, vanished = 0, appeared = 0;
  for (const v1::Sink& sink : sample.record.sinks()) {
    if (ablation.own_sinks && Names(ablation.positions, sink.position())) {
      own += 1;
      suppressed += sinks.ShowsAt(sink.position(), sink.l_start()) ? 0 : 1;
      continue;
    }
    others += 1;
    if (sinks.Find(sink.position()) != nullptr) continue;
    vanished += 1;
    AddChanged(sample, sink, false);
  }
  for (int64_t t = sample.record.primary().position() + 1; t < sample.record.positions(); ++t) {
    const v1::Sink* sink = sinks.Find(t);
    if (sink == nullptr || sample.sinks.Find(t) != nullptr) continue;
    appeared += 1;
    AddChanged(sample, *sink, true);
  }
  suppressed_.Add(suppressed, own);
  vanished_.Add(vanished, others);
  appeared_.Add(appeared, 1);
}

void AblationRow::AddChanged(const AblatedSample& sample, const v1::Sink& sink, bool appeared) {
  if (std::ssize(changed_) >= kMostChanged) return;
  v1::ChangedSink& changed = changed_.emplace_back();
  changed.set_sample_index(sample.index);
  changed.set_position(sink.position());
  changed.set_token_id(sample.ids[Trace::At(sink.position())]);
  changed.set_l_start(sink.l_start());
  changed.set_lifetime(sink.lifetime());
  changed.set_appeared(appeared);
}

v1::AblateRow AblationRow::Result(std::string_view reason) const {
  const auto why = [&](std::string_view none) { return reason.empty() ? none : reason; };
  v1::AblateRow row;
  row.set_ablation(place_.ablation);
  row.set_group(place_.group);
  row.set_role(place_.role);
  if (place_.level) {
    row.set_l_start(place_.level->l_start);
    row.set_lifetime(place_.level->lifetime);
  }
  if (place_.group == v1::ABLATED_GROUP_HEAD) {
    row.set_block(place_.block);
    row.set_head(place_.head);
  }
  *row.mutable_loss_change() = loss_.Result(why("no sample has such positions"));
  *row.mutable_divergence() = divergence_.Result(why("no sample has such positions"));
  *row.mutable_choices_changed() = choices_.Result(why("no sample has such positions"));
  const bool targets =
      place_.group == v1::ABLATED_GROUP_TARGETS || place_.group == v1::ABLATED_GROUP_LEVEL;
  if (targets && place_.role == v1::ABLATION_ROLE_SELF) {
    *row.mutable_suppressed() = suppressed_.Result(why("no targets"));
  }
  *row.mutable_vanished() = vanished_.Result(why("no other sinks"));
  *row.mutable_appeared() = appeared_.Result(why("no sample has such positions"));
  for (const auto& [digits, loss] : curve_) {
    v1::AblatedLoss& point = *row.add_curve();
    point.set_first_distance(digits == 0 ? 0 : 1 << (digits - 1));
    point.set_last_distance(digits == 0 ? 0 : (1 << (digits - 1)) * 2 - 1);
    *point.mutable_loss_change() = loss.Result("");
  }
  for (const v1::ChangedSink& changed : changed_) *row.add_changed_sinks() = changed;
  return row;
}

}  // namespace sinkd
