#include "server/mechanism/steer_study.h"

#include <algorithm>
#include <set>
#include <utility>

#include "server/analysis/sink_scores.h"
#include "server/base/status.h"
#include "server/mechanism/rows.h"

namespace sinkd {
namespace {

constexpr double kTauMultiples[] = {0, 0.25, 0.5, 0.75, 1, 1.5, 2};

bool Contains(const std::vector<int64_t>& ascending, int64_t value) {
  return std::binary_search(ascending.begin(), ascending.end(), value);
}

}  // namespace

std::vector<StudyBase::Phase> SteerStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/false);
  if (!steer().has_block() && !target_l_start_) {
    undefined_ = "no targets, and no block named";
    return {};
  }
  block_ = steer().has_block() ? steer().block() : target_l_start_.value_or(0);
  const auto load_head = [this](int64_t, std::stop_token stop) { return sweep_.LoadHead(stop); };
  return {ForEachSample(
              "capture",
              [this](int64_t sample, std::stop_token stop) { return FindPositions(sample, stop); }),
          {"choose norms", 1, [this](int64_t, std::stop_token) { return ChooseTaus(); }},
          {"load head", steer().loss() ? 1 : 0, load_head},
          MeasureEachSample("steer", [this](int64_t sample, std::stop_token stop) {
            return Measure(sample, stop);
          })};
}

absl::Status SteerStudy::FindPositions(int64_t sample, std::stop_token stop) {
  const DetectedSample& found = detected(sample);
  CaptureRequest request{.site = Site::kMlpOut, .block = block_};
  for (int64_t t = found.record.primary().position(); t < found.record.positions(); ++t) {
    request.positions.push_back(t);
  }
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured,
                         model().Capture(found.sample.ids, {&request, 1}, stop));
  std::vector<int64_t> steered;
  for (int64_t i = 1; i < captured[0].rows; ++i) {
    const std::span<const float> row = captured[0].Row(i);
    if (Cosine(row, captured[0].Row(0)) <= steer().cosine_threshold()) continue;
    steered.push_back(request.positions[static_cast<size_t>(i)]);
    norm_.Add(Norm(row));
  }
  positions_.push_back(std::move(steered));
  sweep_.AddRows((block_ + 1) * found.record.positions());
  return absl::OkStatus();
}

absl::Status SteerStudy::ChooseTaus() {
  if (norm_.count() == 0) {
    undefined_ = "nowhere does the MLP write along the primary sink's direction";
    return absl::OkStatus();
  }
  std::set<double> taus(steer().taus().begin(), steer().taus().end());
  if (taus.empty()) {
    for (const double multiple : kTauMultiples) taus.insert(multiple * norm_.mean());
  }
  rows_.push_back({});
  for (const double tau : taus) rows_.push_back({.tau = tau});
  return absl::OkStatus();
}

std::vector<Variant> SteerStudy::MakeVariants(const std::vector<int64_t>& positions) {
  const std::vector<float> random = draws().UnitVector(model().info().spec.hidden);
  const EditAction action =
      steer().mode() == v1::STEER_MODE_CLIP ? EditAction::kClipNorm : EditAction::kSetNorm;
  std::vector<Variant> variants;
  for (size_t r = 1; r < rows_.size(); ++r) {
    const double tau = *rows_[r].tau;
    Edit edit{.block = block_, .site = Site::kMlpOut, .positions = positions};
    edit.action = action;
    edit.amount = tau;
    variants.push_back({edit});
    edit.action = EditAction::kReplace;
    for (const float value : random) edit.vector.push_back(static_cast<float>(value * tau));
    variants.push_back({std::move(edit)});
  }
  return variants;
}

absl::Status SteerStudy::Measure(int64_t sample, std::stop_token stop) {
  const std::vector<int64_t>& positions = positions_[static_cast<size_t>(sample)];
  if (rows_.empty() || positions.empty()) return absl::OkStatus();
  const DetectedSample& found = detected(sample);
  const std::vector<Variant> variants = MakeVariants(positions);
  // A sink at the window's last layer is read, and so scored, by the block after it.
  const InterventionRequest request{
      .trace = {.last_state = LastStateOf(detection()), .attention = true},
      .end_block = std::min<int64_t>(found.record.window_end() + 1, found.record.layers()),
      .head = sweep_.head()};
  // A sample counts only when all its variants ran.
  std::vector<Row> rows = rows_;
  std::optional<SinkMap> before;  // of the unmodified pass
  SINKD_RETURN_IF_ERROR(
      sweep_.Run(found.sample.ids, variants, request, stop,
                 [&](int64_t variant, const PassOutcome& base, const PassOutcome& outcome) {
                   if (!before) before.emplace(detection(), found.record, base.trace);
                   if (variant == 0) Judge(sample, Pass::kUnsteered, base, *before, base, rows[0]);
                   Judge(sample, variant % 2 == 0 ? Pass::kSteered : Pass::kRandom, base, *before,
                         outcome, rows[static_cast<size_t>(1 + variant / 2)]);
                 }));
  rows_ = std::move(rows);
  return absl::OkStatus();
}

void SteerStudy::Judge(int64_t sample, Pass pass, const PassOutcome& base, const SinkMap& before,
                       const PassOutcome& outcome, Row& row) const {
  const v1::SampleRecord& record = detected(sample).record;
  const std::vector<int64_t>& steered = positions_[static_cast<size_t>(sample)];
  const SinkMap after(detection(), record, outcome.trace);
  for (const int64_t position : steered) {
    const int32_t lifetime = after.LifetimeOf(position);
    (pass == Pass::kRandom ? row.random_lifetime : row.lifetime).Add(lifetime);
    if (pass == Pass::kRandom) continue;
    row.mlp_norm.Add(outcome.trace.MlpNorm(block_, position));
    row.sinks.Add(lifetime > 0);
    const v1::Sink* found = after.Find(position);
    if (found == nullptr) continue;
    v1::Sink sink = *found;
    ScoreSink(v1::ScoreParameters(), outcome.trace, sink);
    if (sink.has_score()) row.score.Add(sink.score());
  }
  if (pass != Pass::kSteered) return;
  for (const v1::Sink& sink : record.sinks()) {
    if (Contains(steered, sink.position())) continue;
    row.untouched.Add(after.LifetimeOf(sink.position()) - before.LifetimeOf(sink.position()));
  }
  if (base.loss && outcome.loss) row.loss.Add(*outcome.loss - *base.loss);
}

void SteerStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  v1::SteerReport& found = *report.mutable_steer();
  int64_t positions = 0;
  for (int64_t s = 0; s < std::min<int64_t>(covered(), std::ssize(positions_)); ++s) {
    positions += std::ssize(positions_[static_cast<size_t>(s)]);
  }
  found.set_block(block_);
  found.set_steered(positions);
  *found.mutable_cost() = sweep_.cost();
  const std::string& undefined = rows_.empty() && undefined_.empty() ? missing : undefined_;
  if (!undefined.empty()) found.set_undefined(undefined);
  const auto reason = [&](std::string_view why) { return missing.empty() ? why : missing; };
  for (const Row& row : rows_) *found.add_rows() = MakeRow(row, reason);
}

v1::SteerRow SteerStudy::MakeRow(
    const Row& row, const std::function<std::string_view(std::string_view)>& reason) const {
  const std::string_view no_positions = reason("no steered positions");
  v1::SteerRow result;
  if (row.tau) result.set_tau(*row.tau);
  *result.mutable_mlp_norm() = row.mlp_norm.Result(no_positions);
  *result.mutable_lifetime() = row.lifetime.Result(no_positions);
  *result.mutable_sinks() = row.sinks.Result(no_positions);
  *result.mutable_score() = row.score.Result(reason("no sinks with a score"));
  const bool steered = row.tau.has_value();
  const std::string_view none = "not steered";
  *result.mutable_untouched_lifetime_change() =
      row.untouched.Result(steered ? reason("no other sinks") : none);
  *result.mutable_random_lifetime() = row.random_lifetime.Result(steered ? no_positions : none);
  if (steer().loss()) {
    *result.mutable_loss_change() =
        row.loss.Result(steered ? reason("no sample of two tokens") : none);
  }
  return result;
}

}  // namespace sinkd
