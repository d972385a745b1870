// What summing up stored runs costs: runs of records as Analyze stores them, folded again in
// SQLite and in a PostgreSQL server of its own, on the same machine one after the other. Prints a
// Markdown table.
//
//   runs_bench [RUNS [RECORDS_A_RUN]]    1000 and 1000 when not given
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "server/service/analyze/stream_spec.h"
#include "server/service/runs/codec_run.h"
#include "server/service/runs/run_fold.h"
#include "server/service/runs/run_groups.h"
#include "server/service/runs/stored_record.h"
#include "tests/bench/store_table.h"
#include "tests/store/backend.h"

namespace {

using sinkd::RunStore;

constexpr int kLayers = 36;
constexpr int64_t kPositions = 512;

class RecordMaker {
 public:
  explicit RecordMaker(uint32_t seed) : random_(seed) {}

  // A primary sink and two others, of levels and scores as they occur.
  sinks::v1::SampleRecord Make(int64_t index) {
    sinks::v1::SampleRecord record;
    record.set_sample_index(index);
    record.set_sample_id("sample-" + std::to_string(index));
    record.set_layers(kLayers);
    record.set_positions(kPositions);
    record.set_prompt_tokens(kPositions);
    record.set_response_tokens(0);
    record.set_chat_rendered(false);
    record.set_token_spans_boundary(false);
    record.set_window_start(4);
    record.set_window_end(34);
    record.set_undecided(false);
    FillSink(0, sinks::v1::SINK_KIND_PRIMARY, 4, 30, *record.mutable_primary());
    for (const int position : {100, 300}) {
      const int l_start = 16 + Below(4);
      FillSink(position + Below(100), sinks::v1::SINK_KIND_SECONDARY, l_start, 12 + Below(6),
               *record.add_sinks());
    }
    return record;
  }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }

  void FillSink(int position, sinks::v1::SinkKind kind, int l_start, int lifetime,
                sinks::v1::Sink& sink) {
    sink.set_position(position);
    sink.set_token_id(Below(1000));
    sink.set_token_text(" token" + std::to_string(sink.token_id()));
    sink.set_kind(kind);
    sink.set_l_start(l_start);
    sink.set_lifetime(lifetime);
    for (int l = 0; l < lifetime; ++l) sink.add_layers(l_start + l);
    sink.set_contiguous(true);
    sink.set_margin(0.05);
    sink.set_mlp_norm(20 + 1e-3 * Below(1'000'000));
    sink.set_state_norm(40 + 1e-3 * Below(1'000'000));
    sink.set_score(1e-6 * Below(1'000'000));
    sink.set_score_maximum(sink.score());
  }

  std::mt19937 random_;
};

sinks::v1::AnalysisSpec SpecOf(bool regression) {
  sinks::v1::AnalysisSpec spec;
  spec.set_model("models/model");
  spec.mutable_scores();
  spec.mutable_levels();
  if (regression) spec.mutable_regression();
  return Require(sinkd::CompleteSpec(std::move(spec), "2025-01-01"));
}

double Fill(RunStore& store, const Size& size) {
  double bytes = 0;
  for (int run = 0; run < size.runs; ++run) {
    sinks::v1::AnalysisSpec spec = SpecOf(false);
    spec.set_run_id(RunId(run));
    Require(store.Create(sinkd::MakeNewRun(spec), sinkd::IfExists::kFail));
    RecordMaker maker(static_cast<uint32_t>(run));
    std::vector<sinkd::Record> records;
    for (int i = 0; i < size.records; ++i) {
      const sinks::v1::SampleRecord record = maker.Make(i);
      records.push_back(sinkd::KeepRecord(record.sample_id(), "", record));
      bytes += static_cast<double>(records.back().payload.size());
    }
    Require(store.Append(spec.run_id(), records));
  }
  return bytes / (static_cast<double>(size.runs) * size.records);
}

// Folds runs and reports; exits when not every record came in.
void Sum(RunStore& store, const sinks::v1::AnalysisSpec& spec, const std::vector<std::string>& runs,
         int64_t expected) {
  sinkd::RunFold fold(spec, {});
  for (const std::string& run : runs) Require(fold.Add(store, run, {}));
  if (fold.Report().samples() != expected) std::exit(1);
}

void MeasureAll(RunStore& store, const Size& size, bool regression, StoreTable& measured) {
  sinks::v1::SummarizeRunsRequest request;
  request.mutable_filter();
  if (regression) {
    *request.mutable_spec() = sinkd::AnalysesOf(SpecOf(true));
  }
  const std::string with = regression ? ", with the regression" : "";
  measured.AddTimeAndPeak("summary of all" + with, [&] {
    for (const sinkd::RunGroup& group : Require(sinkd::FindRunGroups(store, request))) {
      Sum(store, group.spec, group.runs, int64_t{size.runs} * size.records);
    }
  });
}

double Measure(sinkd::testing::Backend& backend, const Size& size, StoreTable& measured) {
  const std::unique_ptr<RunStore> store = Require(backend.Open({}));
  const double payload = Fill(*store, size);
  const double one =
      MedianMilliseconds([&] { Sum(*store, SpecOf(false), {RunId(size.runs / 2)}, size.records); });
  measured.Add("summary of one run (ms)", Format("%.1f", one));
  MeasureAll(*store, size, false, measured);
  MeasureAll(*store, size, true, measured);
  measured.NextStore();
  return payload;
}

}  // namespace

int main(int argc, char** argv) {
  const Size size = ReadSize(argc, argv);
  StoreTable measured;
  double payload = 0;
  for (const char* name : {"Sqlite", "Postgres"}) {
    payload = Measure(*sinkd::testing::MakeBackend(name), size, measured);
  }
  measured.Print(size, payload);
  return 0;
}
