#include "server/service/analyze/codec_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_catalog.h"

namespace sinkd {
namespace {

SampleRecord RecordWithSinks(int count) {
  SampleRecord record;
  record.sample_index = 7;
  record.sample_id = "seven";
  record.layers = 6;
  record.positions = 1000;
  record.primary.layers = {1, 2};
  for (int i = 0; i < count; ++i) {
    Sink& sink = record.sinks.emplace_back();
    sink.position = i + 1;
    sink.token_text = " the";
    sink.kind = SinkKind::kSecondary;
    sink.level = {.l_start = 2, .lifetime = 2};
    sink.layers = {2, 3};
    sink.score_curve = std::vector<float>(50, 0.5F);
  }
  return record;
}

TEST(CodecRecord, ASmallRecordIsOneMessage) {
  const std::vector<sinks::v1::SampleRecord> parts = EncodeRecord(RecordWithSinks(2));
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].sample_index(), 7);
  EXPECT_EQ(parts[0].sample_id(), "seven");
  EXPECT_EQ(parts[0].sinks_size(), 2);
  EXPECT_EQ(parts[0].sinks(0).kind(), sinks::v1::SINK_KIND_SECONDARY);
  EXPECT_EQ(parts[0].sinks(1).layers(1), 3);
  EXPECT_FALSE(parts[0].has_continued());
  EXPECT_FALSE(parts[0].has_compensation());
  EXPECT_FALSE(parts[0].sinks(0).has_score());
  EXPECT_EQ(parts[0].learned_sink_mass_size(), 0);
}

TEST(CodecRecord, TheMassOfLearnedSinksComesOnceWithTheFirstPart) {
  SampleRecord record = RecordWithSinks(100);
  record.learned_sink_mass = {0, 0.125F, 0.25F, 0.5F, 0.75F, 1};
  const std::vector<sinks::v1::SampleRecord> parts = EncodeRecord(record, 4096);
  ASSERT_GT(parts.size(), 1u);
  EXPECT_THAT(parts[0].learned_sink_mass(), ::testing::ElementsAreArray(record.learned_sink_mass));
  for (size_t i = 1; i < parts.size(); ++i) EXPECT_EQ(parts[i].learned_sink_mass_size(), 0);
  sinks::v1::SampleRecord read;
  ASSERT_TRUE(read.ParseFromString(parts[0].SerializeAsString()));
  EXPECT_THAT(read.learned_sink_mass(), ::testing::ElementsAreArray(record.learned_sink_mass));
}

TEST(CodecRecord, APortraitIsSentWhole) {
  SampleRecord record = RecordWithSinks(1);
  record.portrait = {.token_texts = {"a", " b"}, .columns = 2, .state_norms = {1, 2, 3, 4}};
  const sinks::v1::Portrait portrait = EncodeRecord(record).front().portrait();
  EXPECT_THAT(portrait.token_texts(), ::testing::ElementsAre("a", " b"));
  EXPECT_EQ(portrait.columns(), 2);
  EXPECT_THAT(portrait.state_norms(), ::testing::ElementsAre(1, 2, 3, 4));
}

TEST(CodecRecord, ALargeRecordComesInPartsThatJoinToTheWhole) {
  constexpr size_t kLimit = 4096;
  const SampleRecord record = RecordWithSinks(100);
  const std::vector<sinks::v1::SampleRecord> parts = EncodeRecord(record, kLimit);
  ASSERT_GT(parts.size(), 3u);
  sinks::v1::SampleRecord joined = parts[0];
  for (size_t i = 0; i < parts.size(); ++i) {
    EXPECT_LE(parts[i].ByteSizeLong(), kLimit);
    EXPECT_EQ(parts[i].continued(), i + 1 < parts.size());
    EXPECT_EQ(parts[i].sample_index(), 7);
    EXPECT_GT(parts[i].sinks_size(), 0);
    if (i > 0) joined.mutable_sinks()->MergeFrom(parts[i].sinks());
  }
  joined.clear_continued();
  EXPECT_EQ(joined.SerializeAsString(),
            EncodeRecord(record, size_t{1} << 30).front().SerializeAsString());
}

TEST(CodecRecord, APartHoldsAtLeastOneSink) {
  EXPECT_EQ(EncodeRecord(RecordWithSinks(3), 1).size(), 3u);
}

TEST(CodecRecord, ChunksOfAlphaStayUnderTheLimit) {
  EXPECT_EQ(HeadsPerChunk(1000, 64 + 8000), 2);
  EXPECT_EQ(HeadsPerChunk(10000000, 1 << 20), 1);
  const Trace trace = testing::MakeTrace(TokenIds(100, 1), {});
  const sinks::v1::AlphaChunk chunk = EncodeAlpha({}, trace, 3, 5, 1, 1);
  EXPECT_EQ(chunk.sample_index(), 3);
  EXPECT_EQ(chunk.block(), 5);
  EXPECT_EQ(chunk.first_head(), 1);
  EXPECT_EQ(chunk.heads(), 1);
  EXPECT_EQ(chunk.positions(), 100);
  ASSERT_EQ(chunk.values_size(), 100);
  // Even attention: alpha[T-1] = A[T-1, T-1] = 1 / T.
  EXPECT_FLOAT_EQ(chunk.values(99), 0.01F);
}

}  // namespace
}  // namespace sinkd
