// What loading costs over reading: Model::Load against read(2) of the same file through a buffer of
// 8 MiB, from a warm page cache, interleaved, as a ratio; and the most memory a load takes, over
// its weights. Machines are shared and noisy, so the ratio is what to read.
//
//   load_bench MODEL_FOLDER
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "server/engine/model.h"

namespace {

constexpr int kPairs = 5;
constexpr size_t kBufferBytes = size_t{8} << 20;
constexpr double kMebibyte = 1 << 20;

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// A line of /proc/self/status, in bytes.
double StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == key + ":" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

void ForgetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

double TimeRead(const std::string& file) {
  std::vector<char> buffer(kBufferBytes);
  const Clock::time_point begin = Clock::now();
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    std::perror(file.c_str());
    std::exit(1);
  }
  while (read(descriptor, buffer.data(), buffer.size()) > 0) {
  }
  close(descriptor);
  return SecondsSince(begin);
}

struct LoadCost {
  double seconds = 0;
  double peak_bytes = 0;  // over the bare process
  double weight_bytes = 0;
};

LoadCost TimeLoad(const std::string& folder) {
  ForgetPeak();
  const double bare = StatusBytes("VmRSS");
  const Clock::time_point begin = Clock::now();
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
  const std::string file = folder + "/model.safetensors";
  const LoadCost first = TimeLoad(folder);  // before the allocator has kept anything
  TimeRead(file);
  std::vector<double> reads, loads, ratios;
  for (int pair = 0; pair < kPairs; ++pair) {
    reads.push_back(TimeRead(file));
    loads.push_back(TimeLoad(folder).seconds);
    ratios.push_back(loads.back() / reads.back());
  }
  std::printf("%12s %12s %8s\n", "read (s)", "load (s)", "ratio");
  std::printf("%12.3f %12.3f %8.3f\n", Median(reads), Median(loads), Median(ratios));
  std::printf("%12s %12s %8s\n", "weights MiB", "peak MiB", "ratio");
  std::printf("%12.1f %12.1f %8.3f\n", first.weight_bytes / kMebibyte, first.peak_bytes / kMebibyte,
              first.peak_bytes / first.weight_bytes);
  return 0;
}
