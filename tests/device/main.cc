// Checks of the engine on an accelerator, see check.sh.
//
//   device_check compare DEVICE FOLDER...
//   device_check speed DEVICE FOLDER LENGTH...
//   device_check exhaustion DEVICE FOLDER LENGTH
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/device/checks.h"

int main(int argc, char** argv) {
  using namespace sinkd::device_check;
  const std::vector<std::string> words(argv + 1, argv + argc);
  const bool compares = words.size() >= 3 && words[0] == "compare";
  const bool measures = words.size() >= 4 && words[0] == "speed";
  const bool exhausts = words.size() == 4 && words[0] == "exhaustion";
  if (compares) return CompareWithCpu(words[1], {words.begin() + 2, words.end()}) ? 0 : 1;
  std::vector<int64_t> lengths;
  for (size_t i = 3; i < words.size(); ++i) lengths.push_back(std::atoll(words[i].c_str()));
  if (measures) return MeasureSpeed(words[1], words[2], lengths) ? 0 : 1;
  if (exhausts) return RecoverFromExhaustion(words[1], words[2], lengths.front()) ? 0 : 1;
  std::fprintf(stderr, "usage: device_check compare|speed|exhaustion DEVICE FOLDER...\n");
  return 2;
}
