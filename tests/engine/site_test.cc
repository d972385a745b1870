// Every tap of every block against transformers (eager), and the figures that are told about it.
#include <algorithm>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "server/engine/families/family.h"
#include "server/engine/families/family_differences.h"
#include "tests/engine/oracle_files.h"
#include "tests/engine/parity_cases.h"
#include "tests/engine/site_differences.h"

namespace sinkd::testing {
namespace {

constexpr double kTolerance = 2e-5;       // of a row, relative to its norm
constexpr double kAlphaTolerance = 1e-5;  // absolute, of column means
constexpr double kBfloat16Slack = 1.2;
// Processors, and the libraries that multiply on them, sum in different orders.
constexpr double kOtherMachine = 4;

class Sites : public ::testing::TestWithParam<ParityCase> {};

TEST_P(Sites, EqualTransformersAsTold) {
  const auto found = DifferencesOfCase(GetParam());
  ASSERT_TRUE(found.ok()) << found.status();
  const auto told = DifferencesOf(found->family);
  for (const SiteDifference& site : found->differences) {
    SCOPED_TRACE(site.site);
    EXPECT_LE(site.float32, site.site == "alpha" ? kAlphaTolerance : kTolerance);
    EXPECT_LE(site.bfloat16_ratio, kBfloat16Slack);
    const auto committed = std::find_if(
        told.begin(), told.end(), [&](const SiteDifference& t) { return t.site == site.site; });
    ASSERT_NE(committed, told.end()) << "family_differences.cc tells nothing of it";
    EXPECT_LE(site.float32, kOtherMachine * committed->float32);
    EXPECT_LE(site.bfloat16_ratio, kOtherMachine * committed->bfloat16_ratio);
    printf("%-12s %.2e  bfloat16 %.3f\n", std::string(site.site).c_str(), site.float32,
           site.bfloat16_ratio);
  }
}

INSTANTIATE_TEST_SUITE_P(EveryCase, Sites, ::testing::ValuesIn(ParityCases()),
                         [](const auto& test) { return NameOf(test.param); });

TEST(FamilyDifferences, AreToldOfEveryFamily) {
  for (const Family& family : Families()) {
    EXPECT_FALSE(DifferencesOf(family.model_type).empty()) << family.model_type;
  }
}

TEST(ParityCases, AreThoseOfTheOracle) {
  std::vector<std::string> compared, written;
  for (const ParityCase& parity : ParityCases()) compared.push_back(parity.checkpoint);
  for (const std::string folder : {"families", "decoders", "blocks", "tiny"}) {
    const auto cases = nlohmann::json::parse(std::ifstream(OracleFolder() / folder / "cases.json"));
    for (const auto& item : cases) {
      written.push_back(folder + "/" + item["name"].get<std::string>());
    }
  }
  std::sort(compared.begin(), compared.end());
  std::sort(written.begin(), written.end());
  EXPECT_EQ(compared, written);
}

}  // namespace
}  // namespace sinkd::testing
