// What device_check does on a machine with an accelerator; each prints a Markdown table and returns
// whether all of it held. `device` is a torch device name; "cpu" works too, for a look at the
// checks themselves.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sinkd::device_check {

// Traces and detection on `device` against those on the CPU, for every checkpoint folder, in
// float32 and bfloat16. A folder with records.jsonl holds planted sinks (tests/testing/planted.py),
// which must come back exactly; elsewhere samples are random ids.
bool CompareWithCpu(const std::string& device, const std::vector<std::filesystem::path>& folders);

// Seconds and memory of a forward pass with and without attention statistics, by sample length.
bool MeasureSpeed(const std::string& device, const std::filesystem::path& folder,
                  const std::vector<int64_t>& lengths);

// Takes nearly all memory away, then runs a sample of `length` tokens, which must be refused with
// RESOURCE_EXHAUSTED, and a short one, which must give what it gave before.
bool RecoverFromExhaustion(const std::string& device, const std::filesystem::path& folder,
                           int64_t length);

}  // namespace sinkd::device_check
