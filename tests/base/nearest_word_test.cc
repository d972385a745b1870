#include "server/base/nearest_word.h"

#include <gtest/gtest.h>

#include <array>

namespace sinkd {
namespace {

TEST(NearestWord, TakesLettersInsertedDeletedReplacedAndSwapped) {
  const std::vector<std::string> known = {"detect", "levels", "scores"};
  for (const char* word : {"detec", "dettect", "detekt", "detcet", "edtect", "detects"}) {
    EXPECT_EQ(NearestWord(word, known), "detect") << word;
  }
  EXPECT_EQ(NearestWord("lvels", known), "levels");
}

TEST(NearestWord, OffersOnlyWhatIsNear) {
  const std::array<const char*, 3> known = {"at_least", "at_most", "y"};
  EXPECT_EQ(NearestWord("unrelated", known), "");
  EXPECT_EQ(NearestWord("at_lost", known), "at_most") << "one letter, not two";
  EXPECT_EQ(NearestWord("", known), "y");
  EXPECT_EQ(NearestWord("ab", known), "");
  EXPECT_EQ(NearestWord("word", std::vector<std::string>()), "");
  EXPECT_EQ(NearestWord(std::string(65, 'y'), known), "");
  // Two of six letters are a third; three are more.
  EXPECT_EQ(NearestWord("abcdxy", std::array{"abcdef"}), "abcdef");
  EXPECT_EQ(NearestWord("abcxyz", std::array{"abcdef"}), "");
}

TEST(NearestWord, TakesTheBeginningOfALongerWord) {
  const std::array<const char*, 2> known = {"smollm2-135m-instruct", "smollm2-360m"};
  EXPECT_EQ(NearestWord("smollm2-135m", known), "smollm2-135m-instruct") << "not smollm2-360m";
  EXPECT_EQ(NearestWord("smo", known), "smollm2-360m") << "the shortest";
  EXPECT_EQ(NearestWord("sm", known), "");
}

TEST(NearestWord, AsksWhatWasMeant) {
  EXPECT_EQ(DidYouMean("jsn", std::array{"json", "csv"}), "; did you mean \"json\"?");
  EXPECT_EQ(DidYouMean("xml", std::array{"json", "csv"}), "");
}

}  // namespace
}  // namespace sinkd
