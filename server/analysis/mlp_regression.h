// MLP norm against score and lifetime: gathers the points of the regression (regression.h) over
// records (definitions: MLP norm against score and lifetime).
//
// Points are the secondary sinks; with include_primary also the sinks of kind primary and the
// primary position of every sample; never noise. One point per sink is kept, by sample. Points and
// samples are sorted by their values before the fit, so that the report does not depend on the
// order of records. Thread-safety: none.
#pragma once

#include <vector>

#include "server/analysis/accumulator.h"
#include "server/analysis/parameters.h"
#include "server/analysis/records.h"
#include "server/analysis/regression.h"

namespace sinkd {

class MlpRegressionAccumulator : public AccumulatorOf<MlpRegressionAccumulator> {
 public:
  explicit MlpRegressionAccumulator(const v1::RegressionParameters& parameters)
      : parameters_(parameters) {}

  void Add(const v1::SampleRecord& record) override;
  void MergeSame(const MlpRegressionAccumulator& other);
  void Report(v1::Summary& report) const override;

 private:
  using BySample = std::vector<std::vector<RegressionPoint>>;

  void AddSink(const v1::Sink& sink);

  v1::RegressionParameters parameters_;
  int64_t without_score_ = 0;
  BySample score_points_, lifetime_points_;
};

}  // namespace sinkd
