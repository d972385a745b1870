// A temporary checkpoint folder, and safetensors files written by hand.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

namespace sinkd::testing {

class CheckpointFolder {
 public:
  CheckpointFolder() {
    std::string pattern = ::testing::TempDir() + "checkpointXXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~CheckpointFolder() { std::filesystem::remove_all(path_); }
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

  // Makes the folders on the way to `name` too.
  void Write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << bytes;
  }

 private:
  std::filesystem::path path_;
};

// A safetensors file of this header and so many bytes of data.
inline std::string SafetensorsBytes(const std::string& header, size_t data_bytes) {
  std::string length(8, '\0');
  const uint64_t size = header.size();
  std::memcpy(length.data(), &size, 8);
  return length + header + std::string(data_bytes, '\x01');
}

// One entry of a header; `dtype` is the key with its value.
inline std::string HeaderEntry(const std::string& name, const std::string& shape,
                               const std::string& offsets,
                               const std::string& dtype = R"("dtype":"F32")") {
  return "\"" + name + "\":{" + dtype + ",\"shape\":" + shape + ",\"data_offsets\":" + offsets +
         "}";
}

// A file that holds one float, called `tensor`.
inline std::string OneTensor(const std::string& tensor) {
  return SafetensorsBytes("{" + HeaderEntry(tensor, "[1]", "[0,4]") + "}", 4);
}

}  // namespace sinkd::testing
