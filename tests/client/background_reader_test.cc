#include "client/cli/input/background_reader.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

namespace sinkd::cli {
namespace {

class BackgroundReaderTest : public ::testing::Test {
 protected:
  BackgroundReaderTest() {
    char path[] = "/tmp/background_reader_XXXXXX";
    const int descriptor = mkstemp(path);
    close(descriptor);
    path_ = path;
  }
  ~BackgroundReaderTest() override { unlink(path_.c_str()); }

  InputOptions Lines(int count) {
    std::ofstream out(path_);
    for (int i = 0; i < count; ++i) out << "line " << i << "\n";
    return {.files = {path_}, .format = InputFormat::kText, .lines = true};
  }

  static std::string TextOf(const std::optional<InputItem>& item) {
    return item ? std::get<InputSample>(*item).sample.text().text() : "nothing";
  }

  std::string path_;
};

TEST_F(BackgroundReaderTest, GivesEveryItemInOrderThenNothing) {
  SampleReader samples(Lines(3));
  BackgroundReader reader(samples);
  for (const char* text : {"line 0", "line 1", "line 2", "nothing", "nothing"}) {
    EXPECT_EQ(TextOf(reader.Next()), text);
  }
}

TEST_F(BackgroundReaderTest, LosesNothingWhenItIsReleased) {
  SampleReader samples(Lines(3));
  BackgroundReader reader(samples);
  EXPECT_EQ(TextOf(reader.Next()), "line 0");
  reader.Release();
  EXPECT_EQ(TextOf(reader.Next()), "nothing");
  reader.Rearm();
  EXPECT_EQ(TextOf(reader.Next()), "line 1");
  EXPECT_EQ(TextOf(reader.Next()), "line 2");
}

TEST_F(BackgroundReaderTest, ReleasesWhoWaitsForAPipe) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  InputOptions options{.files = {"/dev/fd/" + std::to_string(pipe_ends[0])},
                       .format = InputFormat::kText,
                       .lines = true};
  SampleReader samples(options);
  BackgroundReader reader(samples);
  std::thread waiting([&reader] { EXPECT_EQ(TextOf(reader.Next()), "nothing"); });
  reader.Release();
  waiting.join();
  reader.Rearm();
  ASSERT_EQ(write(pipe_ends[1], "late\n", 5), 5);
  EXPECT_EQ(TextOf(reader.Next()), "late");
  close(pipe_ends[1]);
  EXPECT_EQ(TextOf(reader.Next()), "nothing");
  close(pipe_ends[0]);
}

}  // namespace
}  // namespace sinkd::cli
