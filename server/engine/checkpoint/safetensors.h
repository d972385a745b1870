// A safetensors file: checks the header completely, and reads tensors on demand with pread.
//
// Format: 8 bytes little-endian header length N, N bytes of JSON, then data; data_offsets count
// from byte 8 + N. Checked: N within the file and 100 MiB, JSON without duplicate keys, the number
// of tensors, known dtypes, shape x dtype = bytes without overflow, offsets inside the file, no
// overlaps, no holes.
//
// Ownership: the reader holds one file descriptor. Thread-safety: Read may run on several threads.
// Errors: FAILED_PRECONDITION naming file and tensor; CANCELLED.
#pragma once

#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/random_access_file.h"
#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

class SafetensorsFile final : public TensorSource {
 public:
  static absl::StatusOr<SafetensorsFile> Open(const std::filesystem::path& path,
                                              std::stop_token stop = {});

  const std::string& name() const override { return file_.name(); }
  const TensorMap& tensors() const override { return tensors_; }
  int64_t header_bytes() const override { return header_bytes_; }
  absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                    void* out) const override;

 private:
  explicit SafetensorsFile(RandomAccessFile file) : file_(std::move(file)) {}
  absl::Status ReadHeader(std::stop_token stop);

  RandomAccessFile file_;
  TensorMap tensors_;
  int64_t header_bytes_ = 0;
};

// Bytes per element; 0 for a dtype that the format does not have.
int64_t DtypeBytes(std::string_view dtype);

}  // namespace sinkd
