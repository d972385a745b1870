// The memory of this process, as the kernel counts it.
#pragma once

#include <fstream>
#include <string>

namespace sinkd::testing {

// A line of /proc/self/status, in bytes: "VmRSS" now, "VmHWM" at the peak; 0 when there is none.
inline double StatusBytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    double kibibytes = 0;
    if (word == key + ":" && status >> kibibytes) return kibibytes * 1024;
  }
  return 0;
}

// The peak counts from now on.
inline void ForgetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

}  // namespace sinkd::testing
