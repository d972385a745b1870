// What keeping runs costs: appending, listing and reading a store of many records, in SQLite and in
// a PostgreSQL server of its own, on the same machine one after the other. Prints a Markdown table.
//
//   store_bench [RUNS [RECORDS_A_RUN]]    1000 and 1000 when not given
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "server/store/run_store.h"
#include "tests/bench/store_table.h"
#include "tests/store/backend.h"

namespace {

using sinkd::RunStore;

constexpr size_t kPayloadBytes = 600;
constexpr int kPageSize = 100;
constexpr int kClients = 8;
constexpr int kCallsPerClient = 200;

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

void MeasureLists(RunStore& store, StoreTable& measured) {
  const auto list = [&](const sinkd::ListOptions& options) {
    return Format("%.2f", MedianMilliseconds([&] { Require(store.List(options)); }));
  };
  measured.Add("list, first page of 100 (ms)", list({.page_size = kPageSize}));
  measured.Add("list, last page (ms)",
               list({.page_size = kPageSize, .page_token = LastPageToken(store)}));
  measured.Add("list by model and label (ms)",
               list({.model_id = "model-0", .labels = {{"branch", "main"}}}));
}

void Measure(sinkd::testing::Backend& backend, const Size& size, StoreTable& measured) {
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
  measured.AddTimeAndPeak("read all",
                          [&] { ReadEverything(*store, static_cast<int64_t>(records)); });
  measured.Add("size on disk (MiB)",
               Format("%.0f", static_cast<double>(Require(store->SizeOnDisk())) / kMebibyte));
  measured.NextStore();
}

}  // namespace

int main(int argc, char** argv) {
  const Size size = ReadSize(argc, argv);
  StoreTable measured;
  for (const char* name : {"Sqlite", "Postgres"}) {
    Measure(*sinkd::testing::MakeBackend(name), size, measured);
  }
  measured.Print(size, kPayloadBytes);
  return 0;
}
