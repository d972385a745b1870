#include "server/service/analyze/codec_summary.h"

#include <optional>

#include "server/service/analyze/codec_record.h"

namespace sinkd {
namespace {

sinks::v1::RegressionForm EncodeForm(RegressionForm form) {
  switch (form) {
    case RegressionForm::kLinearLog:
      return sinks::v1::REGRESSION_FORM_LINEAR_LOG;
    case RegressionForm::kLogLinear:
      return sinks::v1::REGRESSION_FORM_LOG_LINEAR;
    case RegressionForm::kLogLog:
      return sinks::v1::REGRESSION_FORM_LOG_LOG;
    case RegressionForm::kLinear:
      return sinks::v1::REGRESSION_FORM_LINEAR;
  }
  return sinks::v1::REGRESSION_FORM_UNSPECIFIED;
}

void Encode(const Coefficient& in, sinks::v1::Coefficient* out) {
  out->set_value(in.value);
  out->set_standard_error(in.standard_error);
  out->set_t(in.t);
  out->set_p(in.p);
  out->set_lower(in.lower);
  out->set_upper(in.upper);
}

void Encode(const Fit& in, sinks::v1::Fit* out) {
  out->set_form(EncodeForm(in.form));
  out->set_n(in.n);
  out->set_left_out(in.left_out);
  if (!in.undefined.empty()) {
    out->set_undefined(in.undefined);
    return;
  }
  Encode(in.intercept, out->mutable_intercept());
  Encode(in.slope, out->mutable_slope());
  out->set_r_squared(in.r_squared);
  out->set_residual_deviation(in.residual_deviation);
  if (in.aic) out->set_aic(*in.aic);
}

void Encode(const Correlation& in, sinks::v1::Correlation* out) {
  out->set_n(in.n);
  if (!in.undefined.empty()) {
    out->set_undefined(in.undefined);
    return;
  }
  out->set_value(in.value);
  out->set_p(in.p);
}

void Encode(const RegressionResult& in, sinks::v1::RegressionResult* out) {
  for (const Fit& fit : in.fits) Encode(fit, out->add_fits());
  Encode(in.pearson, out->mutable_pearson());
  Encode(in.spearman, out->mutable_spearman());
}

void Encode(const RegressionPoint& in, sinks::v1::RegressionPoint* out) {
  out->set_x(in.x);
  out->set_y(in.y);
}

void Encode(const RegressionReport& in, sinks::v1::RegressionReport* out) {
  Encode(in.score, out->mutable_score());
  Encode(in.lifetime, out->mutable_lifetime());
  out->set_without_score(in.without_score);
  for (const RegressionPoint& point : in.score_points) Encode(point, out->add_score_points());
  for (const RegressionPoint& point : in.lifetime_points) Encode(point, out->add_lifetime_points());
}

void Encode(const ScoreStatistics& in, sinks::v1::ScoreStatistics* out) {
  out->set_kind(EncodeKind(in.kind));
  out->set_count(in.count);
  out->set_undefined(in.undefined);
  if (in.count == 0) return;
  out->set_mean(in.mean);
  out->set_deviation(in.deviation);
  out->set_minimum(in.minimum);
  out->set_maximum(in.maximum);
}

void Encode(const ScoreReport& in, sinks::v1::ScoreReport* out) {
  Encode(in.primary_position, out->mutable_primary_position());
  for (const ScoreStatistics& statistics : in.by_kind) Encode(statistics, out->add_by_kind());
}

void Encode(const SinkRateReport& in, sinks::v1::SinkRateReport* out) {
  out->set_samples(in.samples);
  out->set_left_out(in.left_out);
  out->mutable_rates()->Assign(in.rates.begin(), in.rates.end());
  out->mutable_cells()->Assign(in.cells.begin(), in.cells.end());
  out->mutable_hits()->Assign(in.hits.begin(), in.hits.end());
}

void Encode(const LevelReport& in, sinks::v1::LevelReport* out) {
  for (const LevelCount& count : in.counts) {
    sinks::v1::LevelCount* entry = out->add_counts();
    entry->set_l_start(count.level.l_start);
    entry->set_lifetime(count.level.lifetime);
    entry->set_kind(EncodeKind(count.kind));
    entry->set_count(count.count);
  }
  out->set_primary(in.primary);
  out->set_secondary(in.secondary);
  out->set_noise(in.noise);
  out->set_positions(in.positions);
  out->set_secondary_per_1000_tokens(in.secondary_per_1000_tokens);
  out->set_samples_with_secondary(in.samples_with_secondary);
  out->set_share_of_samples_with_secondary(in.share_of_samples_with_secondary);
  out->set_distinct_levels(in.distinct_levels);
  if (in.entropy) out->set_entropy(*in.entropy);
  if (in.normalized_entropy) out->set_normalized_entropy(*in.normalized_entropy);
  for (const TokenCount& token : in.top_tokens) {
    sinks::v1::TokenCount* entry = out->add_top_tokens();
    entry->set_token_id(token.token_id);
    entry->set_text(token.text);
    entry->set_count(token.count);
  }
  out->mutable_position_bins()->Assign(in.position_bins.begin(), in.position_bins.end());
}

// `add` makes the message, so that an absent interval leaves the field unset.
template <typename Add>
void EncodeInterval(const std::optional<Interval>& in, Add add) {
  if (!in) return;
  sinks::v1::Interval* out = add();
  out->set_lower(in->lower);
  out->set_upper(in->upper);
}

void Encode(const BlockCompensation& in, sinks::v1::BlockCompensation* out) {
  if (in.primary) out->set_primary(*in.primary);
  if (in.secondary) out->set_secondary(*in.secondary);
  if (in.rest) out->set_rest(*in.rest);
  out->set_primary_norm(in.primary_norm);
  EncodeInterval(in.primary_interval, [out] { return out->mutable_primary_interval(); });
  EncodeInterval(in.secondary_interval, [out] { return out->mutable_secondary_interval(); });
}

void Encode(const CompensationReport& in, sinks::v1::CompensationReport* out) {
  out->set_samples(in.samples);
  for (const BlockCompensation& block : in.blocks) Encode(block, out->add_blocks());
  out->mutable_weakest_block()->insert(in.weakest_block.begin(), in.weakest_block.end());
  out->mutable_start_minus_weakest()->insert(in.start_minus_weakest.begin(),
                                             in.start_minus_weakest.end());
  Encode(in.pearson, out->mutable_pearson());
  Encode(in.spearman, out->mutable_spearman());
  EncodeInterval(in.pearson_interval, [out] { return out->mutable_pearson_interval(); });
  EncodeInterval(in.spearman_interval, [out] { return out->mutable_spearman_interval(); });
}

void Encode(const LearnedSinkReport& in, sinks::v1::LearnedSinkReport* out) {
  out->set_samples(in.samples);
  out->mutable_mass()->Assign(in.mass.begin(), in.mass.end());
}

void Encode(const GateReport& in, sinks::v1::GateReport* out) {
  out->set_samples(in.samples);
  out->set_samples_with_secondary(in.samples_with_secondary);
  out->set_heads(static_cast<int32_t>(in.heads));
  out->mutable_all()->Assign(in.all.begin(), in.all.end());
  out->mutable_primary()->Assign(in.primary.begin(), in.primary.end());
  out->mutable_secondary()->Assign(in.secondary.begin(), in.secondary.end());
}

}  // namespace

sinks::v1::Summary EncodeSummary(const SummaryReport& report) {
  sinks::v1::Summary out;
  out.set_samples(report.samples);
  out.set_positions(report.positions);
  out.set_undecided_samples(report.undecided_samples);
  out.mutable_attention_blocks()->Assign(report.attention_blocks.begin(),
                                         report.attention_blocks.end());
  for (const std::string& note : report.notes) out.add_notes(note);
  if (report.scores) Encode(*report.scores, out.mutable_scores());
  if (report.sink_rate) Encode(*report.sink_rate, out.mutable_sink_rate());
  if (report.levels) Encode(*report.levels, out.mutable_levels());
  if (report.regression) Encode(*report.regression, out.mutable_regression());
  if (report.compensation) Encode(*report.compensation, out.mutable_compensation());
  if (report.learned_sinks) Encode(*report.learned_sinks, out.mutable_learned_sinks());
  if (report.gates) Encode(*report.gates, out.mutable_gates());
  return out;
}

}  // namespace sinkd
