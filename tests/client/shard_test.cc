#include "client/cli/commands/shard.h"

#include <gtest/gtest.h>

#include "client/cli/input/content_id.h"

namespace sinkd::cli {
namespace {

struct Vector {
  const char* id;
  int64_t of_2, of_3, of_8, of_1000;
};

// By Python: int.from_bytes(hashlib.sha256(id.encode()).digest()[:8], "big") % n.
// docs/corpora.md has them too.
constexpr Vector kVectors[] = {
    {"a", 0, 1, 2, 250},         {"b", 0, 1, 2, 946},
    {"sample-17", 0, 0, 4, 900}, {"prompts.txt", 0, 0, 2, 682},
    {"naïve", 0, 0, 2, 466},     {"content-00000000000000000000000000000000", 1, 1, 5, 285},
};

TEST(Shard, IsThatOfThePublishedVectors) {
  for (const Vector& each : kVectors) {
    SCOPED_TRACE(each.id);
    EXPECT_EQ(ShardOf(each.id, 1), 0);
    EXPECT_EQ(ShardOf(each.id, 2), each.of_2);
    EXPECT_EQ(ShardOf(each.id, 3), each.of_3);
    EXPECT_EQ(ShardOf(each.id, 8), each.of_8);
    EXPECT_EQ(ShardOf(each.id, 1000), each.of_1000);
  }
}

TEST(Shard, IsReadFromIndexAndCount) {
  EXPECT_EQ(ParseShard("0/1")->count, 1);
  EXPECT_EQ(ParseShard("7/8")->index, 7);
  EXPECT_TRUE(ParseShard("99999/100000"));
  for (const char* text : {"", "3", "8/8", "-1/8", "1/0", "0/100001", "a/8", "1/8x", "1/ 8", "/8",
                           "1/8/2", "99999999999999999999/3"}) {
    EXPECT_FALSE(ParseShard(text)) << text;
  }
}

int ShardsThatTake(const InputItem& item, int64_t count) {
  int takers = 0;
  for (int64_t i = 0; i < count; ++i) takers += Shard{i, count}.Takes(item) ? 1 : 0;
  return takers;
}

TEST(Shard, TakesEverySampleOnceWhereverItStands) {
  for (int i = 0; i < 50; ++i) {
    InputSample named;
    named.sample.set_sample_id("s" + std::to_string(i));
    InputSample nameless;
    nameless.sample.mutable_text()->set_text("text " + std::to_string(i));
    EXPECT_EQ(ShardsThatTake(named, 7), 1);
    EXPECT_EQ(ShardsThatTake(nameless, 7), 1);
    const Shard shard{ShardOf(ContentId(nameless.sample), 7), 7};
    nameless.origin = {.source = 3, .line = 100 - i, .end_bytes = 9};
    EXPECT_TRUE(shard.Takes(nameless));
  }
}

TEST(Shard, TakesALineThatCannotBeReadOnceAndSuchAnInputEverywhere) {
  EXPECT_EQ(ShardsThatTake(InputError{"a.jsonl", 3, 1, "no JSON"}, 7), 1);
  EXPECT_EQ(ShardsThatTake(InputError{"a.jsonl", 0, 0, "cannot be read"}, 7), 7);
}

}  // namespace
}  // namespace sinkd::cli
