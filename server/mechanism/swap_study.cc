#include "server/mechanism/swap_study.h"

#include <algorithm>
#include <utility>

#include "server/base/status.h"
#include "server/mechanism/rows.h"
#include "server/mechanism/sites.h"

namespace sinkd {
namespace {

constexpr int32_t kDefaultBlocks = 6;

std::vector<int64_t> Draw(const std::vector<int64_t>& positions, int64_t wanted, Draws& draws) {
  std::vector<int64_t> drawn = draws.ChooseFrom(positions, wanted);
  std::sort(drawn.begin(), drawn.end());
  return drawn;
}

}  // namespace

std::vector<StudyBase::Phase> SwapStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/false);
  if (targets_.empty()) return {};
  std::vector<int32_t> blocks(swap().blocks().begin(), swap().blocks().end());
  if (blocks.empty()) {
    const int32_t last = *target_l_start_;
    for (int32_t b = std::max(0, last + 1 - kDefaultBlocks); b <= last; ++b) blocks.push_back(b);
  }
  for (const int32_t block : blocks) {
    for (const int site : swap().sites()) places_.push_back({block, static_cast<v1::Site>(site)});
  }
  const auto load_head = [this](int64_t, std::stop_token stop) { return sweep_.LoadHead(stop); };
  return {{"load head", swap().loss() ? 1 : 0, load_head},
          MeasureEachSample("swap", [this](int64_t sample, std::stop_token stop) {
            return Measure(sample, stop);
          })};
}

SwapStudy::Positions SwapStudy::Choose(int64_t sample) {
  Positions positions;
  for (const ChosenPosition& target : TargetsOf(sample)) {
    positions.targets.push_back(target.position);
  }
  if (positions.targets.empty()) return positions;
  positions.controls =
      Draw(NeverSinksPastPrimary(detected(sample).record), swap().controls_per_sample(), draws());
  positions.swapped_controls =
      Draw(positions.controls, static_cast<int64_t>(positions.targets.size()), draws());
  return positions;
}

absl::StatusOr<std::vector<Variant>> SwapStudy::MakeVariants(int64_t sample,
                                                             const Positions& positions,
                                                             std::stop_token stop) {
  std::vector<CaptureRequest> requests;
  int64_t blocks = 0;
  for (const Place& place : places_) {
    requests.push_back({DecodeSite(place.site), place.block, positions.controls});
    blocks = std::max<int64_t>(blocks, place.block + 1);
  }
  const TokenIds& ids = detected(sample).sample.ids;
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured, model().Capture(ids, requests, stop));
  sweep_.AddRows(blocks * static_cast<int64_t>(ids.size()));
  std::vector<Variant> variants;
  for (size_t i = 0; i < places_.size(); ++i) {
    Edit edit{.block = places_[i].block,
              .site = DecodeSite(places_[i].site),
              .positions = positions.targets,
              .action = EditAction::kReplace,
              .vector = MeanRow(captured[i])};
    variants.push_back({edit});
    edit.positions = positions.swapped_controls;
    variants.push_back({std::move(edit)});
  }
  return variants;
}

absl::Status SwapStudy::Measure(int64_t sample, std::stop_token stop) {
  const Positions positions = Choose(sample);
  if (positions.targets.empty() || positions.controls.empty()) {
    ++left_out_;
    return absl::OkStatus();
  }
  const DetectedSample& found = detected(sample);
  SINKD_ASSIGN_OR_RETURN(const std::vector<Variant> variants,
                         MakeVariants(sample, positions, stop));
  const InterventionRequest request{
      .trace = {.last_state = LastStateOf(detection()), .attention = false},
      .end_block = found.record.window_end(),
      .head = sweep_.head()};
  // A sample counts only when all its variants ran.
  std::vector<Place> places = places_;
  std::optional<SinkMap> before;  // of the unmodified pass
  SINKD_RETURN_IF_ERROR(
      sweep_.Run(found.sample.ids, variants, request, stop,
                 [&](int64_t variant, const PassOutcome& base, const PassOutcome& outcome) {
                   if (!before) before.emplace(detection(), found.record, base.trace);
                   Judge(found.record, positions, variant % 2 == 1, base, *before, outcome,
                         places[static_cast<size_t>(variant / 2)]);
                 }));
  places_ = std::move(places);
  controls_drawn_ += static_cast<int64_t>(positions.controls.size());
  return absl::OkStatus();
}

void SwapStudy::Judge(const v1::SampleRecord& record, const Positions& positions, bool control_swap,
                      const PassOutcome& base, const SinkMap& before, const PassOutcome& outcome,
                      Place& place) const {
  const SinkMap after(detection(), record, outcome.trace);
  const JudgedPass unchanged{base.trace, before}, changed{outcome.trace, after};
  for (const v1::Sink& sink : record.sinks()) {
    const bool target = std::binary_search(positions.targets.begin(), positions.targets.end(),
                                           int64_t{sink.position()});
    if (control_swap && !target) continue;
    OutcomeTally& tally = control_swap ? place.control_swap
                          : target     ? place.targets
                                       : place.untouched;
    tally.Add(sink, record.primary().position(), unchanged, changed);
  }
  if (!base.loss || !outcome.loss) return;
  (control_swap ? place.control_loss : place.loss).Add(*outcome.loss - *base.loss);
}

void SwapStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  v1::SwapReport& found = *report.mutable_swap();
  *found.mutable_cost() = sweep_.cost();
  found.set_samples_left_out(left_out_);
  if (places_.empty()) return found.set_undefined(missing.empty() ? "no targets" : missing);
  const std::string none = missing.empty() ? "no targets with controls beside them" : missing;
  const std::string no_others = missing.empty() ? "no other sinks" : missing;
  for (const Place& place : places_) {
    v1::SwapRow& row = *found.add_rows();
    row.set_block(place.block);
    row.set_site(place.site);
    *row.mutable_targets() = place.targets.Result(none);
    *row.mutable_untouched() = place.untouched.Result(no_others);
    *row.mutable_control_swap() = place.control_swap.Result(none);
    if (!swap().loss()) continue;
    *row.mutable_loss_change() = place.loss.Result(none);
    *row.mutable_control_loss_change() = place.control_loss.Result(none);
  }
}

}  // namespace sinkd
