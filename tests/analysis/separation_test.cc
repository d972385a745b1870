// Separation of groups against scikit-learn.
#include "server/analysis/separation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tests/analysis/oracle_file.h"

namespace sinkd {
namespace {

constexpr double kTolerance = 1e-9;

const Json& Oracle(const char* part) {
  static const Json* const json = new Json(ReadOracle("separation.json"));
  return json->at(part);
}

Matrix MatrixOf(const Json& json) {
  return {.rows = json["rows"], .columns = json["columns"], .values = json["values"]};
}

std::vector<int32_t> Labels(const Json& json) {
  return json.get<std::vector<int32_t>>();
}

void Expect(const SeparationScore& score, const Json& want) {
  EXPECT_EQ(score.undefined, "");
  EXPECT_NEAR(score.value, want.get<double>(), kTolerance);
}

TEST(AdjustedRand, EqualsScikitLearn) {
  for (const Json& data : Oracle("rand")) {
    SCOPED_TRACE(data["name"]);
    Expect(AdjustedRand(Labels(data["a"]), Labels(data["b"])), data["value"]);
    Expect(AdjustedRand(Labels(data["b"]), Labels(data["a"])), data["value"]);
  }
}

TEST(Silhouette, EqualsScikitLearn) {
  for (const Json& data : Oracle("groups")) {
    SCOPED_TRACE(data["name"]);
    Expect(Silhouette(MatrixOf(data["matrix"]), Labels(data["labels"])), data["silhouette"]);
  }
  const Json& many = Oracle("many_groups");
  Expect(Silhouette(MatrixOf(many["matrix"]), Labels(many["labels"])), many["silhouette"]);
}

TEST(AreaUnderCurve, EqualsScikitLearn) {
  for (const Json& data : Oracle("scores")) {
    SCOPED_TRACE(data["name"]);
    const auto scores = data["scores"].get<std::vector<double>>();
    Expect(AreaUnderCurve(scores, Labels(data["labels"])), data["auc"]);
  }
}

TEST(CentroidAuc, EqualsScikitLearnOnItsFolds) {
  for (const Json& data : Oracle("groups")) {
    const Matrix rows = MatrixOf(data["matrix"]);
    const std::vector<int32_t> labels = Labels(data["labels"]);
    for (const Json& split : data["held_out"]) {
      SCOPED_TRACE(data["name"]);
      const std::vector<double> scores = HeldOutScores(rows, labels, Labels(split["folds"]));
      ASSERT_EQ(scores.size(), split["scores"].size());
      const double scale = std::fabs(*std::max_element(scores.begin(), scores.end()));
      for (size_t i = 0; i < scores.size(); ++i) {
        EXPECT_NEAR(scores[i], split["scores"][i].get<double>(), kTolerance * scale);
      }
      // Rows of whole numbers give scores that are equal but for a rounding, in either.
      if (data["name"] != "whole numbers") Expect(AreaUnderCurve(scores, labels), split["auc"]);
    }
  }
}

TEST(CentroidAuc, IsThatOfTheHeldOutScores) {
  for (const Json& data : Oracle("groups")) {
    SCOPED_TRACE(data["name"]);
    const Matrix rows = MatrixOf(data["matrix"]);
    const std::vector<int32_t> labels = Labels(data["labels"]);
    const SeparationScore score = CentroidAuc(rows, labels, 3);
    const auto held_out = HeldOutScores(rows, labels, AssignFolds(labels, 3));
    EXPECT_EQ(score.undefined, "");
    EXPECT_EQ(score.value, AreaUnderCurve(held_out, labels).value);
    EXPECT_TRUE(data["name"] != "apart" || score.value == 1);
  }
}

TEST(AssignFolds, HoldsAsManyOfEachGroupButForOne) {
  std::vector<int32_t> labels(23, 0);
  for (size_t i = 0; i < labels.size(); i += 3) labels[i] = 1;
  const std::vector<int32_t> folds = AssignFolds(labels, 11);
  for (const int32_t label : {0, 1}) {
    std::vector<int64_t> sizes(kCentroidFolds);
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == label) ++sizes.at(static_cast<size_t>(folds[i]));
    }
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    EXPECT_LE(*most - *least, 1);
    EXPECT_GE(*least, 1);
  }
  EXPECT_EQ(folds, AssignFolds(labels, 11));
  EXPECT_NE(folds, AssignFolds(labels, 12));
}

TEST(Separation, SaysWhyItIsUndefined) {
  const Matrix rows{.rows = 4, .columns = 1, .values = {1, 2, 3, 4}};
  const std::vector<int32_t> three = {0, 1, 1}, same = {1, 1, 1, 1}, alone = {1, 2, 3, 4};
  const std::vector<int32_t> none = {0, 0, 0, 0}, mixed = {0, 1, 0, 1};
  EXPECT_EQ(AdjustedRand(three, mixed).undefined, "labels and rows differ in number");
  EXPECT_EQ(Silhouette(rows, three).undefined, "labels and rows differ in number");
  EXPECT_EQ(Silhouette(rows, same).undefined, "fewer than two groups");
  EXPECT_EQ(Silhouette(rows, alone).undefined, "every row is a group of its own");
  const std::vector<double> scores = {1, 2, 3, 4};
  const std::vector<double> infinite = {1, 2, std::numeric_limits<double>::infinity(), 4};
  EXPECT_EQ(AreaUnderCurve(scores, same).undefined, "no controls");
  EXPECT_EQ(AreaUnderCurve(scores, none).undefined, "no targets");
  EXPECT_EQ(AreaUnderCurve(scores, three).undefined, "labels and rows differ in number");
  EXPECT_EQ(AreaUnderCurve(infinite, mixed).undefined, "a value is not finite");
  EXPECT_EQ(CentroidAuc(rows, mixed, 0).undefined, "fewer than 5 targets");
  const Matrix nine{.rows = 9, .columns = 1, .values = {1, 2, 3, 4, 5, 6, 7, 8, 9}};
  const std::vector<int32_t> four_controls = {1, 1, 1, 1, 1, 0, 0, 0, 0};
  EXPECT_EQ(CentroidAuc(nine, four_controls, 0).undefined, "fewer than 5 controls");
  Matrix bad = rows;
  bad.values[2] = std::nanf("");
  EXPECT_EQ(Silhouette(bad, mixed).undefined, "a value is not finite");
  EXPECT_EQ(CentroidAuc(bad, mixed, 0).undefined, "a value is not finite");
  EXPECT_EQ(CentroidAuc(Matrix{}, {}, 0).undefined, "fewer than 5 targets");
}

}  // namespace
}  // namespace sinkd
