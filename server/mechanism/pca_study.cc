#include "server/mechanism/pca_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/mechanism/rows.h"

namespace sinkd {

std::vector<StudyBase::Phase> PcaStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/false);
  controls_ = ChooseControls(targets_, detected(), draws());
  report_.set_block(pca().has_block() ? pca().block() : target_l_start_.value_or(0));
  if (targets_.empty()) return {};
  return {ForEachSample("capture", [this](int64_t sample,
                                          std::stop_token stop) { return Capture(sample, stop); }),
          {"components", 1, [this](int64_t, std::stop_token stop) { return FindDirections(stop); }},
          {"try", 2, [this](int64_t step, std::stop_token stop) {
             return step == 0 ? Try(components_, *report_.mutable_components(), stop)
                              : Try(random_, *report_.mutable_random(), stop);
           }}};
}

absl::Status PcaStudy::Capture(int64_t sample, std::stop_token stop) {
  std::vector<int64_t> positions;
  const auto add = [&](const std::vector<ChosenPosition>& chosen) {
    for (const ChosenPosition& each : chosen) {
      if (each.sample == sample) positions.push_back(each.position);
    }
  };
  add(targets_);
  const size_t targets = positions.size();
  add(controls_);
  if (positions.empty()) return absl::OkStatus();
  const DetectedSample& found = detected(sample);
  const std::vector<CaptureRequest> requests = {
      {Site::kMlpIn, report_.block(), positions},
      {Site::kMlpOut, report_.block(), {found.record.primary().position()}}};
  SINKD_ASSIGN_OR_RETURN(const std::vector<Matrix> captured,
                         model().Capture(found.sample.ids, requests, stop));
  for (size_t i = 0; i < targets; ++i) norm_.Add(Norm(captured[0].Row(int64_t(i))));
  rows_.rows += captured[0].rows;
  rows_.columns = captured[0].columns;
  rows_.values.insert(rows_.values.end(), captured[0].values.begin(), captured[0].values.end());
  if (targets > 0) AddOutput(captured[1].Row(0));
  return absl::OkStatus();
}

void PcaStudy::AddOutput(std::span<const float> mlp_out) {
  primary_output_.resize(mlp_out.size());
  ++samples_;
  const double norm = Norm(mlp_out);
  if (norm == 0) return;
  for (size_t c = 0; c < mlp_out.size(); ++c) primary_output_[c] += mlp_out[c] / norm;
}

absl::Status PcaStudy::FindDirections(std::stop_token stop) {
  if (!finding_) {
    report_.set_rows(rows_.rows);
    report_.set_mean_norm(norm_.mean());
    finding_ = std::make_unique<OnTheSide<PrincipalComponents>>([this] {
      const int64_t count = std::min<int64_t>({pca().components(), rows_.rows, rows_.columns});
      return FindComponents(rows_, count, HomeDevice(model().info().device));
    });
  }
  SINKD_RETURN_IF_ERROR(finding_->Step(stop));
  if (!finding_->done()) {
    TakeAnotherTurn();
    return absl::OkStatus();
  }
  PrincipalComponents found = finding_->Take();
  if (found.singular_values.empty()) report_.set_undefined("all rows are the same");
  for (size_t i = 0; i < found.singular_values.size(); ++i) {
    v1::PcaDirection* component = report_.add_components();
    component->set_explained_variance(found.explained[i]);
    component->set_singular_value(found.singular_values[i]);
    component->set_effective(false);
  }
  components_ = std::move(found.directions);
  random_ = {components_.rows, components_.columns};
  for (int64_t i = 0; i < random_.rows; ++i) {
    const std::vector<float> direction = draws().UnitVector(random_.columns);
    random_.values.insert(random_.values.end(), direction.begin(), direction.end());
    report_.add_random()->set_effective(false);
  }
  rows_ = {};
  return absl::OkStatus();
}

absl::Status PcaStudy::Try(const Matrix& directions,
                           google::protobuf::RepeatedPtrField<v1::PcaDirection>& results,
                           std::stop_token stop) const {
  if (directions.rows == 0) return absl::OkStatus();
  std::vector<double> scales;
  for (const double scale : pca().scales()) scales.insert(scales.end(), {scale, -scale});
  Matrix inputs{directions.rows * static_cast<int64_t>(scales.size()), directions.columns};
  for (int64_t i = 0; i < directions.rows; ++i) {
    for (const double scale : scales) {
      for (const float value : directions.Row(i)) {
        inputs.values.push_back(static_cast<float>(value * scale * report_.mean_norm()));
      }
    }
  }
  SINKD_ASSIGN_OR_RETURN(const Matrix outputs, model().RunMlpAlone(report_.block(), inputs, stop));
  int64_t row = 0;
  for (v1::PcaDirection& result : results) {
    for (const double scale : scales) {
      const v1::PcaTrial trial = MakeTrial(scale, outputs.Row(row++));
      if (std::fabs(trial.cosine()) > pca().effective_cosine()) result.set_effective(true);
      *result.add_trials() = trial;
    }
  }
  return absl::OkStatus();
}

v1::PcaTrial PcaStudy::MakeTrial(double scale, std::span<const float> output) const {
  const double norm = Norm(output);
  double product = 0;
  for (size_t c = 0; c < output.size(); ++c) product += output[c] * primary_output_[c];
  v1::PcaTrial trial;
  trial.set_scale(scale);
  trial.set_output_norm(norm);
  trial.set_cosine(norm == 0 ? 0 : product / norm / static_cast<double>(samples_));
  return trial;
}

void PcaStudy::AddFindings(const std::string& missing, v1::StudyReport& report) {
  // Without targets nothing was measured.
  if (!report_.has_block()) report_.set_block(0);
  if (!report_.has_rows()) report_.set_rows(0);
  if (!report_.has_mean_norm()) report_.set_mean_norm(0);
  if (!report_.has_undefined() && targets_.empty()) report_.set_undefined("no targets");
  if (!missing.empty()) {
    // Components that were not all tried compare with nothing.
    report_.set_undefined(missing);
    report_.clear_components();
    report_.clear_random();
  }
  *report.mutable_pca() = report_;
}

}  // namespace sinkd
