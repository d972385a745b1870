// What loading costs over reading: Model::Load against read(2) of the same file through a buffer of
// 8 MiB, from a warm page cache, interleaved, as a ratio; and the most memory a load takes, over
// its weights. Quantized weights are more bytes in memory than in the file, so that the last line,
// reading the file and writing as many bytes as the weights take, is theirs. Times are of the
// processor, all threads together, because machines are shared: the ratio is what to read.
//
//   load_bench MODEL_FOLDER
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "server/engine/model.h"
#include "tests/bench/median.h"
#include "tests/testing/process_memory.h"

namespace {

constexpr int kPairs = 5;
constexpr size_t kBufferBytes = size_t{8} << 20;
constexpr double kMebibyte = 1 << 20;

using sinkd::testing::ForgetPeak;
using sinkd::testing::StatusBytes;

double SecondsSince(std::clock_t begin) {
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

// Reads the file piece by piece, each to where `place` says: a function of its offset.
template <typename Place>
double TimeRead(const std::string& file, Place place) {
  const std::clock_t begin = std::clock();
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    std::perror(file.c_str());
    std::exit(1);
  }
  size_t offset = 0;
  for (ssize_t got = 1; got > 0; offset += static_cast<size_t>(got)) {
    got = read(descriptor, place(offset), kBufferBytes);
    if (got < 0) std::exit(1);
  }
  close(descriptor);
  return SecondsSince(begin);
}

double TimeReadThroughBuffer(const std::string& file) {
  std::vector<char> buffer(kBufferBytes);
  return TimeRead(file, [&](size_t) { return buffer.data(); });
}

double TimeReadIntoMemory(const std::string& file) {
  const size_t bytes = std::filesystem::file_size(file) + kBufferBytes;
  const std::unique_ptr<char[]> memory(new char[bytes]);  // not cleared, so not there yet
  return TimeRead(file, [&](size_t offset) { return memory.get() + offset; });
}

// Reads the file, and writes `bytes` to memory that is not there yet.
double TimeReadAndWrite(const std::string& file, double bytes) {
  const auto size = static_cast<size_t>(bytes);
  std::vector<char> buffer(kBufferBytes);
  const std::clock_t begin = std::clock();
  TimeRead(file, [&](size_t) { return buffer.data(); });
  const std::unique_ptr<char[]> memory(new char[size]);
  for (size_t offset = 0; offset < size; offset += kBufferBytes) {
    std::memcpy(memory.get() + offset, buffer.data(), std::min(kBufferBytes, size - offset));
  }
  return SecondsSince(begin);
}

// The file that holds the weights.
std::string WeightFile(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string kind = entry.path().extension();
    if (kind == ".safetensors" || kind == ".gguf") return entry.path();
  }
  std::fprintf(stderr, "%s holds no weights\n", folder.c_str());
  std::exit(1);
}

struct LoadCost {
  double seconds = 0;
  double peak_bytes = 0;  // over the bare process
  double weight_bytes = 0;
};

LoadCost TimeLoad(const std::string& folder) {
  ForgetPeak();
  const double bare = StatusBytes("VmRSS");
  const std::clock_t begin = std::clock();
  const auto model = sinkd::Model::Load(folder, {});
  const double seconds = SecondsSince(begin);
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    std::exit(1);
  }
  return {seconds, StatusBytes("VmHWM") - bare, static_cast<double>((*model)->info().weight_bytes)};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: load_bench MODEL_FOLDER\n");
    return 2;
  }
  const std::string folder = argv[1];
  const std::string file = WeightFile(folder);
  const LoadCost first = TimeLoad(folder);  // before the allocator has kept anything
  TimeReadThroughBuffer(file);
  std::vector<double> through, into, written, loads, over_through, over_into, over_written;
  for (int pair = 0; pair < kPairs; ++pair) {
    through.push_back(TimeReadThroughBuffer(file));
    loads.push_back(TimeLoad(folder).seconds);
    into.push_back(TimeReadIntoMemory(file));
    written.push_back(TimeReadAndWrite(file, first.weight_bytes));
    over_written.push_back(loads.back() / written.back());
    over_through.push_back(loads.back() / through.back());
    over_into.push_back(loads.back() / into.back());
  }
  std::printf("%-24s %8s %8s\n", "", "seconds", "load is");
  std::printf("%-24s %8.3f\n", "load", Median(loads));
  std::printf("%-24s %8.3f %7.2fx\n", "read through a buffer", Median(through),
              Median(over_through));
  std::printf("%-24s %8.3f %7.2fx\n", "read into new memory", Median(into), Median(over_into));
  std::printf("%-24s %8.3f %7.2fx\n", "read, and write weights", Median(written),
              Median(over_written));
  std::printf("%12s %12s %8s\n", "weights MiB", "peak MiB", "ratio");
  std::printf("%12.1f %12.1f %8.3f\n", first.weight_bytes / kMebibyte, first.peak_bytes / kMebibyte,
              first.peak_bytes / first.weight_bytes);
  return 0;
}
