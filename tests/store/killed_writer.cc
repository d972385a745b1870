#include "tests/store/killed_writer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>
#include <thread>
#include <vector>

namespace sinkd::testing {
namespace {

constexpr int kMaxBatch = 4;

// One line a call, written at once, so that lines of several threads do not mix.
void Append(RunStore& store, const std::string& prefix, int thread, int output) {
  for (int call = 0;; ++call) {
    std::vector<Record> records;
    std::string line;
    for (int i = 0; i <= (call + thread) % kMaxBatch; ++i) {
      const std::string key = prefix + "-" + std::to_string(thread) + "-" + std::to_string(call) +
                              "-" + std::to_string(i);
      records.push_back({.sample_key = key, .tokens = 1, .payload = PayloadOf(key)});
      line += key + " ";
    }
    line.back() = '\n';
    const auto is_new = store.Append(kKilledRun, records);
    if (!is_new.ok()) {
      std::fprintf(stderr, "the writer failed: %s\n", is_new.status().ToString().c_str());
      _exit(1);
    }
    if (write(output, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
  }
}

[[noreturn]] void RunChild(const std::function<absl::StatusOr<std::unique_ptr<RunStore>>()>& open,
                           const std::string& prefix, int output) {
  auto store = open();
  if (!store.ok()) {
    std::fprintf(stderr, "the writer has no store: %s\n", store.status().ToString().c_str());
    _exit(1);
  }
  std::vector<std::jthread> threads;
  for (int i = 0; i < kWriterThreads; ++i) {
    threads.emplace_back([&, i] { Append(**store, prefix, i, output); });
  }
  threads.clear();
  _exit(0);
}

}  // namespace

std::string PayloadOf(const std::string& key) {
  std::string payload;
  while (payload.size() < 600) payload += key + "/";
  return payload;
}

std::set<std::string> AppendUntilKilled(
    const std::function<absl::StatusOr<std::unique_ptr<RunStore>>()>& open,
    const std::string& prefix, int acknowledged, int delay_us) {
  std::array<int, 2> ends = {};
  if (pipe(ends.data()) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    RunChild(open, prefix, ends[1]);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> buffer = {};
  int lines = 0;
  bool killed = false;
  while (true) {
    const ssize_t size = read(ends[0], buffer.data(), buffer.size());
    if (size <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(size));
    lines = static_cast<int>(std::count(text.begin(), text.end(), '\n'));
    if (killed || lines < acknowledged) continue;
    // Not to wait for anything: to die at another point of a transaction each time.
    usleep(static_cast<useconds_t>(delay_us));
    kill(child, SIGKILL);
    killed = true;
  }
  close(ends[0]);
  waitpid(child, nullptr, 0);
  // What stands after the last line's end was not acknowledged in full.
  text.resize(text.rfind('\n') == std::string::npos ? 0 : text.rfind('\n'));
  std::istringstream words(text);
  std::set<std::string> keys;
  for (std::string key; words >> key;) keys.insert(key);
  return keys;
}

}  // namespace sinkd::testing
