#include "run_store_fixture.h"

#include <utility>

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>

namespace sinkd::testing {
namespace {

std::unique_ptr<RunStore> OpenStore(Backend& backend) {
  absl::StatusOr<std::unique_ptr<RunStore>> store = backend.Open({});
  EXPECT_TRUE(store.ok()) << store.status();
  return *std::move(store);
}

}  // namespace

std::string BytesOf(const google::protobuf::Message& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream coded(&stream);
  coded.SetSerializationDeterministic(true);
  EXPECT_TRUE(message.SerializeToCodedStream(&coded));
  coded.Trim();
  return bytes;
}

KeptRuns::KeptRuns()
    : store_(OpenStore(*backend_)), running_({}, &store_), runs_(running_.channel) {}

Heard KeptRuns::Analyze(const sinks::v1::AnalysisSpec& spec,
                        const std::vector<sinks::v1::Sample>& samples) {
  AnalyzeCall call(running_.channel);
  call.Open(spec);
  // No test sends more than the server reads ahead.
  for (const sinks::v1::Sample& sample : samples) {
    if (!call.Send(sample)) break;
  }
  call.Close();
  Heard heard;
  for (sinks::v1::AnalyzeResponse& response : call.ReadAll()) {
    if (response.has_started()) heard.started = response.started();
    if (response.has_record()) heard.records.push_back(response.record());
    if (response.has_sample_error()) heard.errors.push_back(response.sample_error());
    if (response.has_summary()) heard.summary = response.summary();
  }
  heard.status = call.Finish();
  return heard;
}

sinks::v1::AnalysisSpec KeptRuns::RunSpec(const std::string& run) {
  sinks::v1::AnalysisSpec spec = SpecFor();
  spec.set_run_id(run);
  spec.mutable_levels();
  spec.mutable_scores();
  return spec;
}

std::vector<Record> KeptRuns::Stored(const std::string& run) {
  return ReadAll(store_, run);
}

}  // namespace sinkd::testing
