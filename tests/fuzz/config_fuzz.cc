// A config.json: the family it names makes a plan of it, or says what is wrong.
#include <string_view>

#include "server/engine/families/hf_config.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto config = sinkd::ConfigReader::FromText("config.json", text);
  if (!config.ok()) {
    sinkd::fuzz::RequireToldError(config.status());
    return 0;
  }
  const auto plan = sinkd::PlanFromConfig(*config);
  if (!plan.ok()) sinkd::fuzz::RequireToldError(plan.status());
  return 0;
}
