#include "tests/tokenizer/temporary_folder.h"

#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sinkd::testing {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = ::testing::TempDir() + "sinkd_tokenizer_XXXXXX";
  path_ = mkdtemp(pattern.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

TemporaryFolder& TemporaryFolder::Write(std::string_view name, std::string_view content) {
  std::filesystem::create_directories((path_ / name).parent_path());
  std::ofstream(path_ / name, std::ios::binary) << content;
  return *this;
}

TemporaryFolder& TemporaryFolder::WriteTokenizer() {
  nlohmann::json vocabulary;
  for (int c = '!'; c <= '~'; ++c) vocabulary[std::string(1, static_cast<char>(c))] = c - '!';
  vocabulary["Ġ"] = '~' - '!' + 1;
  vocabulary["Ċ"] = '~' - '!' + 2;
  const nlohmann::json byte_level = {{"type", "ByteLevel"},
                                     {"add_prefix_space", false},
                                     {"trim_offsets", true},
                                     {"use_regex", true}};
  const nlohmann::json tokenizer = {
      {"version", "1.0"},
      {"truncation", nullptr},
      {"padding", nullptr},
      {"added_tokens", nlohmann::json::array()},
      {"normalizer", nullptr},
      {"pre_tokenizer", byte_level},
      {"post_processor", nullptr},
      {"decoder", byte_level},
      {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", nlohmann::json::array()}}}};
  return Write("tokenizer.json", tokenizer.dump());
}

TemporaryFolder& TemporaryFolder::WriteTemplate(std::string_view text) {
  WriteTokenizer();
  return Write("chat_template.jinja", text);
}

}  // namespace sinkd::testing
