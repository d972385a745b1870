// Model: the engine's facade. It loads a checkpoint folder and computes traces. No torch types.
//
// Ownership: a Model owns its weights on its device and frees them when destroyed.
// Thread-safety: Run is const and may be called from several threads at once; the caller decides
// how many (one executor per device, see scheduler/).
// Errors: FAILED_PRECONDITION for a folder that cannot be loaded (the message names the file,
// tensor or key and a fix), also from Run if weights are streamed; INVALID_ARGUMENT for an invalid
// device or placement; RESOURCE_EXHAUSTED when the device is out of memory (the caller checks
// beforehand whether weights fit: model_plan.h, models/load_room.h); CANCELLED when the stop token
// is triggered, checked before every block; INTERNAL for any other fault of the device.
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

enum class ComputeType { kAuto, kFloat32, kBfloat16 };  // kAuto: as stored (float32 for float16)

enum class Residency {
  kResident,  // all weights in the device's memory
  kStreamed,  // two blocks at a time; each is read from disk while the block before it computes
};

// Whether the inputs of quantized projections are rounded.
enum class ActivationQuantization {
  kNone,
  kAsStored,  // as config.json says, which is what the release computes
};

inline constexpr std::string_view kAutoDevice = "auto";

struct LoadOptions {
  // A torch device ("cpu", "cuda:0"); "auto": all GPUs by available memory, or the CPU if there are
  // none; or a map from devices to block ranges, "cuda:0=0-15,cuda:1=16-31".
  std::string device = "cpu";
  // Memory that "auto" may use, in bytes by device; for other devices, their free memory.
  std::map<std::string, int64_t> room;
  ComputeType compute_type = ComputeType::kAuto;
  Residency residency = Residency::kResident;
  ActivationQuantization activation_quantization = ActivationQuantization::kNone;
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
  std::string quantization;  // how the weights are stored: "gptq 4 bits"; empty if as plain numbers
  std::string activation_quantization;  // how activations are rounded: "int8 per token"; or empty
  int64_t weight_bytes = 0;             // on its devices
  // How its blocks compute attention: "fused in float32", "in strips (chunks) in 4 of 24 blocks, by
  // two fused calls (flash in bfloat16) in 20 of 24 blocks".
  std::string attention;
  // Why it is computed in strips where fused calls would be used; empty if they agree with strips.
  std::string attention_fault;
  std::vector<std::string> warnings;  // extra tensors, missing untied head, ...
};

using TokenIds = std::vector<int32_t>;

class Model {
 public:
  // Loads `folder` (config.json and *.safetensors, or a *.gguf). `progress` is called on the
  // calling thread after each tensor; it may be empty.
  static absl::StatusOr<std::unique_ptr<Model>> Load(
      const std::filesystem::path& folder, const LoadOptions& options,
      const std::function<void(const LoadProgress&)>& progress = {}, std::stop_token stop = {});

  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  const ModelInfo& info() const { return info_; }

  // Runs one forward pass over all samples of `batch`, packed end to end without padding. Returns
  // one trace per sample, in order. INVALID_ARGUMENT, naming the sample's index in the batch,
  // unless every id is in [0, vocabulary) and every sample has 1..max_positions ids.
  absl::StatusOr<std::vector<Trace>> Run(std::span<const TokenIds> batch,
                                         const TraceRequest& request,
                                         std::stop_token stop = {}) const;

  // The torch part (engine/forward/model_internals.h), for the engine and its tests.
  struct Internals;
  const Internals& internals() const { return *internals_; }

 private:
  Model(ModelInfo info, std::unique_ptr<Internals> internals);
  ModelInfo info_;
  std::unique_ptr<Internals> internals_;
};

// Reads only config.json or the header of a GGUF file: describes a model without loading it. Same
// errors as Load.
absl::StatusOr<DecoderSpec> ReadDecoderSpec(const std::filesystem::path& folder);

// The file that ReadDecoderSpec reads: config.json or, in a folder without one, the GGUF file.
std::filesystem::path SpecFile(const std::filesystem::path& folder);

// Sets the number of threads that torch uses within an operation, and its allocator, for the whole
// process. Call once at start-up, before any model runs.
void SetComputeThreads(int threads);

// The library that multiplies float32 matrices on the CPU.
enum class Float32Products {
  kAuto,  // MKL on Intel processors, oneDNN on others
  kMkl,
  kOneDnn,
};

// Applies to the whole process. Call at start-up, before anything else computes.
// FAILED_PRECONDITION if libtorch lacks that library.
absl::Status ChooseFloat32Products(Float32Products products);

// How attention is computed.
enum class AttentionChoice {
  kAuto,        // on a CPU with AVX-512 fused, on other CPUs in strips, on GPUs by fused calls
  kStrips,      // of queries, whose softmax weights are made
  kFusedCalls,  // two of libtorch's fused attention calls, where they can express it
};

// Applies to the whole process. Call at start-up, before anything else computes.
void ChooseAttention(AttentionChoice choice);

// What the last digits of results on the CPU depend on. The first call fixes it; make that call
// after SetComputeThreads and ChooseFloat32Products.
struct CpuArithmetic {
  std::string float32_products;   // the library: "MKL" or "oneDNN"
  std::string bfloat16_products;  // the type used to compute them: "bfloat16" or "float32"
  std::string instructions;       // the widest in use, and limits from variables: "AVX512"
};
CpuArithmetic ArithmeticOfCpu();

// The same for one model, as text: what applies to its devices and compute type, and the number of
// threads if sums depend on it. Records with equal text agree to the last digit. Examples:
// "float32 by MKL (AVX2); attention in strips", "weights of gptq 4 bits; bfloat16 on cuda;
// attention by two fused calls (flash in bfloat16)".
std::string ArithmeticOf(const ModelInfo& info);

}  // namespace sinkd
