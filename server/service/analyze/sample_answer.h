// SampleAnswer: the messages that answer one sample, made one at a time, so that alpha of a long
// sample never lies in memory as a whole: chunks of alpha, then the record in its parts; or one
// SampleError.
//
// Thread-safety: none; one thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "server/analysis/parameters.h"
#include "server/service/analyze/sample_run.h"
#include "sinks/v1/analysis.pb.h"

namespace sinkd {

class SampleAnswer {
 public:
  static SampleAnswer Record(const v1::AnalysisSpec& spec, SampleResult result);
  static SampleAnswer Error(const absl::Status& status, int64_t sample_index,
                            const std::string& sample_id);
  static SampleAnswer Silent() { return {}; }  // folded into the summary only

  // nullopt when there are no more.
  std::optional<sinks::v1::AnalyzeResponse> Next();

 private:
  SampleAnswer() = default;
  std::optional<sinks::v1::AnalyzeResponse> NextAlpha();

  int64_t sample_index_ = 0;
  v1::ScoreParameters scores_;
  std::optional<Trace> trace_;
  std::vector<int32_t> blocks_;  // with attention
  size_t block_ = 0;             // of those, where the next chunk of alpha begins
  int64_t head_ = 0;
  std::vector<sinks::v1::AnalyzeResponse> last_;  // what follows alpha, in reverse
};

}  // namespace sinkd
