// Heads from checkpoint to record against transformers' eager attention in float64
// (tests/oracle/heads.py), and a summary of them.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <set>
#include <utility>

#include <absl/strings/str_cat.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/analysis/record_builder.h"
#include "server/analysis/summary.h"
#include "server/engine/model.h"
#include "tests/analysis/spec_text.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

using Json = nlohmann::json;

constexpr const char* kCheckpoints[] = {
    "tiny/llama_grouped",     "tiny/qwen2_window",       "families/gemma2_softcap",
    "families/gpt2_plain",    "families/olmo2_plain",    "families/gpt_neox_parallel",
    "families/gpt_oss_sinks", "families/mistral_window", "smollm2/smollm2-135m-instruct"};

constexpr double kTolerance = 1e-5;  // of shares; of norms, relative to the largest

class Heads : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const std::string path = absl::StrCat("heads/", GetParam(), ".json");
    want_ = Json::parse(std::ifstream(OracleFolder() / path));
    ids_ = want_["ids"].get<TokenIds>();
    spec_ = SpecFrom("heads {}");
    spec_.mutable_detection()->set_cosine_threshold(want_["cosine_threshold"]);
    auto model = Model::Load(OracleFolder() / GetParam(), {.compute_type = ComputeType::kFloat32});
    ASSERT_TRUE(model.ok()) << model.status();
    model_ = *std::move(model);
  }

  std::vector<Trace> Run(std::vector<TokenIds> batch) const {
    auto traces = model_->Run(batch, RequiredTrace(spec_));
    EXPECT_TRUE(traces.ok()) << traces.status();
    return traces.ok() ? *std::move(traces) : std::vector<Trace>();
  }

  v1::SampleRecord Record(const TokenIds& ids, const Trace& trace) const {
    const auto record = BuildRecord(spec_, {.token_ids = ids}, trace, {});
    EXPECT_TRUE(record.ok()) << record.status();
    return record.value_or(v1::SampleRecord());
  }

  std::vector<double> Wanted(const std::string& name) const {
    const Json& numbers = want_["numbers"];
    return numbers.contains(name) ? numbers[name].get<std::vector<double>>()
                                  : std::vector<double>();
  }

  template <typename Values>
  void Expect(const std::string& name, const Values& got) const {
    const std::vector<double> want = Wanted(name);
    ASSERT_EQ(size_t(got.size()), want.size()) << name;
    double most = 1;
    for (const double value : want) most = std::max(most, std::abs(value));
    double worst = 0;
    int i = 0;
    for (const double value : got) {
      worst = std::max(worst, std::abs(value - want[size_t(i++)]) / most);
    }
    EXPECT_LE(worst, kTolerance) << name;
    printf("%-16s %.1e\n", name.c_str(), worst);
  }

  Json want_;
  TokenIds ids_;
  v1::AnalysisSpec spec_;
  std::unique_ptr<Model> model_;
};

TEST_P(Heads, AreThoseOfTransformers) {
  const Trace trace = Run({ids_}).front();
  const v1::SampleRecord record = Record(ids_, trace);
  ASSERT_EQ(record.primary().position(), want_["primary_position"].get<int32_t>());
  std::vector<int32_t> secondary;
  for (const v1::Sink& sink : record.sinks()) {
    if (IsSecondary(sink)) secondary.push_back(sink.position());
  }
  ASSERT_EQ(secondary, want_["secondary_positions"].get<std::vector<int32_t>>());
  Expect("value_norm", trace.value_norm);
  const v1::HeadMeans& heads = record.heads();
  Expect("entropy", heads.entropy());
  Expect("max_weight", heads.max_weight());
  Expect("primary", heads.primary());
  Expect("secondary", heads.secondary());
  Expect("rest", heads.rest());
  Expect("previous_token", heads.previous_token());
  Expect("duplicate_token", heads.duplicate_token());
  Expect("first_token", heads.first_token());
  Expect("primary_value", heads.primary_value());
  Expect("secondary_value", heads.secondary_value());
  Expect("rest_value", heads.rest_value());
  if (model_->info().spec.learned_sinks) Expect("learned_sink", heads.learned_sink());
  EXPECT_EQ(heads.learned_sink().empty(), !model_->info().spec.learned_sinks);
}

TEST_P(Heads, AreTheSameInABatchAsAlone) {
  const TokenIds shorter(ids_.begin(), ids_.begin() + 40), one = {ids_[0]};
  const std::vector<TokenIds> samples = {shorter, ids_, one, ids_};
  const std::vector<Trace> together = Run(samples);
  for (size_t s = 0; s < samples.size(); ++s) {
    const v1::SampleRecord batch = Record(samples[s], together[s]);
    const v1::SampleRecord alone = Record(samples[s], Run({samples[s]}).front());
    ASSERT_EQ(batch.heads().entropy_size(), alone.heads().entropy_size());
    EXPECT_EQ(batch.heads().entropy().empty(), s == 2) << "no query past the primary sink";
    for (int i = 0; i < alone.heads().entropy_size(); ++i) {
      EXPECT_NEAR(batch.heads().entropy(i), alone.heads().entropy(i), kTolerance);
      EXPECT_NEAR(batch.heads().duplicate_token(i), alone.heads().duplicate_token(i), kTolerance);
      EXPECT_NEAR(batch.heads().rest_value(i) / alone.heads().rest_value(i), 1, kTolerance);
    }
  }
}

TEST_P(Heads, AreFlaggedInASummaryByTheirMeans) {
  Summary summary(spec_);
  ASSERT_TRUE(summary.Add(Record(ids_, Run({ids_}).front())).ok());
  const v1::HeadReport report = summary.Report().heads();
  EXPECT_EQ(report.samples(), 1);
  const std::vector<double> entropy = Wanted("entropy"), largest = Wanted("max_weight");
  const std::vector<double> primary = Wanted("primary"), value = Wanted("primary_value");
  const std::vector<double> rest = Wanted("rest_value"), secondary = Wanted("secondary_value");
  using Places = std::set<std::pair<int, int>>;
  Places dormant, collapsed, focused;
  for (size_t i = 0; i < entropy.size(); ++i) {
    const std::pair<int, int> place(int(i) / report.heads(), int(i) % report.heads());
    const double whole = value[i] + rest[i] + (secondary.empty() ? 0 : secondary[i]);
    if (primary[i] > 0.9 && value[i] / whole < 0.5) dormant.insert(place);
    if (entropy[i] < 0.03) collapsed.insert(place);
    if (largest[i] > 0.9) focused.insert(place);
  }
  const auto found = [](const auto& places) {
    Places all;
    for (const v1::HeadPlace& place : places) all.emplace(place.block(), place.head());
    return all;
  };
  EXPECT_EQ(found(report.dormant()), dormant);
  EXPECT_EQ(found(report.collapsed()), collapsed);
  EXPECT_EQ(found(report.focused()), focused);
  printf("%zu dormant, %zu collapsed, %zu focused\n", dormant.size(), collapsed.size(),
         focused.size());
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Heads, ::testing::ValuesIn(kCheckpoints),
                         [](const auto& checkpoint) {
                           std::string name = CheckpointName(checkpoint);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace sinkd::testing
