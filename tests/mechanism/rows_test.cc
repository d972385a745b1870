#include "server/mechanism/rows.h"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sinkd {
namespace {

using Row = std::vector<float>;

TEST(Rows, HaveNormsAndCosines) {
  EXPECT_DOUBLE_EQ(Norm(Row{3, 4}), 5);
  EXPECT_DOUBLE_EQ(Cosine(Row{3, 4}, Row{-6, -8}), -1);
  EXPECT_DOUBLE_EQ(Cosine(Row{1, 1}, Row{1, 0}), 1 / std::sqrt(2.0));
}

TEST(Rows, OfZerosPointNowhere) {
  EXPECT_EQ(Cosine(Row{0, 0}, Row{1, 0}), 0);
}

TEST(Rows, WhoseSquaresVanishAreZero) {
  EXPECT_EQ(Norm(Row{1e-30f, 0}), 0);
  EXPECT_EQ(Cosine(Row{1e-30f, 0}, Row{1, 0}), 0);
  EXPECT_GT(Norm(Row{1e-18f, 0}), 0);
}

TEST(Rows, HaveAMean) {
  EXPECT_THAT(MeanRow({3, 2, {1, 10, 2, 20, 6, 30}}), testing::ElementsAre(3, 20));
}

}  // namespace
}  // namespace sinkd
