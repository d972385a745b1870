#include <cstdio>

#include "tests/device/checked_model.h"
#include "tests/device/checks.h"
#include "tests/device/device_memory.h"

namespace sinkd::device_check {

bool RecoverFromExhaustion(const std::string& device, const std::filesystem::path& folder,
                           int64_t length) {
  const auto model = LoadOrExit(folder, device, ComputeType::kBfloat16);
  const TokenIds short_ids = RandomIds(model->info().spec, 64);
  const TokenIds long_ids = RandomIds(model->info().spec, length);
  const auto before = model->Run({&short_ids, 1}, {});
  absl::StatusOr<std::vector<Trace>> refused, after;
  WithoutMemory(device, [&] {
    refused = model->Run({&long_ids, 1}, {});
    after = model->Run({&short_ids, 1}, {});
  });
  const bool was_refused = absl::IsResourceExhausted(refused.status());
  const bool recovered =
      before.ok() && after.ok() && before->front().state_norm == after->front().state_norm;
  std::printf(
      "| without memory | |\n|---|---|\n| %lld tokens | %s |\n| 64 tokens after that | %s |\n",
      static_cast<long long>(length),
      was_refused ? "refused, ok" : "FAILED: not refused for memory",
      recovered ? "as before, ok" : "FAILED: not as before");
  if (!was_refused) std::fprintf(stderr, "%s\n", refused.status().ToString().c_str());
  if (!after.ok()) std::fprintf(stderr, "%s\n", after.status().ToString().c_str());
  return was_refused && recovered;
}

}  // namespace sinkd::device_check
