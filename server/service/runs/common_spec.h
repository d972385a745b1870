// CommonSpec: what runs of different parameters have in common, and what they differ in.
//
// Thread-safety: pure functions.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "server/analysis/parameters.h"
#include "sinks/v1/runs.pb.h"

namespace sinkd {

// What a run was made with.
struct RunMaking {
  std::string run;        // runs/{id}
  std::string model;      // models/{id}
  v1::AnalysisSpec spec;  // its analyses
};

// The analyses that records made with either spec hold. Where two specs differ only in how records
// are folded (levels, regression, compensation), `a`'s parameters stay. Analyses of sinks are left
// out when the detections differ; `detection` is then `a`'s and stands for nothing.
v1::AnalysisSpec CommonSpec(const v1::AnalysisSpec& a, const v1::AnalysisSpec& b);

// What alpha is computed with: the score parameters without what only adds numbers to records.
v1::ScoreParameters AlphaOf(const v1::AnalysisSpec& spec);

// Every parameter in which the runs differ, in the order of its path. Parameters of an analysis are
// compared among the runs that asked for it.
std::vector<sinks::v1::SpecDifference> SpecDifferences(std::span<const RunMaking> runs);

}  // namespace sinkd
