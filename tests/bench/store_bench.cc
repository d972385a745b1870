// What keeping runs costs: appending, listing and reading a store of many records, in SQLite and in
// a PostgreSQL server of its own, on the same machine one after the other. Prints a Markdown table.
//
//   store_bench [RUNS [RECORDS_A_RUN]]    1000 and 1000 when not given
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "server/store/run_store.h"
#include "tests/bench/median.h"
#include "tests/store/backend.h"
#include "tests/testing/process_memory.h"

namespace {

using sinkd::RunStore;

constexpr size_t kPayloadBytes = 600;
constexpr int kPageSize = 100;
constexpr int kRepeats = 9;
constexpr int kClients = 8;
constexpr int kCallsPerClient = 200;
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

double MedianMilliseconds(const std::function<void()>& work) {
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(1e3 * SecondsOf(work));
  return Median(times);
}

std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

std::string RunId(int run) {
  return "run-" + std::to_string(run);
}

// Bytes that a database cannot press together, different in every record.
std::vector<sinkd::Record> MakeRecords(int count, uint32_t seed) {
  std::vector<sinkd::Record> records(static_cast<size_t>(count));
  uint32_t state = seed * 2654435761u + 1;
  for (size_t i = 0; i < records.size(); ++i) {
    records[i].sample_key = "sample-" + std::to_string(i);
    records[i].sample_index = static_cast<int64_t>(i);
    records[i].tokens = 128;
    records[i].sinks = {.primary = 1, .secondary = 2};
    records[i].payload.resize(kPayloadBytes);
    for (char& byte : records[i].payload) {
      state = state * 1664525 + 1013904223;
      byte = static_cast<char>(state >> 24);
    }
  }
  return records;
}

void Create(RunStore& store, const std::string& id, int number) {
  Require(store.Create({.id = id,
                        .model_id = "model-" + std::to_string(number % 10),
                        .labels = {{"branch", number % 50 == 0 ? "main" : "other"}},
                        .spec = std::string(300, 's')},
                       sinkd::IfExists::kFail));
}

void Fill(RunStore& store, const Size& size) {
  for (int run = 0; run < size.runs; ++run) {
    Create(store, RunId(run), run);
    Require(store.Append(RunId(run), MakeRecords(size.records, static_cast<uint32_t>(run))));
  }
}

// Many clients, a record a call: what group commit is for.
void AppendSingly(RunStore& store, int clients) {
  std::vector<std::jthread> threads;
  for (int client = 0; client < clients; ++client) {
    threads.emplace_back([&store, client, clients] {
      const std::string id = "single-" + std::to_string(clients) + "-" + std::to_string(client);
      Create(store, id, client);
      for (const sinkd::Record& record : MakeRecords(kCallsPerClient, 1)) {
        Require(store.Append(id, {&record, 1}));
      }
    });
  }
}

int64_t ReadRun(RunStore& store, const std::string& id) {
  int64_t after = 0;
  while (true) {
    const auto records = Require(store.ReadRecords(id, {.after = after}));
    if (records.empty()) return after;
    after = records.back().sequence;
  }
}

void ReadEverything(RunStore& store, int64_t expected) {
  int64_t records = 0;
  sinkd::ListOptions options;
  do {
    const sinkd::RunPage page = Require(store.List(options));
    for (const sinkd::Run& run : page.runs) records += ReadRun(store, run.id);
    options.page_token = page.next_page_token;
  } while (!options.page_token.empty());
  if (records < expected) {
    std::fprintf(stderr, "only %ld records were read\n", static_cast<long>(records));
    std::exit(1);
  }
}

std::string LastPageToken(RunStore& store) {
  sinkd::ListOptions options = {.page_size = kPageSize};
  while (true) {
    const std::string next = Require(store.List(options)).next_page_token;
    if (next.empty()) return options.page_token;
    options.page_token = next;
  }
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

void MeasureLists(RunStore& store, Measured& measured) {
  const auto list = [&](const sinkd::ListOptions& options) {
    return Format("%.2f", MedianMilliseconds([&] { Require(store.List(options)); }));
  };
  measured.Add("list, first page of 100 (ms)", list({.page_size = kPageSize}));
  measured.Add("list, last page (ms)",
               list({.page_size = kPageSize, .page_token = LastPageToken(store)}));
  measured.Add("list by model and label (ms)",
               list({.model_id = "model-0", .labels = {{"branch", "main"}}}));
}

void Measure(sinkd::testing::Backend& backend, const Size& size, Measured& measured) {
  std::unique_ptr<RunStore> store = Require(backend.Open({}));
  const double records = static_cast<double>(size.runs) * size.records;
  const double fill = SecondsOf([&] { Fill(*store, size); });
  measured.Add("append, 1 client, a run a call (records/s)", Format("%.0f", records / fill));
  for (const int clients : {1, kClients}) {
    const double seconds = SecondsOf([&] { AppendSingly(*store, clients); });
    measured.Add("append, " + std::to_string(clients) + " clients, a record a call (records/s)",
                 Format("%.0f", clients * kCallsPerClient / seconds));
  }
  store = nullptr;
  const double open = SecondsOf([&] { store = Require(backend.Open({})); });
  measured.Add("open (s)", Format("%.2f", open));
  MeasureLists(*store, measured);
  measured.Add("read one run (ms)",
               Format("%.1f", MedianMilliseconds([&] { ReadRun(*store, RunId(size.runs / 2)); })));
  sinkd::testing::ForgetPeak();
  const double before = sinkd::testing::StatusBytes("VmRSS");
  const double all = SecondsOf([&] { ReadEverything(*store, static_cast<int64_t>(records)); });
  measured.Add("read all (s)", Format("%.2f", all));
  measured.Add("peak memory of that over what was held before (MiB)",
               Format("%.1f", (sinkd::testing::StatusBytes("VmHWM") - before) / kMebibyte));
  measured.Add("size on disk (MiB)",
               Format("%.0f", static_cast<double>(Require(store->SizeOnDisk())) / kMebibyte));
  measured.NextBackend();
}

}  // namespace

int main(int argc, char** argv) {
  Size size;
  if (argc > 1) size.runs = std::atoi(argv[1]);
  if (argc > 2) size.records = std::atoi(argv[2]);
  Measured measured;
  for (const char* name : {"Sqlite", "Postgres"}) {
    Measure(*sinkd::testing::MakeBackend(name), size, measured);
  }
  std::printf("%d runs of %d records, payloads of %zu bytes\n\n", size.runs, size.records,
              kPayloadBytes);
  std::printf("| | SQLite | PostgreSQL |\n|---|---|---|\n");
  for (const Row& row : measured.rows()) {
    std::printf("| %s | %s | %s |\n", row.name.c_str(), row.cells[0].c_str(), row.cells[1].c_str());
  }
  return 0;
}
