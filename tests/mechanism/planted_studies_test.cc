// Studies of a checkpoint whose causes are known: a word becomes a sink only after its trigger,
// which attention sees three blocks before the MLP makes it one (tests/testing/planted.py).
#include <fstream>
#include <numeric>
#include <set>

#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/mechanism/loaded_study_model.h"
#include "server/mechanism/study.h"
#include "server/models/checkpoint_loader.h"
#include "tests/mechanism/toy_study.h"

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

  // Swaps at the blocks from the first to the last.
  static std::string SwapOf(int32_t first, int32_t last) {
    std::string blocks;
    for (int32_t block = first; block <= last; ++block)
      absl::StrAppend(&blocks, " blocks: ", block);
    return absl::StrCat("swap {", blocks, " }");
  }

  // The first plant starts at 12, after a trigger.
  static const Json& Target() { return planted_["plants"][0]; }
  static int32_t Start() { return Target()["level"][0]; }
  static int32_t DecidedAt() { return Target()["only_after"]["decided_at_block"]; }
  // Starts later than the first, and needs no trigger.
  static const Json& Other() { return planted_["plants"][3]; }

  static v1::StudyReport Run(const std::string& study) {
    const v1::RunStudyRequest request =
        Ask(absl::StrCat("targets { l_start: ", Start(), " } ", study));
    EXPECT_TRUE(CheckStudy(request, model_->info().spec.blocks).ok());
    auto running = NewStudy(request, *model_, Samples());
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
  const v1::StudyReport study = Run("align { points: true }");
  EXPECT_EQ(study.targets(), kTargets);
  EXPECT_EQ(study.controls(), kTargets);
  for (const v1::StudyPosition& each : study.positions()) {
    EXPECT_EQ(each.same_token(), each.group() == v1::POSITION_GROUP_CONTROL);
  }
  const auto& report = study.align();
  for (const v1::AlignRow& row : report.rows()) {
    if (row.group() == v1::POSITION_GROUP_CONTROL) continue;
    if (row.site() == v1::SITE_MLP_IN) {
      EXPECT_GT(row.minimum(), -0.3);
      EXPECT_LT(row.maximum(), 0.3);
    }
    if (row.site() == v1::SITE_MLP_OUT) {
      EXPECT_GT(row.minimum(), 0.95);
    }
  }
}

TEST_F(PlantedStudies, PcaFindsThePlantedComponentAndNoRandomDirection) {
  const v1::StudyReport study = Run("pca {}");
  const auto& report = study.pca();
  EXPECT_EQ(report.block(), Start());
  EXPECT_EQ(report.rows(), 2 * kTargets);
  EXPECT_GE(std::count_if(report.components().begin(), report.components().end(),
                          [](const v1::PcaDirection& each) { return each.effective(); }),
            1);
  EXPECT_FALSE(report.random().empty());
  for (const v1::PcaDirection& each : report.random()) EXPECT_FALSE(each.effective());
}

TEST_F(PlantedStudies, ClusterFindsTheBlockInWhichItIsDecided) {
  const v1::StudyReport study = Run("cluster {}");
  const auto& report = study.cluster();
  EXPECT_EQ(report.decision_layer(), DecidedAt());
  // Attention writes it at that block and never again; what stays is what it was added to.
  EXPECT_EQ(report.decision_site(), v1::SITE_MLP_IN);
  for (const v1::ClusterRow& row : report.rows()) {
    if (row.block() == DecidedAt() && row.site() == v1::SITE_ATTN_OUT) {
      EXPECT_EQ(row.auc(), 1);
    }
    if (row.block() < DecidedAt()) {
      EXPECT_LT(row.auc(), 0.95) << row.block();
    }
  }
}

TEST_F(PlantedStudies, SwapEndsTargetsFromTheDecisionOnAndTouchesNothingElse) {
  const v1::StudyReport study = Run(SwapOf(DecidedAt() - 2, Start()));
  const auto& report = study.swap();
  EXPECT_EQ(report.samples_left_out(), 0);
  for (const v1::SwapRow& row : report.rows()) {
    SCOPED_TRACE(testing::Message() << "block " << row.block() << ", site " << int(row.site()));
    const bool carries = row.site() == v1::SITE_RESID_POST && row.block() >= DecidedAt();
    const bool decides = row.site() == v1::SITE_ATTN_OUT && row.block() == DecidedAt();
    const bool makes = row.site() == v1::SITE_MLP_OUT && row.block() == Start();
    EXPECT_EQ(row.targets().suppressed().n(), kTargets);
    if (carries || decides || makes) {
      EXPECT_GE(*ValueOf(row.targets().suppressed()), 0.95);
      EXPECT_LT(*ValueOf(row.targets().lifetime_change()), 0);
    } else if (row.site() != v1::SITE_RESID_POST) {
      EXPECT_EQ(ValueOf(row.targets().suppressed()), 0);
    }
    EXPECT_EQ(row.untouched().suppressed().n(), kTargets);
    EXPECT_EQ(ValueOf(row.untouched().suppressed()), 0);
    EXPECT_EQ(ValueOf(row.untouched().lifetime_change()), 0);
    // Before that the state of a trigger, which can be a control, is still to be read.
    if (row.site() == v1::SITE_RESID_POST && row.block() < DecidedAt()) continue;
    EXPECT_EQ(ValueOf(row.control_swap().suppressed()), 0);
    EXPECT_EQ(ValueOf(row.control_swap().lifetime_change()), 0);
  }
}

TEST_F(PlantedStudies, ASweepOver24BlocksCostsAtMostHalfOfWholePasses) {
  const v1::StudyReport study = Run(SwapOf(5, 28));
  const auto& report = study.swap();
  EXPECT_EQ(report.rows().size(), 72);
  EXPECT_LE(2 * report.cost().block_rows(), report.cost().naive_block_rows());
  RecordProperty("block_rows", std::to_string(report.cost().block_rows()));
  RecordProperty("naive_block_rows", std::to_string(report.cost().naive_block_rows()));
}

TEST_F(PlantedStudies, SteeredSinksLiveAsLongAsTheirNormsLetThem) {
  std::vector<double> taus;
  for (const Json& row : Target()["steered"]) taus.push_back(row["norm"]);
  const v1::StudyReport study =
      Run(absl::StrCat("steer { taus: [", absl::StrJoin(taus, ","), "] }"));
  const auto& report = study.steer();
  EXPECT_EQ(report.steered(), kTargets);
  ASSERT_EQ(report.rows().size(), std::ssize(taus) + 1);
  EXPECT_EQ(ValueOf(report.rows()[0].lifetime()), Target()["level"][1].get<double>());
  for (int i = 0; i < std::ssize(taus); ++i) {
    const v1::SteerRow& row = report.rows()[i + 1];
    SCOPED_TRACE(taus[size_t(i)]);
    EXPECT_NEAR(*ValueOf(row.mlp_norm()), taus[size_t(i)], 1e-4 * taus[size_t(i)]);
    EXPECT_EQ(ValueOf(row.lifetime()), Target()["steered"][size_t(i)]["lifetime"].get<double>());
    EXPECT_EQ(ValueOf(row.random_lifetime()), 0);
    EXPECT_EQ(row.untouched_lifetime_change().n(), kTargets);
    EXPECT_EQ(ValueOf(row.untouched_lifetime_change()), 0);
    EXPECT_TRUE(ValueOf(row.loss_change()).has_value());
  }
}

// Sinks are sinks by their direction alone, which the primary sink's MLP writes; nothing in the
// stream comes from the primary sink.
TEST_F(PlantedStudies, SinksVanishWithTheirDirectionAndNotWithTheAttentionToThem) {
  const v1::StudyReport study = Run(
      "ablate { ablations: [ABLATION_HIDE_KEYS, ABLATION_ZERO_VALUES, ABLATION_REMOVE_DIRECTION] "
      "levels: 0 }");
  for (const v1::AblateRow& row : study.ablate().rows()) {
    SCOPED_TRACE(row.ShortDebugString().substr(0, 120));
    const bool direction = row.ablation() == v1::ABLATION_REMOVE_DIRECTION;
    const bool self = row.role() == v1::ABLATION_ROLE_SELF;
    const bool primary = row.group() == v1::ABLATED_GROUP_PRIMARY;
    // A control beside the primary sink can be a trigger, which is still to be read.
    if (primary && !self && !direction) continue;
    EXPECT_EQ(ValueOf(row.vanished()), direction && self && primary ? 1 : 0);
    EXPECT_EQ(row.vanished().n(), self && !primary ? kTargets : 2 * kTargets);
    EXPECT_EQ(ValueOf(row.appeared()), 0);
    EXPECT_EQ(row.has_suppressed(), self && !primary);
    if (row.has_suppressed()) {
      EXPECT_EQ(ValueOf(row.suppressed()), direction ? 1 : 0);
    }
    if (!self) {
      EXPECT_NEAR(*ValueOf(row.loss_change()), 0, 1e-4);
    }
  }
  EXPECT_EQ(study.controls(), 6 + kTargets + kTargets);
}

TEST_F(PlantedStudies, OneHeadAloneDecidesWhichWordsBecomeSinks) {
  const v1::StudyReport study = Run("ablate { ablations: ABLATION_ZERO_HEAD heads: 100 }");
  int deciding = 0;
  for (const v1::AblateRow& row : study.ablate().rows()) {
    // Without the head that sees triggers, no word that waits for one becomes a sink.
    if (ValueOf(row.vanished()) == 0) continue;
    EXPECT_EQ(row.block(), DecidedAt());
    EXPECT_EQ(ValueOf(row.vanished()), 0.5);
    ++deciding;
  }
  EXPECT_EQ(deciding, 1);
}

TEST_F(PlantedStudies, MassiveEntriesAreThePrimarySinksFromItsBlockOn) {
  const v1::StudyReport study = Run("massive { top: 1 }");
  const auto& report = study.massive();
  for (const v1::MassiveRow& row : report.rows()) {
    if (row.block() < 4) {
      EXPECT_LT(std::abs(row.entries()[0].value()), 100);
      continue;
    }
    EXPECT_EQ(row.entries()[0].position(), 0);
    EXPECT_EQ(row.entries()[0].channel(), 0);
    EXPECT_NEAR(row.entries()[0].value(), 2000, 100);
    EXPECT_LT(row.largest_of_rest(), 10);
  }
}

TEST_F(PlantedStudies, NormsOfSecondarySinksJumpWhereTheyStart) {
  const v1::StudyReport study = Run("norms {}");
  const auto& report = study.norms();
  const double strength = Target()["pulses"][0]["strength"];
  // Half of the secondary sinks start there, the other half later.
  const auto& before = report.rows()[Start() - 1].secondary().state();
  const auto& at = report.rows()[Start()].secondary().state();
  EXPECT_EQ(at.n(), 2 * kTargets);
  EXPECT_LT(*ValueOf(before), 3);
  EXPECT_NEAR(*ValueOf(at), strength / 2, 2);
  EXPECT_GT(*ValueOf(report.rows()[Start()].primary().state()), 1900);
}

}  // namespace
}  // namespace sinkd
