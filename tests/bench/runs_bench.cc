// What summing up stored runs costs: runs of records as Analyze stores them, folded again in
// SQLite and in a PostgreSQL server of its own, on the same machine one after the other. Prints a
// Markdown table.
//
//   runs_bench [RUNS [RECORDS_A_RUN]]    1000 and 1000 when not given
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "server/service/codec_run.h"
#include "server/service/run_fold.h"
#include "server/service/run_groups.h"
#include "server/service/stored_record.h"
#include "tests/bench/median.h"
#include "tests/store/backend.h"
#include "tests/testing/process_memory.h"

namespace {

using sinkd::RunStore;

constexpr int kRepeats = 9;
constexpr int kLayers = 36;
constexpr int64_t kPositions = 512;
constexpr double kMebibyte = 1 << 20;

struct Size {
  int runs = 1000;
  int records = 1000;
};

struct Row {
  std::string name;
  std::vector<std::string> cells;  // one a backend
};

template <typename T>
T Require(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::fprintf(stderr, "%s\n", value.status().ToString().c_str());
  std::exit(1);
}

double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string RunId(int run) {
  return "run-" + std::to_string(run);
}

class RecordMaker {
 public:
  explicit RecordMaker(uint32_t seed) : random_(seed) {}

  // A primary sink and two others, of levels and scores as they occur.
  sinkd::SampleRecord Make(int64_t index) {
    sinkd::SampleRecord record;
    record.sample_index = index;
    record.sample_id = "sample-" + std::to_string(index);
    record.layers = kLayers;
    record.positions = record.prompt_tokens = kPositions;
    record.window_start = 4;
    record.window_end = 34;
    record.primary = MakeSink(0, sinkd::SinkKind::kPrimary, 4, 30);
    for (const int position : {100, 300}) {
      record.sinks.push_back(
          MakeSink(position, sinkd::SinkKind::kSecondary, 16 + Below(4), 12 + Below(6)));
    }
    return record;
  }

 private:
  int Below(int end) { return static_cast<int>(random_() % static_cast<uint32_t>(end)); }

  sinkd::Sink MakeSink(int position, sinkd::SinkKind kind, int l_start, int lifetime) {
    sinkd::Sink sink;
    sink.position = position + Below(100);
    sink.token_id = Below(1000);
    sink.token_text = " token" + std::to_string(sink.token_id);
    sink.kind = kind;
    sink.level = {.l_start = l_start, .lifetime = lifetime};
    for (int l = 0; l < lifetime; ++l) sink.layers.push_back(l_start + l);
    sink.margin = 0.05;
    sink.mlp_norm = 20 + 1e-3 * Below(1'000'000);
    sink.state_norm = 40 + 1e-3 * Below(1'000'000);
    sink.score = 1e-6 * Below(1'000'000);
    sink.score_maximum = *sink.score;
    return sink;
  }

  std::mt19937 random_;
};

sinkd::StreamSpec SpecOf(bool regression) {
  sinkd::StreamSpec spec{.model_id = "model", .template_date = "2025-01-01"};
  spec.analysis.scores.emplace();
  spec.analysis.levels.emplace();
  if (regression) spec.analysis.regression.emplace();
  return spec;
}

double Fill(RunStore& store, const Size& size) {
  double bytes = 0;
  for (int run = 0; run < size.runs; ++run) {
    sinkd::StreamSpec spec = SpecOf(false);
    spec.run_id = RunId(run);
    Require(store.Create(sinkd::MakeNewRun(spec), sinkd::IfExists::kFail));
    RecordMaker maker(static_cast<uint32_t>(run));
    std::vector<sinkd::Record> records;
    for (int i = 0; i < size.records; ++i) {
      const sinkd::SampleRecord record = maker.Make(i);
      records.push_back(sinkd::KeepRecord(record.sample_id, record));
      bytes += static_cast<double>(records.back().payload.size());
    }
    Require(store.Append(spec.run_id, records));
  }
  return bytes / (static_cast<double>(size.runs) * size.records);
}

// Folds runs and reports; exits when not every record came in.
void Sum(RunStore& store, const sinkd::AnalysisSpec& spec, const std::vector<std::string>& runs,
         int64_t expected) {
  sinkd::RunFold fold(spec, {});
  for (const std::string& run : runs) {
    if (const absl::Status added = fold.Add(store, run, {}); !added.ok()) {
      std::fprintf(stderr, "%s\n", added.ToString().c_str());
      std::exit(1);
    }
  }
  if (fold.Report().samples != expected) std::exit(1);
}

class Measured {
 public:
  void Add(const std::string& name, const std::string& cell) {
    if (next_ == rows_.size()) rows_.push_back({.name = name});
    rows_[next_++].cells.push_back(cell);
  }
  void NextBackend() { next_ = 0; }
  const std::vector<Row>& rows() const { return rows_; }

 private:
  std::vector<Row> rows_;
  size_t next_ = 0;
};

void MeasureAll(RunStore& store, const Size& size, bool regression, Measured& measured) {
  sinks::v1::SummarizeRunsRequest request;
  request.mutable_filter();
  if (regression) {
    *request.mutable_spec() = sinkd::EncodeAnalyses(SpecOf(true).analysis);
  }
  const std::string with = regression ? ", with the regression" : "";
  sinkd::testing::ForgetPeak();
  const double before = sinkd::testing::StatusBytes("VmRSS");
  const double all = SecondsOf([&] {
    for (const sinkd::RunGroup& group : Require(sinkd::FindRunGroups(store, request))) {
      Sum(store, group.spec, group.runs, int64_t{size.runs} * size.records);
    }
  });
  measured.Add("summary of all" + with + " (s)", Format("%.2f", all));
  measured.Add("peak memory of that over what was held before (MiB)",
               Format("%.1f", (sinkd::testing::StatusBytes("VmHWM") - before) / kMebibyte));
}

double Measure(sinkd::testing::Backend& backend, const Size& size, Measured& measured) {
  const std::unique_ptr<RunStore> store = Require(backend.Open({}));
  const double payload = Fill(*store, size);
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) {
    times.push_back(1e3 * SecondsOf([&] {
                      Sum(*store, SpecOf(false).analysis, {RunId(size.runs / 2)}, size.records);
                    }));
  }
  measured.Add("summary of one run (ms)", Format("%.1f", Median(times)));
  MeasureAll(*store, size, false, measured);
  MeasureAll(*store, size, true, measured);
  measured.NextBackend();
  return payload;
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  if (argc > 1) size.runs = std::atoi(argv[1]);
  if (argc > 2) size.records = std::atoi(argv[2]);
  Measured measured;
  double payload = 0;
  for (const char* name : {"Sqlite", "Postgres"}) {
    payload = Measure(*sinkd::testing::MakeBackend(name), size, measured);
  }
  std::printf("%d runs of %d records, payloads of %.0f bytes\n\n", size.runs, size.records,
              payload);
  std::printf("| | SQLite | PostgreSQL |\n|---|---|---|\n");
  for (const Row& row : measured.rows()) {
    std::printf("| %s | %s | %s |\n", row.name.c_str(), row.cells[0].c_str(), row.cells[1].c_str());
  }
  return 0;
}
