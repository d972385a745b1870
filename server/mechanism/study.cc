#include "server/mechanism/study.h"

#include <utility>
#include <variant>

#include "server/mechanism/align_study.h"
#include "server/mechanism/cluster_study.h"
#include "server/mechanism/entropy_study.h"
#include "server/mechanism/massive_study.h"
#include "server/mechanism/norms_study.h"
#include "server/mechanism/pca_study.h"
#include "server/mechanism/steer_study.h"
#include "server/mechanism/swap_study.h"

namespace sinkd {
namespace {

// Makes the study of each choice.
struct Maker {
  const StudyParameters& parameters;
  const StudyModel& model;
  std::vector<StudySample>& samples;

  template <typename Kind, typename Choice>
  std::unique_ptr<Study> Make(const Choice& choice) const {
    return std::make_unique<Kind>(parameters, choice, model, std::move(samples));
  }
  std::unique_ptr<Study> operator()(const AlignParameters& p) const { return Make<AlignStudy>(p); }
  std::unique_ptr<Study> operator()(const PcaParameters& p) const { return Make<PcaStudy>(p); }
  std::unique_ptr<Study> operator()(const ClusterParameters& p) const {
    return Make<ClusterStudy>(p);
  }
  std::unique_ptr<Study> operator()(const SwapParameters& p) const { return Make<SwapStudy>(p); }
  std::unique_ptr<Study> operator()(const SteerParameters& p) const { return Make<SteerStudy>(p); }
  std::unique_ptr<Study> operator()(const EntropyParameters& p) const {
    return Make<EntropyStudy>(p);
  }
  std::unique_ptr<Study> operator()(const NormsParameters&) const {
    return std::make_unique<NormsStudy>(parameters, model, std::move(samples));
  }
  std::unique_ptr<Study> operator()(const MassiveParameters& p) const {
    return Make<MassiveStudy>(p);
  }
};

}  // namespace

std::unique_ptr<Study> NewStudy(StudyParameters parameters, const StudyModel& model,
                                std::vector<StudySample> samples) {
  return std::visit(Maker{parameters, model, samples}, parameters.study);
}

}  // namespace sinkd
