// Studies of a checkpoint whose causes are known: a word becomes a sink only after its trigger,
// which attention sees three blocks before the MLP makes it one (tests/testing/planted.py).
#include <fstream>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/mechanism/loaded_study_model.h"
#include "server/mechanism/study.h"
#include "server/models/checkpoint_loader.h"

namespace sinkd {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kFolder =
    std::filesystem::path(SINKD_ORACLE_DIR) / "planted" / "planted-context";

// Words that begin a sink, as tokens: a trigger and what follows it.
struct Phrase {
  int32_t trigger = 0;
  int32_t word = 0;
};

class PlantedStudies : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ifstream planted(kFolder / "planted.json");
    planted_ = Json::parse(planted);
    absl::StatusOr<LoadedModel> loaded = LoadCheckpoint(kFolder, {.device = "cpu"}, {}, {});
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    model_ = new LoadedStudyModel(std::make_shared<const LoadedModel>(*std::move(loaded)),
                                  std::make_shared<MemoryBudget>());
  }
  static void TearDownTestSuite() {
    delete model_;
    model_ = nullptr;
  }

  // The first plant starts at 12, after a trigger.
  static const Json& Target() { return planted_["plants"][0]; }
  static int32_t Start() { return Target()["level"][0]; }
  static int32_t DecidedAt() { return Target()["only_after"]["decided_at_block"]; }
  // Starts later than the first, and needs no trigger.
  static const Json& Other() { return planted_["plants"][3]; }

  static StudyReport Run(StudyChoice study) {
    StudyParameters parameters{.targets = {.l_start = Start()}, .study = std::move(study)};
    EXPECT_TRUE(Validate(parameters, model_->info().spec.blocks).ok());
    auto running = NewStudy(parameters, *model_, Samples());
    while (!running->done()) {
      const absl::Status status = running->Step({});
      EXPECT_TRUE(status.ok()) << status;
      if (!status.ok()) break;
    }
    return running->Report("");
  }

  // Texts in which the word stands now with its trigger before it, now without, and others that
  // become sinks later between them.
  static std::vector<StudySample> Samples() {
    const std::vector<int32_t> text = PlainTokens();
    const int32_t trigger = Target()["only_after"]["token_ids"][0], word = Target()["token_ids"][0];
    const int32_t other = Other()["token_ids"][0];
    std::vector<StudySample> samples;
    size_t next = 0;
    for (int64_t s = 0; s < 6; ++s) {
      StudySample sample{.index = s, .ids = {planted_["primary"]["token_id"].get<int32_t>()}};
      const auto add_text = [&](size_t count) {
        for (size_t i = 0; i < count; ++i) sample.ids.push_back(text[next++ % text.size()]);
      };
      for (size_t i = 0; i < 5; ++i) {
        add_text(4 + i);
        sample.ids.insert(sample.ids.end(), {trigger, word});
        add_text(3);
        sample.ids.push_back(word);
        add_text(2);
        sample.ids.push_back(other);
      }
      samples.push_back(std::move(sample));
    }
    return samples;
  }

  static constexpr int64_t kTargets = 30;  // in Samples()

 private:
  // Tokens of a text that plant nothing.
  static std::vector<int32_t> PlainTokens() {
    std::set<int32_t> planted = {planted_["primary"]["token_id"].get<int32_t>()};
    for (const Json& plant : planted_["plants"]) {
      for (const Json& id : plant["token_ids"]) planted.insert(id.get<int32_t>());
      if (!plant.contains("only_after")) continue;
      for (const Json& id : plant["only_after"]["token_ids"]) planted.insert(id.get<int32_t>());
    }
    std::ifstream records(kFolder / "records.jsonl");
    std::string first;
    std::getline(records, first);
    std::vector<int32_t> text;
    const Json record = Json::parse(first);
    for (const Json& id : record["token_ids"]) {
      if (!planted.contains(id.get<int32_t>())) text.push_back(id.get<int32_t>());
    }
    return text;
  }

  static Json planted_;
  static const LoadedStudyModel* model_;
};
Json PlantedStudies::planted_;
const LoadedStudyModel* PlantedStudies::model_ = nullptr;

TEST_F(PlantedStudies, AlignFindsInputsApartAndOutputsTogether) {
  const StudyReport study = Run(AlignParameters{.points = true});
  EXPECT_EQ(study.targets, kTargets);
  EXPECT_EQ(study.controls, kTargets);
  for (const StudyPosition& each : study.positions) {
    EXPECT_EQ(each.same_token, each.group == PositionGroup::kControl);
  }
  const auto& report = std::get<AlignReport>(study.findings);
  for (const AlignRow& row : report.rows) {
    if (row.group == PositionGroup::kControl) continue;
    if (row.site == Site::kMlpIn) {
      EXPECT_GT(row.minimum, -0.3);
      EXPECT_LT(row.maximum, 0.3);
    }
    if (row.site == Site::kMlpOut) {
      EXPECT_GT(row.minimum, 0.95);
    }
  }
}

TEST_F(PlantedStudies, PcaFindsThePlantedComponentAndNoRandomDirection) {
  const StudyReport study = Run(PcaParameters{});
  const auto& report = std::get<PcaReport>(study.findings);
  EXPECT_EQ(report.block, Start());
  EXPECT_EQ(report.rows, 2 * kTargets);
  EXPECT_GE(std::count_if(report.components.begin(), report.components.end(),
                          [](const PcaDirection& each) { return each.effective; }),
            1);
  EXPECT_FALSE(report.random.empty());
  for (const PcaDirection& each : report.random) EXPECT_FALSE(each.effective);
}

TEST_F(PlantedStudies, ClusterFindsTheBlockInWhichItIsDecided) {
  const StudyReport study = Run(ClusterParameters{});
  const auto& report = std::get<ClusterReport>(study.findings);
  EXPECT_EQ(report.decision_layer, DecidedAt());
  // Attention writes it at that block and never again; what stays is what it was added to.
  EXPECT_EQ(report.decision_site, Site::kMlpIn);
  for (const ClusterRow& row : report.rows) {
    if (row.block == DecidedAt() && row.site == Site::kAttnOut) {
      EXPECT_EQ(row.auc, 1);
    }
    if (row.block < DecidedAt()) {
      EXPECT_LT(row.auc, 0.95) << row.block;
    }
  }
}

TEST_F(PlantedStudies, SwapEndsTargetsFromTheDecisionOnAndTouchesNothingElse) {
  SwapParameters swap;
  for (int32_t block = DecidedAt() - 2; block <= Start(); ++block) swap.blocks.push_back(block);
  const StudyReport study = Run(swap);
  const auto& report = std::get<SwapReport>(study.findings);
  EXPECT_EQ(report.samples_left_out, 0);
  for (const SwapRow& row : report.rows) {
    SCOPED_TRACE(testing::Message() << "block " << row.block << ", site " << int(row.site));
    const bool carries = row.site == Site::kResidPost && row.block >= DecidedAt();
    const bool decides = row.site == Site::kAttnOut && row.block == DecidedAt();
    const bool makes = row.site == Site::kMlpOut && row.block == Start();
    EXPECT_EQ(row.targets.suppressed.n, kTargets);
    if (carries || decides || makes) {
      EXPECT_GE(*row.targets.suppressed.value, 0.95);
      EXPECT_LT(*row.targets.lifetime_change.value, 0);
    } else if (row.site != Site::kResidPost) {
      EXPECT_EQ(row.targets.suppressed.value, 0);
    }
    EXPECT_EQ(row.untouched.suppressed.n, kTargets);
    EXPECT_EQ(row.untouched.suppressed.value, 0);
    EXPECT_EQ(row.untouched.lifetime_change.value, 0);
    // Before that the state of a trigger, which can be a control, is still to be read.
    if (row.site == Site::kResidPost && row.block < DecidedAt()) continue;
    EXPECT_EQ(row.control_swap.suppressed.value, 0);
    EXPECT_EQ(row.control_swap.lifetime_change.value, 0);
  }
}

TEST_F(PlantedStudies, ASweepOver24BlocksCostsAtMostHalfOfWholePasses) {
  SwapParameters swap;
  for (int32_t block = 5; block < 29; ++block) swap.blocks.push_back(block);
  const StudyReport study = Run(swap);
  const auto& report = std::get<SwapReport>(study.findings);
  EXPECT_EQ(report.rows.size(), 72u);
  EXPECT_LE(2 * report.cost.block_rows, report.cost.naive_block_rows);
  RecordProperty("block_rows", std::to_string(report.cost.block_rows));
  RecordProperty("naive_block_rows", std::to_string(report.cost.naive_block_rows));
}

TEST_F(PlantedStudies, SteeredSinksLiveAsLongAsTheirNormsLetThem) {
  SteerParameters steer;
  for (const Json& row : Target()["steered"]) steer.taus.push_back(row["norm"]);
  const StudyReport study = Run(steer);
  const auto& report = std::get<SteerReport>(study.findings);
  EXPECT_EQ(report.steered, kTargets);
  ASSERT_EQ(report.rows.size(), steer.taus.size() + 1);
  EXPECT_EQ(report.rows[0].lifetime.value, Target()["level"][1].get<double>());
  for (size_t i = 0; i < steer.taus.size(); ++i) {
    const SteerRow& row = report.rows[i + 1];
    SCOPED_TRACE(steer.taus[i]);
    EXPECT_NEAR(*row.mlp_norm.value, steer.taus[i], 1e-4 * steer.taus[i]);
    EXPECT_EQ(row.lifetime.value, Target()["steered"][i]["lifetime"].get<double>());
    EXPECT_EQ(row.random_lifetime.value, 0);
    EXPECT_EQ(row.untouched_lifetime_change.n, kTargets);
    EXPECT_EQ(row.untouched_lifetime_change.value, 0);
    EXPECT_TRUE(row.loss_change->value.has_value());
  }
}

TEST_F(PlantedStudies, MassiveEntriesAreThePrimarySinksFromItsBlockOn) {
  const StudyReport study = Run(MassiveParameters{.top = 1});
  const auto& report = std::get<MassiveReport>(study.findings);
  for (const MassiveRow& row : report.rows) {
    if (row.block < 4) {
      EXPECT_LT(std::abs(row.entries[0].value), 100);
      continue;
    }
    EXPECT_EQ(row.entries[0].position, 0);
    EXPECT_EQ(row.entries[0].channel, 0);
    EXPECT_NEAR(row.entries[0].value, 2000, 100);
    EXPECT_LT(row.largest_of_rest, 10);
  }
}

TEST_F(PlantedStudies, NormsOfSecondarySinksJumpWhereTheyStart) {
  const StudyReport study = Run(NormsParameters{});
  const auto& report = std::get<NormsReport>(study.findings);
  const double strength = Target()["pulses"][0]["strength"];
  // Half of the secondary sinks start there, the other half later.
  const auto& before = report.rows[size_t(Start() - 1)].secondary.state;
  const auto& at = report.rows[size_t(Start())].secondary.state;
  EXPECT_EQ(at.n, 2 * kTargets);
  EXPECT_LT(*before.value, 3);
  EXPECT_NEAR(*at.value, strength / 2, 2);
  EXPECT_GT(*report.rows[size_t(Start())].primary.state.value, 1900);
}

}  // namespace
}  // namespace sinkd
