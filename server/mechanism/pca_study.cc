#include "server/mechanism/pca_study.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "server/base/status.h"
#include "server/engine/placement.h"
#include "server/mechanism/rows.h"

namespace sinkd {

PcaStudy::PcaStudy(const StudyParameters& parameters, const PcaParameters& pca,
                   const StudyModel& model, std::vector<StudySample> samples)
    : StudyBase(parameters, model, std::move(samples)), pca_(pca) {}

std::vector<StudyBase::Phase> PcaStudy::Plan() {
  ChooseTargetsOf(/*any_start=*/false);
  controls_ = ChooseControls(targets_, detected(), draws());
  report_.block = pca_.block.value_or(target_l_start_.value_or(0));
  if (targets_.empty()) return {};
  return {ForEachSample("capture", [this](int64_t sample,
                                          std::stop_token stop) { return Capture(sample, stop); }),
          {"components", 1, [this](int64_t, std::stop_token) { return FindDirections(); }},
          {"try", 2, [this](int64_t step, std::stop_token stop) {
             return step == 0 ? Try(components_, report_.components, stop)
                              : Try(random_, report_.random, stop);
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
      {Site::kMlpIn, report_.block, positions},
      {Site::kMlpOut, report_.block, {found.record.primary.position}}};
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

absl::Status PcaStudy::FindDirections() {
  report_.rows = rows_.rows;
  report_.mean_norm = norm_.mean();
  const int64_t count = std::min({pca_.components, rows_.rows, rows_.columns});
  SINKD_ASSIGN_OR_RETURN(PrincipalComponents found,
                         FindComponents(rows_, count, HomeDevice(model().info().device)));
  if (found.singular_values.empty()) report_.undefined = "all rows are the same";
  for (size_t i = 0; i < found.singular_values.size(); ++i) {
    report_.components.push_back({found.explained[i], found.singular_values[i]});
  }
  components_ = std::move(found.directions);
  random_ = {components_.rows, components_.columns};
  for (int64_t i = 0; i < random_.rows; ++i) {
    const std::vector<float> direction = draws().UnitVector(random_.columns);
    random_.values.insert(random_.values.end(), direction.begin(), direction.end());
  }
  report_.random.resize(static_cast<size_t>(random_.rows));
  rows_ = {};
  return absl::OkStatus();
}

absl::Status PcaStudy::Try(const Matrix& directions, std::vector<PcaDirection>& results,
                           std::stop_token stop) const {
  if (directions.rows == 0) return absl::OkStatus();
  std::vector<double> scales;
  for (const double scale : pca_.scales) scales.insert(scales.end(), {scale, -scale});
  Matrix inputs{directions.rows * static_cast<int64_t>(scales.size()), directions.columns};
  for (int64_t i = 0; i < directions.rows; ++i) {
    for (const double scale : scales) {
      for (const float value : directions.Row(i)) {
        inputs.values.push_back(static_cast<float>(value * scale * report_.mean_norm));
      }
    }
  }
  SINKD_ASSIGN_OR_RETURN(const Matrix outputs, model().RunMlpAlone(report_.block, inputs, stop));
  int64_t row = 0;
  for (PcaDirection& result : results) {
    for (const double scale : scales) {
      const PcaTrial trial = MakeTrial(scale, outputs.Row(row++));
      result.effective |= std::fabs(trial.cosine) > pca_.effective_cosine;
      result.trials.push_back(trial);
    }
  }
  return absl::OkStatus();
}

PcaTrial PcaStudy::MakeTrial(double scale, std::span<const float> output) const {
  PcaTrial trial{.scale = scale, .output_norm = Norm(output)};
  if (trial.output_norm == 0) return trial;
  double product = 0;
  for (size_t c = 0; c < output.size(); ++c) product += output[c] * primary_output_[c];
  trial.cosine = product / trial.output_norm / static_cast<double>(samples_);
  return trial;
}

StudyFindings PcaStudy::Findings(const std::string& missing) {
  if (report_.undefined.empty() && targets_.empty()) report_.undefined = "no targets";
  if (missing.empty()) return report_;
  // Components that were not all tried compare with nothing.
  report_.undefined = missing;
  report_.components.clear();
  report_.random.clear();
  return report_;
}

}  // namespace sinkd
