// All measures of policies. To add one, add a row to sample_facts.cc if it is a number or a layer
// of single samples, or else a function like those below; then a name in docs/policy.schema.json
// and a line in docs/audits.md.
//
// Thread-safety: a constant table.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "server/audit/measure.h"

namespace sinkd {

std::span<const Measure> Measures();
const std::vector<std::string_view>& MeasureNames();  // in the same order

// The parts of Measures().
void AddNumberMeasures(std::vector<Measure>& measures);  // of samples and tokens
void AddLayerMeasures(std::vector<Measure>& measures);   // where the primary sink is weakest
void AddLevelMeasures(std::vector<Measure>& measures);   // of secondary sinks' levels
void AddValueMeasures(std::vector<Measure>& measures);   // of their scores and norms
void AddLineMeasures(std::vector<Measure>& measures);    // of the regression
void AddPairMeasures(std::vector<Measure>& measures);    // of single sinks in both sets

}  // namespace sinkd
