#include "tests/engine/oracle_files.h"

#include <cstdio>
#include <cstdlib>

#include <absl/strings/str_cat.h>

#include "server/engine/checkpoint/safetensors.h"

namespace sinkd::testing {
namespace {

template <typename T>
std::vector<T> ReadTensor(const SafetensorsFile& file, const std::string& name) {
  const TensorEntry& entry = file.tensors().at(name);
  std::vector<T> values(static_cast<size_t>(entry.bytes) / sizeof(T));
  const absl::Status status = file.Read(name, 0, entry.bytes, values.data());
  if (!status.ok()) std::abort();
  return values;
}

SafetensorsFile OpenOrDie(const std::string& checkpoint, const std::string& name) {
  auto file =
      SafetensorsFile::Open(OracleFolder() / (checkpoint + ".expected") / (name + ".safetensors"));
  if (!file.ok()) {
    fprintf(stderr, "%s\n", file.status().ToString().c_str());
    std::abort();
  }
  return *std::move(file);
}

TokenIds ReadIds(const SafetensorsFile& file) {
  const std::vector<int64_t> ids = ReadTensor<int64_t>(file, "ids");
  return TokenIds(ids.begin(), ids.end());
}

SiteValues ReadAll(const SafetensorsFile& file) {
  SiteValues values;
  for (const auto& [name, entry] : file.tensors()) values[name] = ReadTensor<float>(file, name);
  return values;
}

}  // namespace

std::filesystem::path OracleFolder() {
  return SINKD_ORACLE_DIR;
}

ExpectedSample ReadExpected(const std::string& checkpoint, const std::string& precision,
                            int64_t length) {
  const SafetensorsFile file =
      OpenOrDie(checkpoint, absl::StrCat("expected_", precision, "_T", length));
  ExpectedSample expected;
  expected.ids = ReadIds(file);
  expected.hidden = ReadTensor<float>(file, "hidden");
  expected.last_raw = ReadTensor<float>(file, "last_raw");
  expected.column_sum = ReadTensor<float>(file, "column_sum");
  expected.attention_self = ReadTensor<float>(file, "attention_self");
  expected.prefix64_column_sum = ReadTensor<float>(file, "prefix64_column_sum");
  expected.mlp_norm = ReadTensor<float>(file, "mlp_norm");
  if (file.tensors().contains("learned_sink_mass")) {
    expected.learned_sink_mass = ReadTensor<float>(file, "learned_sink_mass");
  }
  if (file.tensors().contains("gates")) expected.gates = ReadTensor<float>(file, "gates");
  return expected;
}

ExpectedAlpha ReadExpectedAlpha(const std::string& checkpoint, int64_t length) {
  const SafetensorsFile file = OpenOrDie(checkpoint, absl::StrCat("expected_f64_T", length));
  return {.ids = ReadIds(file),
          .alpha = ReadTensor<float>(file, "alpha"),
          .theirs = ReadTensor<float>(file, "alpha_f32")};
}

std::string CheckpointName(const ::testing::TestParamInfo<const char*>& tested) {
  const std::string name = tested.param;
  return name.substr(name.find('/') + 1);
}

SiteValues ReadSites(const std::string& checkpoint, int64_t length) {
  return ReadAll(OpenOrDie(checkpoint, absl::StrCat("sites_f32_T", length)));
}

SiteValues ReadBfloat16Distances(const std::string& checkpoint, int64_t length) {
  return ReadAll(OpenOrDie(checkpoint, absl::StrCat("site_distances_bf16_T", length)));
}

}  // namespace sinkd::testing
