// Model: the engine's facade. A checkpoint folder in, traces out; no torch type in sight.
//
// Ownership: a Model owns its weights on its device and frees them when destroyed.
// Thread-safety: Run is const and may be called from several threads at once; the caller decides
// how many (one executor per device, see scheduler/).
// Errors: FAILED_PRECONDITION for a folder that cannot be loaded (the message names file, tensor or
// key, and the way out), also from Run where weights are streamed; INVALID_ARGUMENT for a device or
// placement that is not one; RESOURCE_EXHAUSTED when the device is out of memory (whether weights
// have room is for the caller to ask first: model_plan.h, models/load_room.h); CANCELLED when the
// token was triggered, checked before every block; INTERNAL for any other fault of the device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "server/engine/decoder_spec.h"
#include "server/engine/trace.h"

namespace sinkd {

enum class ComputeType { kAuto, kFloat32, kBfloat16 };  // kAuto: as stored (float16 -> float32)

enum class Residency {
  kResident,  // all weights in the device's memory
  kStreamed,  // two blocks at a time, read from disk while the block before them computes
};

inline constexpr std::string_view kAutoDevice = "auto";

struct LoadOptions {
  // A torch device ("cpu", "cuda:0"); "auto": all GPUs, blocks spread by their room, or the CPU
  // where there are none; or a map from devices to block ranges, "cuda:0=0-15,cuda:1=16-31".
  std::string device = "cpu";
  // The most that "auto" counts on, in bytes by device; of a device not named, what is free.
  std::map<std::string, int64_t> room;
  ComputeType compute_type = ComputeType::kAuto;
  Residency residency = Residency::kResident;
};

struct LoadProgress {
  int64_t bytes_done = 0;
  int64_t bytes_total = 0;
};

struct ModelInfo {
  DecoderSpec spec;
  std::string device;        // "cpu", "cuda:0", or a map as in LoadOptions
  std::string compute_type;  // "float32" or "bfloat16"
  Residency residency = Residency::kResident;
  int64_t weight_bytes = 0;           // held on its devices
  std::vector<std::string> warnings;  // extra tensors, missing untied head, ...
};

using TokenIds = std::vector<int32_t>;

class Model {
 public:
  // Reads `folder` (config.json and *.safetensors, or a *.gguf). `progress` is called from this
  // thread after each tensor; it may be empty.
  static absl::StatusOr<std::unique_ptr<Model>> Load(
      const std::filesystem::path& folder, const LoadOptions& options,
      const std::function<void(const LoadProgress&)>& progress = {}, std::stop_token stop = {});

  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelInfo& info() const { return info_; }

  // One forward pass over all samples of `batch` packed end to end, without padding; a trace per
  // sample, in order. Every id must be in [0, vocabulary) and every sample hold 1..max_positions
  // ids: checked, INVALID_ARGUMENT naming the sample's index in the batch.
  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop = {}) const;

  // The torch side, engine/forward/model_internals.h; for the engine and its tests.
  struct Internals;
  const Internals& internals() const { return *internals_; }

 private:
  Model(ModelInfo info, std::unique_ptr<Internals> internals);
  ModelInfo info_;
  std::unique_ptr<Internals> internals_;
};

// Reads config.json or a GGUF file's header alone: what a folder holds, without loading it. Same
// errors as Load.
absl::StatusOr<DecoderSpec> ReadDecoderSpec(const std::filesystem::path& folder);

// The file that ReadDecoderSpec reads: config.json or, in a folder without one, the GGUF file.
std::filesystem::path SpecFile(const std::filesystem::path& folder);

// Sets the number of threads torch uses inside one operation, and how it keeps memory, for the
// whole process; call once at start-up, before any model runs.
void SetComputeThreads(int threads);

// The library that multiplies float32 matrices on the CPU.
enum class Float32Products {
  kAuto,  // by what the processor is: MKL on Intel's, oneDNN on others
  kMkl,
  kOneDnn,
};

// For the whole process; call at start-up, before anything else computes. FAILED_PRECONDITION when
// libtorch lacks that library.
absl::Status ChooseFloat32Products(Float32Products products);

// What the last digits of numbers computed on the CPU depend on; settled by the first call, which
// is to come after the two above.
struct CpuArithmetic {
  std::string float32_products;   // the library: "MKL" or "oneDNN"
  std::string bfloat16_products;  // the type they are made in: "bfloat16" or "float32"
  std::string instructions;       // the widest in use, and limits set by variables: "AVX512"
};
CpuArithmetic ArithmeticOfCpu();

// The same of a model, as one text: its devices' and compute type's part of it, and where sums
// depend on it the number of threads. Records agree to the last digit where it is equal.
// "float32 by MKL (AVX512)", "bfloat16 on cuda".
std::string ArithmeticOf(const ModelInfo& info);

}  // namespace sinkd
