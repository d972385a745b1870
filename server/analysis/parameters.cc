#include "server/analysis/parameters.h"

#include <vector>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/message_differencer.h>

#include "server/analysis/catalog.h"
#include "server/analysis/parameter_rules.h"

namespace sinkd {

void FillAnalysisDefaults(v1::AnalysisSpec& spec) {
  spec.mutable_detection();
  FillDefaults(spec);
}

absl::Status CheckAnalyses(const v1::AnalysisSpec& spec) {
  constexpr int64_t kNoBlocks = 0;  // no parameter is a block
  return CheckParameters(spec, "spec", kNoBlocks);
}

v1::AnalysisSpec AnalysesOf(const v1::AnalysisSpec& spec) {
  v1::AnalysisSpec analyses = spec;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  analyses.GetReflection()->ListFields(analyses, &fields);
  for (const google::protobuf::FieldDescriptor* field : fields) {
    const bool analysis = field->message_type() != nullptr && !field->is_repeated();
    if (!analysis) analyses.GetReflection()->ClearField(&analyses, field);
  }
  return analyses;
}

bool Equal(const google::protobuf::Message& a, const google::protobuf::Message& b) {
  return google::protobuf::util::MessageDifferencer::Equals(a, b);
}

LastState LastStateOf(const v1::DetectionParameters& detection) {
  return detection.last_state() == v1::LAST_STATE_RAW ? LastState::kRaw : LastState::kNormed;
}

TraceRequest RequiredTrace(const v1::AnalysisSpec& spec) {
  TraceRequest request{.last_state = LastStateOf(spec.detection()),
                       .attention = false,
                       .prefix = spec.sink_rate().first_tokens(),
                       .heads = spec.has_heads()};
  for (const AnalysisEntry& analysis : Analyses()) {
    request.attention |= analysis.needs_attention && Requested(analysis, spec);
  }
  return request;
}

}  // namespace sinkd
