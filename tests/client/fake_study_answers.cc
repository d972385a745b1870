#include "tests/client/fake_study_answers.h"

#include "tests/client/fake_answers.h"

namespace sinkd::testing {
namespace {

namespace v1 = ::sinks::v1;

v1::Estimate Value(double value, int64_t n = 12) {
  v1::Estimate out;
  out.set_value(value);
  out.set_lower(value - 0.0625);
  out.set_upper(value + 0.0625);
  out.set_n(n);
  return out;
}

v1::Estimate Undefined(const char* why) {
  v1::Estimate out;
  out.set_n(0);
  out.set_undefined(why);
  return out;
}

void Fill(v1::AlignReport& report) {
  for (const v1::Site site : {v1::SITE_MLP_IN, v1::SITE_MLP_OUT}) {
    report.add_sites(site);
    for (const auto group : {v1::POSITION_GROUP_TARGET, v1::POSITION_GROUP_CONTROL}) {
      v1::AlignRow& row = *report.add_rows();
      row.set_site(site);
      row.set_group(group);
      if (group == v1::POSITION_GROUP_CONTROL && site == v1::SITE_MLP_OUT) {
        row.set_l_start(4);
        *row.mutable_cosine() = Undefined("fewer controls than 2 \x1b[31m");
        continue;
      }
      *row.mutable_cosine() = Value(site == v1::SITE_MLP_OUT ? 0.9875 : -0.125);
      row.set_minimum(-0.25);
      row.set_median(0.5);
      row.set_maximum(0.75);
    }
  }
}

void FillDirection(v1::PcaDirection& direction, double cosine) {
  direction.set_effective(cosine > 0.98);
  for (const double scale : {-1.0, 1.0}) {
    v1::PcaTrial& trial = *direction.add_trials();
    trial.set_scale(scale);
    trial.set_output_norm(1234.5);
    trial.set_cosine(scale * cosine);
  }
}

void Fill(v1::PcaReport& report) {
  report.set_block(4);
  report.set_rows(24);
  report.set_mean_norm(7.5);
  for (const double cosine : {0.995, 0.25}) {
    v1::PcaDirection& component = *report.add_components();
    component.set_explained_variance(cosine / 2);
    component.set_singular_value(40 * cosine);
    FillDirection(component, cosine);
  }
  FillDirection(*report.add_random(), 0.03125);
}

void Fill(v1::ClusterReport& report) {
  for (int block = 2; block <= 4; ++block) {
    v1::ClusterRow& row = *report.add_rows();
    row.set_block(block);
    row.set_site(v1::SITE_ATTN_OUT);
    if (block == 2) {
      row.set_undefined("all rows are equal");
      continue;
    }
    row.set_adjusted_rand(0.875);
    row.set_silhouette(0.5);
    row.set_auc(0.9375);
  }
  v1::DecisionLayer& layer = *report.add_decision_layers();
  layer.set_site(v1::SITE_ATTN_OUT);
  layer.set_block(3);
  report.add_decision_layers()->set_site(v1::SITE_MLP_OUT);
  report.set_decision_layer(3);
  report.set_decision_site(v1::SITE_ATTN_OUT);
  v1::TsneMap& map = *report.add_maps();
  map.set_block(3);
  map.set_site(v1::SITE_ATTN_OUT);
  map.set_perplexity(8);
  map.set_divergence(0.25);
  for (const float value : {1.5F, -2.5F}) map.add_coordinates(value);
}

void FillOutcome(v1::SinkOutcome& outcome, double share) {
  *outcome.mutable_suppressed() = Value(share);
  *outcome.mutable_cosine_change() = Value(-share);
  *outcome.mutable_norm_change() = Value(-1000 * share);
  *outcome.mutable_lifetime_change() = Value(-5 * share);
}

void Fill(v1::SwapReport& report, bool loss) {
  for (int block = 3; block <= 4; ++block) {
    v1::SwapRow& row = *report.add_rows();
    row.set_block(block);
    row.set_site(v1::SITE_RESID_POST);
    FillOutcome(*row.mutable_targets(), 0.96875);
    FillOutcome(*row.mutable_control_swap(), 0.03125);
    v1::SinkOutcome& untouched = *row.mutable_untouched();
    for (v1::Estimate* each :
         {untouched.mutable_suppressed(), untouched.mutable_cosine_change(),
          untouched.mutable_norm_change(), untouched.mutable_lifetime_change()}) {
      *each = Undefined("no other sinks");
    }
    if (!loss) continue;
    *row.mutable_loss_change() = Value(0.125);
    *row.mutable_control_loss_change() = Value(0.0625);
  }
  report.mutable_cost()->set_block_rows(1000);
  report.mutable_cost()->set_naive_block_rows(4000);
  report.set_samples_left_out(1);
}

void Fill(v1::SteerReport& report, bool loss) {
  report.set_block(4);
  report.set_steered(12);
  for (int i = 0; i < 3; ++i) {
    v1::SteerRow& row = *report.add_rows();
    if (i > 0) row.set_tau(1000 * i);
    *row.mutable_mlp_norm() = Value(1000 * i);
    *row.mutable_lifetime() = Value(2.5 * i);
    *row.mutable_sinks() = Value(0.5 * i);
    *row.mutable_score() = i == 0 ? Undefined("none of them is a sink") : Value(0.25);
    *row.mutable_untouched_lifetime_change() = Value(0);
    *row.mutable_random_lifetime() = i == 0 ? Undefined("not steered") : Value(0.125);
    if (loss) *row.mutable_loss_change() = Value(0.03125);
  }
  report.mutable_cost()->set_block_rows(10);
  report.mutable_cost()->set_naive_block_rows(20);
}

void Fill(v1::EntropyReport& report) {
  for (int block = 0; block < kFakeBlocks; ++block) {
    v1::EntropyRow& row = *report.add_rows();
    row.set_block(block);
    *row.mutable_entropy() = Value(1.5 + block);
    *row.mutable_normalized() = Value(0.0625 * block);
    *row.mutable_without_sinks() = block == 0 ? Undefined("all rows are zero") : Value(2.5 + block);
  }
}

void FillNorms(v1::GroupNorms& norms, double size) {
  *norms.mutable_key() = Value(size);
  *norms.mutable_value() = Value(size / 4);
  *norms.mutable_state() = Value(100 * size);
  norms.set_key_median(size);
  norms.set_value_median(size / 4);
  norms.set_state_median(100 * size);
}

void Fill(v1::NormsReport& report) {
  for (int block = 0; block < kFakeBlocks; ++block) {
    v1::NormsRow& row = *report.add_rows();
    row.set_block(block);
    FillNorms(*row.mutable_primary(), 2);
    FillNorms(*row.mutable_secondary(), 3);
    FillNorms(*row.mutable_rest(), 8);
  }
}

void Fill(v1::MassiveReport& report, bool per_sample) {
  for (int i = 0; i < (per_sample ? 2 : 1); ++i) {
    for (int block = 0; block < kFakeBlocks; ++block) {
      v1::MassiveRow& row = *report.add_rows();
      row.set_block(block);
      if (i > 0) row.set_sample_index(0);
      for (const double value : {-25000.5, 12.5}) {
        v1::MassiveEntry& entry = *row.add_entries();
        entry.set_sample_index(1);
        entry.set_position(0);
        entry.set_token_id(7);
        entry.set_token_text("\x1b[31m漢\n");
        entry.set_channel(447);
        entry.set_value(value);
      }
      row.set_median(0.5);
      row.set_largest_of_rest(40.25);
    }
  }
}

void FillRow(v1::AblateRow& row, double change) {
  *row.mutable_loss_change() = Value(change);
  *row.mutable_divergence() = Value(change / 2);
  *row.mutable_choices_changed() = Value(0.25);
  *row.mutable_vanished() = Undefined("no other sinks");
  *row.mutable_appeared() = Value(0.5);
  v1::AblatedLoss& point = *row.add_curve();
  point.set_first_distance(2);
  point.set_last_distance(3);
  *point.mutable_loss_change() = Value(2 * change);
}

void Fill(v1::AblateReport& report) {
  *report.mutable_loss() = Value(3.25);
  for (int role = v1::ABLATION_ROLE_SELF; role <= v1::ABLATION_ROLE_ATTENDED_CONTROL; ++role) {
    v1::AblateRow& row = *report.add_rows();
    row.set_ablation(v1::ABLATION_HIDE_KEYS);
    row.set_group(v1::ABLATED_GROUP_LEVEL);
    row.set_role(static_cast<v1::AblationRole>(role));
    row.set_l_start(12);
    row.set_lifetime(5);
    FillRow(row, role == v1::ABLATION_ROLE_SELF ? 1.5 : 0.125);
    if (role == v1::ABLATION_ROLE_SELF) *row.mutable_suppressed() = Value(0.75);
  }
  v1::AblateRow& head = *report.add_rows();
  head.set_ablation(v1::ABLATION_ZERO_HEAD);
  head.set_group(v1::ABLATED_GROUP_HEAD);
  head.set_role(v1::ABLATION_ROLE_DRAWN_CONTROL);
  head.set_block(3);
  head.set_head(2);
  FillRow(head, 0.0625);
  report.mutable_cost()->set_block_rows(10);
  report.mutable_cost()->set_naive_block_rows(20);
}

void FillStudy(const v1::RunStudyRequest& request, v1::StudyReport& report) {
  switch (request.study_case()) {
    case v1::RunStudyRequest::kAlign:
      return Fill(*report.mutable_align());
    case v1::RunStudyRequest::kPca:
      return Fill(*report.mutable_pca());
    case v1::RunStudyRequest::kCluster:
      return Fill(*report.mutable_cluster());
    case v1::RunStudyRequest::kSwap:
      return Fill(*report.mutable_swap(), request.swap().loss());
    case v1::RunStudyRequest::kSteer:
      return Fill(*report.mutable_steer(), !request.steer().has_loss());
    case v1::RunStudyRequest::kEntropy:
      return Fill(*report.mutable_entropy());
    case v1::RunStudyRequest::kNorms:
      return Fill(*report.mutable_norms());
    case v1::RunStudyRequest::kMassive:
      return Fill(*report.mutable_massive(), request.massive().per_sample());
    case v1::RunStudyRequest::kAblate:
      return Fill(*report.mutable_ablate());
    case v1::RunStudyRequest::STUDY_NOT_SET:
      return;
  }
}

}  // namespace

v1::StudyStarted MakeStudyStarted(const v1::RunStudyRequest& request) {
  v1::StudyStarted out;
  *out.mutable_request() = request;
  out.mutable_request()->clear_samples();
  out.mutable_request()->mutable_detection()->set_cosine_threshold(0.9);
  out.set_blocks(kFakeBlocks);
  out.set_compute_type("float32");
  out.set_device("cpu");
  return out;
}

v1::StudyReport MakeStudyReport(const v1::RunStudyRequest& request) {
  v1::StudyReport report;
  report.set_partial(false);
  report.set_samples(2);
  report.set_tokens(1234);
  report.set_sinks(45);
  report.set_targets(12);
  report.set_controls(12);
  report.set_target_l_start(4);
  report.set_seconds(1.5);
  FillStudy(request, report);
  return report;
}

}  // namespace sinkd::testing
