// GgufFile: a GGUF file of version 2 or 3, its header checked to the last field, its tensors read
// on demand with pread.
//
// Format (ggml, docs/gguf.md): "GGUF", version, counts, key-value pairs, tensor descriptions,
// padding to general.alignment, then data; offsets count from there. Little-endian. Checked: counts
// and lengths against the bytes left and against what models have, types, duplicate keys and
// tensors, shapes without overflow and in whole blocks, offsets aligned, inside the file and
// without overlap.
//
// Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION, reason BAD_GGUF or (for a type that cannot be read) GGUF_TYPE,
// naming the file and the key or tensor; CANCELLED.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_metadata.h"
#include "server/engine/checkpoint/gguf/gguf_quantization.h"
#include "server/engine/checkpoint/random_access_file.h"

namespace sinkd {

struct GgufTensor {
  const GgufTypeInfo* type = nullptr;
  std::vector<int64_t> shape;  // row-major, the last axis fastest: the file's order reversed
  int64_t offset = 0;          // of the first byte, from the start of the file
  int64_t bytes = 0;           // as stored

  int64_t row_values() const { return shape.back(); }
  int64_t row_bytes() const { return shape.back() / type->block_values * type->block_bytes; }
};

using GgufTensors = std::map<std::string, GgufTensor, std::less<>>;

class GgufFile {
 public:
  static absl::StatusOr<GgufFile> Open(const std::filesystem::path& path,
                                       std::stop_token stop = {});

  const std::string& name() const { return file_.name(); }
  const GgufMetadata& metadata() const { return metadata_; }
  const GgufTensors& tensors() const { return tensors_; }
  int64_t header_bytes() const { return header_bytes_; }

  // Reads stored bytes; the range lies within a tensor.
  absl::Status Read(int64_t offset, int64_t bytes, void* out) const {
    return file_.Read(offset, bytes, out);
  }

 private:
  explicit GgufFile(RandomAccessFile file) : file_(std::move(file)), metadata_(file_.name()) {}

  RandomAccessFile file_;
  GgufMetadata metadata_;
  GgufTensors tensors_;
  int64_t header_bytes_ = 0;
};

}  // namespace sinkd
