#include "analyze_call.h"

#include <gtest/gtest.h>

namespace sinkd::testing {

sinks::v1::AnalysisSpec SpecFor(const std::string& model) {
  sinks::v1::AnalysisSpec spec;
  spec.set_model(model);
  return spec;
}

sinks::v1::Sample TextSample(const std::string& text, const std::string& id) {
  sinks::v1::Sample sample;
  sample.mutable_text()->set_text(text);
  if (!id.empty()) sample.set_sample_id(id);
  return sample;
}

sinks::v1::Sample IdsSample(const std::vector<int32_t>& ids, const std::string& id) {
  sinks::v1::Sample sample;
  sample.mutable_token_ids()->mutable_ids()->Assign(ids.begin(), ids.end());
  if (!id.empty()) sample.set_sample_id(id);
  return sample;
}

void AnalyzeCall::Open(const sinks::v1::AnalysisSpec& spec) {
  OpenWithout();
  sinks::v1::AnalyzeRequest request;
  *request.mutable_spec() = spec;
  Send(request);
}

void AnalyzeCall::OpenWithout() {
  stream_ = stub_.Analyze(&context);
}

bool AnalyzeCall::Send(const sinks::v1::Sample& sample) {
  sinks::v1::AnalyzeRequest request;
  *request.mutable_sample() = sample;
  return Send(request);
}

std::optional<sinks::v1::AnalyzeResponse> AnalyzeCall::Read() {
  sinks::v1::AnalyzeResponse response;
  if (!stream_->Read(&response)) return std::nullopt;
  return response;
}

std::optional<sinks::v1::AnalyzeResponse> AnalyzeCall::ReadAnswer() {
  while (std::optional<sinks::v1::AnalyzeResponse> response = Read()) {
    if (!response->has_progress()) return response;
  }
  return std::nullopt;
}

std::vector<sinks::v1::AnalyzeResponse> AnalyzeCall::ReadAll() {
  std::vector<sinks::v1::AnalyzeResponse> all;
  while (std::optional<sinks::v1::AnalyzeResponse> response = Read()) {
    all.push_back(*std::move(response));
  }
  return all;
}

grpc::Status AnalyzeCall::Drain() {
  ReadAll();
  return Finish();
}

}  // namespace sinkd::testing
