// A sample's record as it is stored and imported: a serialized sinks.v1.SampleRecord.
#include <google/protobuf/util/message_differencer.h>

#include "server/analysis/record_check.h"
#include "server/analysis/summary.h"
#include "server/service/analyze/record_parts.h"
#include "tests/fuzz/require.h"

using google::protobuf::util::MessageDifferencer;
using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  sinks::v1::SampleRecord record;
  if (!record.ParseFromArray(data, static_cast<int>(size))) return -1;
  const absl::Status checked = sinkd::CheckRecord(record);
  if (!checked.ok()) {
    sinkd::fuzz::RequireToldError(checked);
    return 0;
  }
  sinks::v1::AnalysisSpec spec;
  spec.mutable_scores();
  spec.mutable_sink_rate();
  spec.mutable_levels();
  spec.mutable_regression();
  spec.mutable_compensation();
  sinkd::FillAnalysisDefaults(spec);
  sinkd::Summary summary(spec);
  Require(summary.Add(record).ok(), "a record that was checked is refused");
  Require(summary.Report().samples() == 1, "a record that was not counted");
  sinks::v1::SampleRecord joined;
  for (sinks::v1::SampleRecord& part : sinkd::SplitRecord(record, 1024)) joined.MergeFrom(part);
  joined.clear_continued();
  record.clear_continued();
  Require(MessageDifferencer::Equivalent(joined, record), "a record changed", record.DebugString());
  return 0;
}
