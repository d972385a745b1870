// Definitions, Formation: Token swap - targets get the mean of a site over the controls of their
// sample, and it is seen what is left of them, of the sinks not swapped, and of the targets when
// controls are swapped instead.
//
// Controls of a sample: a seeded draw of its positions past p0 that never become a sink. All
// variants of a sample run together, after one pass that captures the means.
#pragma once

#include "server/mechanism/sink_outcomes.h"
#include "server/mechanism/study_base.h"
#include "server/mechanism/variant_sweep.h"

namespace sinkd {

class SwapStudy final : public StudyBase {
 public:
  using StudyBase::StudyBase;

 private:
  const v1::SwapParameters& swap() const { return request().swap(); }

  // One block and site.
  struct Place {
    int32_t block = 0;
    v1::Site site = v1::SITE_RESID_POST;
    OutcomeTally targets, untouched, control_swap;
    MeanOf loss, control_loss;
  };
  struct Positions {
    std::vector<int64_t> targets, controls, swapped_controls;  // ascending
  };

  std::vector<Phase> Plan() override;
  void AddFindings(const std::string& missing, v1::StudyReport& report) override;
  int64_t ControlCount() const override { return controls_drawn_; }

  Positions Choose(int64_t sample);
  absl::Status Measure(int64_t sample, std::stop_token stop);
  // A target swap and a control swap per place.
  absl::StatusOr<std::vector<Variant>> MakeVariants(int64_t sample, const Positions& positions,
                                                    std::stop_token stop);
  void Judge(const v1::SampleRecord& record, const Positions& positions, bool control_swap,
             const PassOutcome& base, const SinkMap& before, const PassOutcome& outcome,
             Place& place) const;

  std::vector<Place> places_;
  VariantSweep sweep_{model()};
  int64_t controls_drawn_ = 0;
  int64_t left_out_ = 0;
};

}  // namespace sinkd
