#include <zlib.h>

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "server/http/page/page.h"

namespace sinkd {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// What zlib makes of a gzip stream; empty when it is none.
std::string Inflate(std::string_view gzip, size_t size) {
  std::string text(size, '\0');
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(gzip.data()));
  stream.avail_in = static_cast<uInt>(gzip.size());
  stream.next_out = reinterpret_cast<Bytef*>(text.data());
  stream.avail_out = static_cast<uInt>(text.size());
  constexpr int kGzip = 16 + MAX_WBITS;
  if (inflateInit2(&stream, kGzip) != Z_OK) return {};
  const int result = inflate(&stream, Z_FINISH);
  inflateEnd(&stream);
  return result == Z_STREAM_END && stream.avail_out == 0 ? text : std::string();
}

class PageBytesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (page_.html.empty()) GTEST_SKIP() << "built without the page";
  }
  const Page page_ = BuiltPage();
};

TEST_F(PageBytesTest, TheCompressedPageIsThePage) {
  EXPECT_TRUE(Inflate(page_.gzip, page_.html.size()) == page_.html);
  EXPECT_LT(page_.gzip.size(), page_.html.size() / 2);
}

TEST_F(PageBytesTest, APlaceForAReportsDataIsThereOnce) {
  const size_t place = page_.html.find(kPageDataSlot);
  ASSERT_NE(place, std::string_view::npos);
  EXPECT_EQ(page_.html.find(kPageDataSlot, place + 1), std::string_view::npos);
}

TEST_F(PageBytesTest, NothingIsLoadedFromElsewhere) {
  const std::string html(page_.html);
  EXPECT_THAT(html, Not(HasSubstr("<script type=\"module\" src")));
  EXPECT_THAT(html, Not(HasSubstr("<link rel=\"stylesheet\"")));
  EXPECT_THAT(std::string(page_.policy), HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_EQ(page_.digest.size(), 32U);
}

}  // namespace
}  // namespace sinkd
