#include "server/service/models/codec_family.h"

#include <gtest/gtest.h>

namespace sinkd {
namespace {

TEST(CodecFamily, SaysAllThatIsKnownOfAFamily) {
  const SiteDifference differences[] = {{"resid_post", 0.5, 0.75}, {"alpha", 0.25, 0}};
  const KnownModel models[] = {{"org/one", 7, 14}};
  const FamilyFacts families[] = {{.model_type = "one",
                                   .models = "One 1, One 2",
                                   .particular = "nothing",
                                   .finding = "sinks",
                                   .reference = "reference 1.0",
                                   .differences = differences,
                                   .known_models = models},
                                  {.model_type = "two"}};
  const sinks::v1::ListFamiliesResponse response = EncodeFamilies(families);
  ASSERT_EQ(response.families_size(), 2);
  EXPECT_EQ(response.families(0).ShortDebugString(),
            "model_type: \"one\" models: \"One 1, One 2\" particular: \"nothing\" "
            "finding: \"sinks\" reference: \"reference 1.0\" "
            "differences { site: \"resid_post\" float32_difference: 0.5 bfloat16_ratio: 0.75 } "
            "differences { site: \"alpha\" float32_difference: 0.25 } "
            "known_models { name: \"org/one\" parameters: 7 weight_bytes: 14 }");
  EXPECT_FALSE(response.families(1).has_finding());
}

}  // namespace
}  // namespace sinkd
