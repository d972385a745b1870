// Edits of a pass: against transformers with hooks, and prefix reuse against whole passes.
#include <algorithm>
#include <cmath>
#include <random>

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "server/base/str_cat.h"
#include "server/engine/forward/model_internals.h"
#include "server/engine/intervention.h"
#include "server/engine/taps/trace_builder.h"
#include "tests/engine/edited_samples.h"
#include "tests/engine/oracle_files.h"

namespace sinkd::testing {
namespace {

std::unique_ptr<Model> LoadOrDie(const std::string& checkpoint,
                                 Residency residency = Residency::kResident) {
  auto model = Model::Load(OracleFolder() / checkpoint,
                           {.compute_type = ComputeType::kFloat32, .residency = residency});
  EXPECT_TRUE(model.ok()) << model.status();
  return model.ok() ? *std::move(model) : nullptr;
}

// The largest |got - want| over the larger of |want| and `least`.
double Largest(const std::vector<float>& got, const std::vector<float>& want, double least) {
  EXPECT_EQ(got.size(), want.size());
  double largest = 0;
  for (size_t i = 0; i < std::min(got.size(), want.size()); ++i) {
    const double size = std::max(std::abs(double{want[i]}), least);
    largest = std::max(largest, std::abs(double{got[i]} - want[i]) / size);
  }
  return largest;
}

void ExpectNear(const Trace& got, const EditedPass& want) {
  constexpr double kTolerance = 1e-4;
  EXPECT_LE(Largest(got.state_norm, want.state_norm, 1e-3), kTolerance);
  EXPECT_LE(Largest(got.mlp_norm, want.mlp_norm, 1e-3), kTolerance);
  EXPECT_LE(Largest(got.attention_sum, want.column_sum, 0.1), kTolerance);
}

class Edited : public ::testing::TestWithParam<const char*> {};

TEST_P(Edited, PassesGiveWhatTransformersGivesWithHooks) {
  const EditedSample sample = ReadEditedSample(GetParam());
  const auto model = LoadOrDie(GetParam());
  ASSERT_TRUE(model);
  const auto outcome = Intervene(*model, sample.ids, sample.Edits(), {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ExpectNear(outcome->base.trace, sample.base);
  ASSERT_EQ(outcome->variants.size(), sample.variants.size());
  for (size_t v = 0; v < sample.variants.size(); ++v) {
    SCOPED_TRACE(StrCat("variant ", v));
    ExpectNear(outcome->variants[v].trace, sample.variants[v]);
    EXPECT_FALSE(outcome->variants[v].loss.has_value());
  }
}

INSTANTIATE_TEST_SUITE_P(EditedCheckpoint, Edited, ::testing::ValuesIn(EditedCheckpoints()),
                         CheckpointName);

// One pass from the first block on, nothing reused.
Trace RunWhole(const Model& model, const TokenIds& ids, const Variant& edits,
               const TraceRequest& request) {
  const c10::InferenceMode inference;
  const Model::Internals& internals = model.internals();
  const PackedBatch batch = Pack({&ids, 1}, internals.outer.embedding.device());
  TraceBuilder builder(internals.spec, request, batch.offsets, batch.ids.device());
  const Variant* const of_sample[] = {&edits};
  const absl::Status status =
      internals.decoder.Forward(batch, builder, {}, {.end_block = {}, .edits = of_sample});
  EXPECT_TRUE(status.ok()) << status;
  return builder.Finish().front();
}

void ExpectSame(const Trace& got, const Trace& want) {
  constexpr double kTolerance = 1e-5;
  EXPECT_LE(Largest(got.state_norm, want.state_norm, 1e-3), kTolerance);
  EXPECT_LE(Largest(got.mlp_norm, want.mlp_norm, 1e-3), kTolerance);
  EXPECT_LE(Largest(got.candidate_cosine, want.candidate_cosine, 1), kTolerance);
  EXPECT_LE(Largest(got.attention_sum, want.attention_sum, 1), kTolerance);
  EXPECT_LE(Largest(got.attention_self, want.attention_self, 1), kTolerance);
  EXPECT_LE(Largest(got.prefix_attention_sum, want.prefix_attention_sum, 1), kTolerance);
  EXPECT_LE(Largest(got.learned_sink_mass, want.learned_sink_mass, 1), kTolerance);
}

// Draws edits for samples of `length` tokens.
class Draw {
 public:
  Draw(const DecoderSpec& spec, int64_t length) : spec_(spec), length_(length) {}

  Edit OneAt(int64_t block) {
    constexpr Site kSites[] = {Site::kAttnOut, Site::kMlpOut, Site::kResidPost};
    constexpr EditAction kActions[] = {EditAction::kReplace, EditAction::kSetNorm,
                                       EditAction::kClipNorm, EditAction::kAdd};
    Edit edit{.block = block,
              .site = kSites[Below(3)],
              .positions = {},
              .action = kActions[Below(4)],
              .vector = {},
              .amount = static_cast<double>(1 + Below(40))};
    for (int64_t t = 0; t < length_; ++t) {
      if (Below(length_ > 8 ? 8 : 2) == 0) edit.positions.push_back(t);
    }
    if (edit.positions.empty()) edit.positions.push_back(Below(length_));
    for (int64_t c = 0; c < spec_.hidden; ++c) {
      edit.vector.push_back(static_cast<float>(Below(2001) - 1000) / 500.0F);
    }
    return edit;
  }

  // Two at the first and two at the last block, and some of several edits in no order.
  std::vector<Variant> Variants() {
    std::vector<Variant> variants;
    for (const int64_t block : {int64_t{0}, spec_.blocks - 1, int64_t{0}, spec_.blocks - 1}) {
      variants.push_back({OneAt(block)});
    }
    for (int64_t edits = 2; edits <= 5; ++edits) {
      Variant& variant = variants.emplace_back();
      for (int64_t e = 0; e < edits; ++e) variant.push_back(OneAt(Below(spec_.blocks)));
    }
    return variants;
  }

  TokenIds Ids() {
    TokenIds ids;
    for (int64_t t = 0; t < length_; ++t) {
      ids.push_back(static_cast<int32_t>(Below(spec_.vocabulary)));
    }
    return ids;
  }

 private:
  int64_t Below(int64_t end) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(end));
  }

  const DecoderSpec& spec_;
  const int64_t length_;
  std::mt19937_64 random_{11};
};

constexpr const char* kEveryWiring[] = {
    "tiny/llama_grouped",           "families/gpt2_plain",     "families/gpt_neox_parallel",
    "blocks/falcon_h1_multipliers", "blocks/gemma4_sharing",   "blocks/gemma4_experts",
    "blocks/nemotron_h_latents",    "families/gemma2_softcap", "families/olmo2_plain",
    "families/opt_post_norm",       "families/qwen3_moe_raw",  "families/qwen3_moe_mixed",
    "families/gpt_oss_sinks"};

class Reuse : public ::testing::TestWithParam<const char*> {};

TEST_P(Reuse, OfThePrefixGivesWhatWholePassesGive) {
  for (const Residency residency : {Residency::kResident, Residency::kStreamed}) {
    const auto model = LoadOrDie(GetParam(), residency);
    ASSERT_TRUE(model);
    for (const int64_t length : {1, 7, 64}) {
      Draw draw(model->info().spec, length);
      const TokenIds ids = draw.Ids();
      const std::vector<Variant> variants = draw.Variants();
      for (const LastState last : {LastState::kNormed, LastState::kRaw}) {
        const TraceRequest request{.last_state = last, .prefix = 5};
        const auto outcome = Intervene(*model, ids, variants, {.trace = request}, {});
        ASSERT_TRUE(outcome.ok()) << outcome.status();
        ExpectSame(outcome->base.trace, RunWhole(*model, ids, {}, request));
        for (size_t v = 0; v < variants.size(); ++v) {
          SCOPED_TRACE(StrCat("T ", length, ", variant ", v));
          ExpectSame(outcome->variants[v].trace, RunWhole(*model, ids, variants[v], request));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryWiring, Reuse, ::testing::ValuesIn(kEveryWiring), CheckpointName);

TEST(Intervene, CountsTheRowsThatItRan) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  const int64_t blocks = model->info().spec.blocks;
  const TokenIds ids = {1, 5, 7, 9, 11, 13};
  const auto at = [&](int64_t block) {
    return Variant{{.block = block,
                    .site = Site::kMlpOut,
                    .positions = {2, 4},
                    .action = EditAction::kSetNorm,
                    .vector = {},
                    .amount = 3}};
  };
  const Variant variants[] = {at(1), at(1), at(blocks - 1), {}};
  const auto outcome = Intervene(*model, ids, variants, {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->naive_block_rows, 6 * blocks * 5);
  EXPECT_EQ(outcome->block_rows, 6 * blocks + 3 * 2 + 2 * 6 * (blocks - 2));
}

TEST(Intervene, LeavesLayersFromTheEndBlockOnAtZero) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  const TokenIds ids = {1, 5, 7, 9, 11, 13};
  Draw draw(model->info().spec, 6);
  const Variant variants[] = {{draw.OneAt(1)}, {draw.OneAt(3)}, {}};
  const auto whole = Intervene(*model, ids, variants, {}, {});
  const auto cut = Intervene(*model, ids, variants, {.end_block = 3}, {});
  ASSERT_TRUE(whole.ok() && cut.ok()) << whole.status() << cut.status();
  EXPECT_EQ(cut->base.trace.state_norm, whole->base.trace.state_norm);
  for (size_t v = 0; v < 3; ++v) {
    const Trace& got = cut->variants[v].trace;
    const Trace& want = whole->variants[v].trace;
    for (int64_t l = 0; l < got.layers; ++l) {
      for (int64_t t = 0; t < 6; ++t) {
        EXPECT_EQ(got.StateNorm(l, t), l < 3 ? want.StateNorm(l, t) : 0.0F);
        EXPECT_EQ(got.MlpNorm(l, t), l < 3 ? want.MlpNorm(l, t) : 0.0F);
        EXPECT_EQ(got.AttentionSum(l, 0, t), l < 3 ? want.AttentionSum(l, 0, t) : 0.0F);
      }
    }
  }
}

// More rows than one batch of variants may hold.
TEST(Intervene, RunsManyVariantsInSeveralBatches) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  Draw draw(model->info().spec, 700);
  const TokenIds ids = draw.Ids();
  std::vector<Variant> variants;
  while (static_cast<int64_t>(variants.size()) * 700 <= kVariantRows) {
    variants.push_back({draw.OneAt(3)});
  }
  const auto outcome = Intervene(*model, ids, variants, {}, {});
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  for (const size_t v : {size_t{0}, variants.size() - 1}) {
    ExpectSame(outcome->variants[v].trace, RunWhole(*model, ids, variants[v], {}));
  }
}

// Keeps what it was shown, as any tap may.
class Album final : public TapObserver {
 public:
  bool Wants(Site, int64_t) const override { return true; }
  void OnRows(Site site, int64_t block, int64_t, const at::Tensor& rows) override {
    shown_.push_back({StrCat(SiteName(site), ".", block), rows, rows.clone()});
  }

  void ExpectUnchanged() const {
    for (const Page& page : shown_) EXPECT_TRUE(page.rows.equal(page.copy)) << page.name;
  }

 private:
  struct Page {
    std::string name;
    at::Tensor rows, copy;
  };
  std::vector<Page> shown_;
};

TEST(Edits, NeverChangeWhatATapWasShown) {
  for (const char* checkpoint : kEveryWiring) {
    SCOPED_TRACE(checkpoint);
    const auto model = LoadOrDie(checkpoint);
    ASSERT_TRUE(model);
    Draw draw(model->info().spec, 12);
    const TokenIds ids = draw.Ids();
    Variant edits;
    for (int64_t l = 0; l < model->info().spec.blocks; ++l) {
      for (int e = 0; e < 4; ++e) edits.push_back(draw.OneAt(l));
    }
    const c10::InferenceMode inference;
    const Variant* const of_sample[] = {&edits};
    Album album;
    const absl::Status status = model->internals().decoder.Forward(
        Pack({&ids, 1}, at::kCPU), album, {}, {.end_block = {}, .edits = of_sample});
    ASSERT_TRUE(status.ok()) << status;
    album.ExpectUnchanged();
  }
}

TEST(Intervene, RefusesEditsThatAreOutOfRange) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  const DecoderSpec& spec = model->info().spec;
  const TokenIds ids = {1, 5, 7};
  const std::vector<float> vector(static_cast<size_t>(spec.hidden), 1.0F);
  const Edit good{.block = 1,
                  .site = Site::kMlpOut,
                  .positions = {0, 2},
                  .action = EditAction::kReplace,
                  .vector = vector,
                  .amount = 0};
  const auto code = [&](const std::function<void(Edit&)>& spoil) {
    const Variant variants[] = {{good}, {good}};
    std::vector<Variant> spoiled(std::begin(variants), std::end(variants));
    spoil(spoiled[1][0]);
    return Intervene(*model, ids, spoiled, {}, {}).status().code();
  };
  EXPECT_EQ(code([](Edit&) {}), absl::StatusCode::kOk);
  constexpr auto kRefused = absl::StatusCode::kInvalidArgument;
  EXPECT_EQ(code([&](Edit& edit) { edit.block = spec.blocks; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.block = -1; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.site = Site::kMlpIn; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.positions = {0, 3}; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.positions = {2, 0}; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.positions = {1, 1}; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.vector.pop_back(); }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.vector[0] = std::nanf(""); }), kRefused);
  EXPECT_EQ(code([](Edit& edit) { edit.amount = INFINITY; }), kRefused);
  EXPECT_EQ(code([](Edit& edit) {
              edit.action = EditAction::kSetNorm;
              edit.amount = -1;
            }),
            kRefused);
  for (const int64_t end : {int64_t{-1}, spec.blocks + 1}) {
    EXPECT_EQ(Intervene(*model, ids, {}, {.end_block = end}, {}).status().code(), kRefused);
  }
}

TEST(Intervene, StopsBeforeABlock) {
  const auto model = LoadOrDie("tiny/llama_grouped");
  ASSERT_TRUE(model);
  std::stop_source stop;
  stop.request_stop();
  const TokenIds ids = {1, 5, 7};
  EXPECT_EQ(Intervene(*model, ids, {}, {}, stop.get_token()).status().code(),
            absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sinkd::testing
