// TemporaryFolder: a checkpoint folder that a test fills, removed with the object.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "server/tokenizer/tokenizer.h"

namespace sinkd::testing {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  TemporaryFolder& Write(std::string_view name, std::string_view content);
  // A tokenizer.json of single bytes, and the chat template, if any.
  TemporaryFolder& WriteTokenizer();
  TemporaryFolder& WriteTemplate(std::string_view text);

 private:
  std::filesystem::path path_;
};

}  // namespace sinkd::testing
