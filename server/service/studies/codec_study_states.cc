// What studies found of interventions and of states as they are: swaps, steering, entropy, norms,
// massive activations.
#include "server/service/studies/codec_site.h"
#include "server/service/studies/codec_study_report.h"

namespace sinkd {
namespace {

namespace v1 = ::sinks::v1;

void Encode(const SinkOutcome& in, v1::SinkOutcome* out) {
  *out->mutable_suppressed() = EncodeEstimate(in.suppressed);
  *out->mutable_cosine_change() = EncodeEstimate(in.cosine_change);
  *out->mutable_norm_change() = EncodeEstimate(in.norm_change);
  *out->mutable_lifetime_change() = EncodeEstimate(in.lifetime_change);
}

void Encode(const StudyCost& in, v1::StudyCost* out) {
  out->set_block_rows(in.block_rows);
  out->set_naive_block_rows(in.naive_block_rows);
}

void Encode(const SwapRow& in, v1::SwapRow* out) {
  out->set_block(in.block);
  out->set_site(EncodeSite(in.site));
  Encode(in.targets, out->mutable_targets());
  Encode(in.untouched, out->mutable_untouched());
  Encode(in.control_swap, out->mutable_control_swap());
  if (in.loss_change) *out->mutable_loss_change() = EncodeEstimate(*in.loss_change);
  if (in.control_loss_change) {
    *out->mutable_control_loss_change() = EncodeEstimate(*in.control_loss_change);
  }
}

void Encode(const SteerRow& in, v1::SteerRow* out) {
  if (in.tau) out->set_tau(*in.tau);
  *out->mutable_mlp_norm() = EncodeEstimate(in.mlp_norm);
  *out->mutable_lifetime() = EncodeEstimate(in.lifetime);
  *out->mutable_sinks() = EncodeEstimate(in.sinks);
  *out->mutable_score() = EncodeEstimate(in.score);
  *out->mutable_untouched_lifetime_change() = EncodeEstimate(in.untouched_lifetime_change);
  *out->mutable_random_lifetime() = EncodeEstimate(in.random_lifetime);
  if (in.loss_change) *out->mutable_loss_change() = EncodeEstimate(*in.loss_change);
}

void Encode(const GroupNorms& in, v1::GroupNorms* out) {
  *out->mutable_key() = EncodeEstimate(in.key);
  *out->mutable_value() = EncodeEstimate(in.value);
  *out->mutable_state() = EncodeEstimate(in.state);
  if (in.key_median) out->set_key_median(*in.key_median);
  if (in.value_median) out->set_value_median(*in.value_median);
  if (in.state_median) out->set_state_median(*in.state_median);
}

void Encode(const MassiveEntry& in, v1::MassiveEntry* out) {
  out->set_sample_index(in.sample_index);
  out->set_position(in.position);
  out->set_token_id(in.token_id);
  out->set_token_text(in.token_text);
  out->set_channel(in.channel);
  out->set_value(in.value);
}

}  // namespace

void EncodeFindings(const SwapReport& in, v1::StudyReport* report) {
  v1::SwapReport* out = report->mutable_swap();
  for (const SwapRow& row : in.rows) Encode(row, out->add_rows());
  Encode(in.cost, out->mutable_cost());
  out->set_samples_left_out(in.samples_left_out);
  if (!in.undefined.empty()) out->set_undefined(in.undefined);
}

void EncodeFindings(const SteerReport& in, v1::StudyReport* report) {
  v1::SteerReport* out = report->mutable_steer();
  out->set_block(in.block);
  out->set_steered(in.steered);
  for (const SteerRow& row : in.rows) Encode(row, out->add_rows());
  Encode(in.cost, out->mutable_cost());
  if (!in.undefined.empty()) out->set_undefined(in.undefined);
}

void EncodeFindings(const EntropyReport& in, v1::StudyReport* report) {
  v1::EntropyReport* out = report->mutable_entropy();
  for (const EntropyRow& row : in.rows) {
    v1::EntropyRow* each = out->add_rows();
    each->set_block(row.block);
    *each->mutable_entropy() = EncodeEstimate(row.entropy);
    *each->mutable_normalized() = EncodeEstimate(row.normalized);
    *each->mutable_without_sinks() = EncodeEstimate(row.without_sinks);
  }
}

void EncodeFindings(const NormsReport& in, v1::StudyReport* report) {
  v1::NormsReport* out = report->mutable_norms();
  for (const NormsRow& row : in.rows) {
    v1::NormsRow* each = out->add_rows();
    each->set_block(row.block);
    Encode(row.primary, each->mutable_primary());
    Encode(row.secondary, each->mutable_secondary());
    Encode(row.rest, each->mutable_rest());
  }
}

void EncodeFindings(const MassiveReport& in, v1::StudyReport* report) {
  v1::MassiveReport* out = report->mutable_massive();
  for (const MassiveRow& row : in.rows) {
    v1::MassiveRow* each = out->add_rows();
    each->set_block(row.block);
    if (row.sample_index) each->set_sample_index(*row.sample_index);
    for (const MassiveEntry& entry : row.entries) Encode(entry, each->add_entries());
    each->set_median(row.median);
    each->set_largest_of_rest(row.largest_of_rest);
  }
}

}  // namespace sinkd
