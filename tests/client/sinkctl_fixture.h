// SinkctlTest: sinkctl run against a FakeServer, and readers of what it writes.
#pragma once

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/client/fake_server.h"
#include "tests/client/subprocess.h"

namespace sinkd::testing {

class SinkctlTest : public ::testing::Test {
 protected:
  SinkctlTest() {
    // What the developer's shell says must not reach the program.
    for (const char* name : {"SINKCTL_SERVER", "SINKCTL_MODEL", "NO_COLOR"}) unsetenv(name);
    char folder[] = "/tmp/sinkctl_test_XXXXXX";
    folder_ = mkdtemp(folder);
  }
  ~SinkctlTest() override {
    for (const std::string& path : files_) unlink(path.c_str());
    rmdir(folder_.c_str());
  }

  std::vector<std::string> Command(std::vector<std::string> arguments) const {
    std::vector<std::string> command = {SINKCTL_PATH, "--server", server_.address()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return command;
  }
  ProcessResult Run(std::vector<std::string> arguments, const ProcessOptions& options = {}) const {
    return RunProcess(Command(std::move(arguments)), options);
  }
  ProcessResult RunWithInput(std::vector<std::string> arguments, const std::string& input) const {
    ProcessOptions options;
    options.input = input;
    return Run(std::move(arguments), options);
  }
  std::string WriteFile(const std::string& name, const std::string& content) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << content;
    files_.push_back(path);
    return path;
  }

  FakeServer server_;

 private:
  std::string folder_;
  std::vector<std::string> files_;
};

// The rows of an RFC 4180 text; fails the test where it is none.
inline std::vector<std::vector<std::string>> ParseCsv(const std::string& text) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += c;
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      row.push_back(std::exchange(field, {}));
    } else if (!quoted && c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      row.push_back(std::exchange(field, {}));
      rows.push_back(std::exchange(row, {}));
      ++i;
    } else {
      EXPECT_TRUE(quoted || c != '\n') << "a line that ends without CR at byte " << i;
      field += c;
    }
  }
  EXPECT_TRUE(!quoted && field.empty() && row.empty()) << "the last line has no end";
  for (const auto& each : rows) EXPECT_EQ(each.size(), rows.front().size());
  return rows;
}

}  // namespace sinkd::testing
