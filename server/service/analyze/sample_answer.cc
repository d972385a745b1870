#include "server/service/analyze/sample_answer.h"

#include <algorithm>
#include <utility>

#include "server/service/analyze/record_parts.h"
#include "server/service/calls/status_mapping.h"

namespace sinkd {

SampleAnswer SampleAnswer::Record(const v1::AnalysisSpec& spec, SampleResult result) {
  SampleAnswer answer;
  answer.sample_index_ = result.record.sample_index();
  answer.scores_ = spec.scores();
  answer.trace_ = std::move(result.trace);
  if (answer.trace_) answer.blocks_ = answer.trace_->AttentionBlocks();
  for (v1::SampleRecord& part : SplitRecord(std::move(result.record))) {
    *answer.last_.emplace_back().mutable_record() = std::move(part);
  }
  std::reverse(answer.last_.begin(), answer.last_.end());
  return answer;
}

SampleAnswer SampleAnswer::Error(const absl::Status& status, int64_t sample_index,
                                 const std::string& sample_id) {
  SampleAnswer answer;
  sinks::v1::SampleError* error = answer.last_.emplace_back().mutable_sample_error();
  error->set_sample_index(sample_index);
  error->set_sample_id(sample_id);
  *error->mutable_status() = ToRpcStatus(status);
  return answer;
}

std::optional<sinks::v1::AnalyzeResponse> SampleAnswer::Next() {
  if (std::optional<sinks::v1::AnalyzeResponse> alpha = NextAlpha()) return alpha;
  if (last_.empty()) return std::nullopt;
  sinks::v1::AnalyzeResponse response = std::move(last_.back());
  last_.pop_back();
  return response;
}

std::optional<sinks::v1::AnalyzeResponse> SampleAnswer::NextAlpha() {
  if (!trace_) return std::nullopt;
  const int64_t heads = std::min(HeadsPerChunk(trace_->positions), trace_->heads - head_);
  sinks::v1::AnalyzeResponse response;
  *response.mutable_alpha() =
      EncodeAlpha(scores_, *trace_, sample_index_, blocks_[block_], head_, heads);
  head_ += heads;
  if (head_ == trace_->heads) {
    head_ = 0;
    if (++block_ == blocks_.size()) trace_.reset();
  }
  return response;
}

}  // namespace sinkd
