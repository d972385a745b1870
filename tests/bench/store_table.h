// What the benchmarks of stored runs share: their arguments, clocks, and a table with a column for
// each kind of store.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "tests/bench/median.h"
#include "tests/testing/process_memory.h"

constexpr double kMebibyte = 1 << 20;

// [RUNS [RECORDS_A_RUN]]
struct Size {
  int runs = 1000;
  int records = 1000;
};

inline Size ReadSize(int argc, char** argv) {
  Size size;
  if (argc > 1) size.runs = std::atoi(argv[1]);
  if (argc > 2) size.records = std::atoi(argv[2]);
  return size;
}

// Ends the benchmark where there is an error.
inline void Require(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.ToString().c_str());
  std::exit(1);
}

template <typename T>
T Require(absl::StatusOr<T> value) {
  Require(value.status());
  return *std::move(value);
}

inline double SecondsOf(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// The median of a few runs.
inline double MedianMilliseconds(const std::function<void()>& work) {
  constexpr int kRepeats = 9;
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(1e3 * SecondsOf(work));
  return Median(times);
}

inline std::string Format(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof(text), format, value);
  return text;
}

inline std::string RunId(int run) {
  return "run-" + std::to_string(run);
}

// Every store is measured in the same order.
class StoreTable {
 public:
  void Add(const std::string& name, const std::string& cell) {
    if (next_ == rows_.size()) rows_.push_back({.name = name});
    rows_[next_++].cells.push_back(cell);
  }

  // Two rows: how long `work` takes, and what it needs besides what is held.
  void AddTimeAndPeak(const std::string& name, const std::function<void()>& work) {
    sinkd::testing::ForgetPeak();
    const double before = sinkd::testing::StatusBytes("VmRSS");
    Add(name + " (s)", Format("%.2f", SecondsOf(work)));
    Add("peak memory of that over what was held before (MiB)",
        Format("%.1f", (sinkd::testing::StatusBytes("VmHWM") - before) / kMebibyte));
  }

  void NextStore() { next_ = 0; }

  void Print(const Size& size, double payload_bytes) const {
    std::printf("%d runs of %d records, payloads of %.0f bytes\n\n", size.runs, size.records,
                payload_bytes);
    std::printf("| | SQLite | PostgreSQL |\n|---|---|---|\n");
    for (const Row& row : rows_) {
      std::printf("| %s | %s | %s |\n", row.name.c_str(), row.cells[0].c_str(),
                  row.cells[1].c_str());
    }
  }

 private:
  struct Row {
    std::string name;
    std::vector<std::string> cells;  // one a store
  };

  std::vector<Row> rows_;
  size_t next_ = 0;
};
