// GgufSource: a GGUF file's tensors as a Hugging Face checkpoint of the same model has them - its
// names, its order of rows, quantized values as float32. F32, F16 and BF16 stay what they are.
//
// Ownership: holds the file. Thread-safety: const methods may run on several threads.
// Errors: FAILED_PRECONDITION naming file and tensor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/checkpoint/gguf/gguf_file.h"
#include "server/engine/checkpoint/gguf/gguf_joined.h"
#include "server/engine/checkpoint/gguf/gguf_names.h"
#include "server/engine/checkpoint/tensor_source.h"

namespace sinkd {

class GgufSource final : public TensorSource {
 public:
  static absl::StatusOr<GgufSource> Open(const std::filesystem::path& path,
                                         std::stop_token stop = {});

  const std::string& name() const override { return file_.name(); }
  const TensorMap& tensors() const override { return tensors_; }
  int64_t header_bytes() const override { return file_.header_bytes(); }

  // Quantized values are unpacked as they are read, about a megabyte at a time.
  absl::Status Read(std::string_view tensor, int64_t offset, int64_t bytes,
                    void* out) const override;

 private:
  // Where a tensor's values come from.
  struct Stored {
    GgufTensor tensor;
    int64_t rows = 0;
    int64_t row_values = 0;
    int64_t row_bytes = 0;  // stored
    int64_t out_bytes = 0;  // of a row, as Read gives it
    int64_t head_rows = 0;  // rows of one interleaved head; 0 when rows are in order
    bool plus_one = false;  // float32 values with 1 added
  };

  // Stored tensors that make one of the checkpoint.
  struct Parts {
    GgufJoin join = GgufJoin::kNone;
    std::string name;  // of one of them, for errors
    std::vector<GgufTensor> tensors;
  };

  explicit GgufSource(GgufFile file) : file_(std::move(file)) {}
  absl::Status AddTensors();
  // `interleaved`: how many heads have their rows in another order; 0 for none.
  absl::Status Add(const std::string& name, const GgufTensor& tensor, const GgufName& target,
                   int64_t interleaved);
  absl::Status AddExperts(const std::string& name, const GgufTensor& tensor,
                          const GgufName& target);
  absl::Status AddJoined(const std::string& target, const Parts& parts, int64_t heads);
  absl::StatusOr<Stored> Describe(std::string_view name, const GgufTensor& tensor,
                                  int64_t heads) const;
  absl::Status ReadRows(const Stored& stored, int64_t first, int64_t count, char* out) const;
  absl::Status ReadHeadRows(const Stored& stored, int64_t first, int64_t count, char* out) const;
  absl::Status Error(std::string_view tensor, std::string_view what) const;

  GgufFile file_;
  TensorMap tensors_;
  std::map<std::string, Stored, std::less<>> stored_;  // by the same names, or here:
  std::map<std::string, GgufJoined, std::less<>> joined_;
};

}  // namespace sinkd
