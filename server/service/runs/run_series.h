// RunSeries: numbers of summaries against a label's values, with their change points.
//
// Thread-safety: one thread at a time.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "sinks/v1/runs.pb.h"

namespace sinkd {

class RunSeries {
 public:
  // Label values come in ascending order.
  void Add(double label_value, const sinks::v1::Summary& summary);
  // Writes `series` of `response`: those that at least one summary has, as SummarySeries.name lists
  // them.
  void Report(sinks::v1::SummarizeRunsResponse& response) const;

 private:
  struct Points {
    std::vector<double> label_values;
    std::vector<double> values;
  };

  std::map<size_t, Points> points_;  // by index of the number
};

}  // namespace sinkd
