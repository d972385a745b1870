// A safetensors file: its header checked to the last byte, its tensors read on demand with pread.
//
// Format: 8 bytes little-endian header length N, N bytes of JSON, then data; data_offsets count
// from byte 8 + N. Checked: N within the file and 100 MiB, JSON without duplicate keys, known
// dtypes, shape x dtype = bytes without overflow, offsets inside the file, no overlaps, no holes.
//
// Ownership: the reader holds one file descriptor. Thread-safety: Read may run on several threads.
// Errors: FAILED_PRECONDITION naming file and tensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace sinkd {

struct TensorEntry {
  std::string dtype;           // as written: "F32", "BF16", ...
  std::vector<int64_t> shape;  // row-major, the last axis fastest
  int64_t offset = 0;          // of the first byte, from the start of the file
  int64_t bytes = 0;
};

class SafetensorsFile {
 public:
  static absl::StatusOr<SafetensorsFile> Open(const std::filesystem::path& path);
  ~SafetensorsFile();
  SafetensorsFile(SafetensorsFile&& other) noexcept;
  SafetensorsFile& operator=(SafetensorsFile&& other) noexcept;

  const std::string& name() const { return name_; }  // without its folder
  const std::map<std::string, TensorEntry, std::less<>>& tensors() const { return tensors_; }

  // Reads `bytes` bytes that begin `offset` bytes into the tensor's data.
  absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes, void* out) const;

 private:
  SafetensorsFile(int descriptor, std::string name)
      : descriptor_(descriptor), name_(std::move(name)) {}
  absl::Status ReadHeader();

  int descriptor_ = -1;
  std::string name_;
  std::map<std::string, TensorEntry, std::less<>> tensors_;
};

// Bytes of one element, 0 for a dtype that is not part of the format.
int64_t DtypeBytes(std::string_view dtype);

}  // namespace sinkd
