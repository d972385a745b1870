#include "server/engine/forward/linear.h"

#include <cstdlib>
#include <new>
#include <optional>
#include <string>
#include <string_view>

#include <ATen/ATen.h>
#include <ATen/Version.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <absl/strings/match.h>

#include "server/base/status.h"
#include "server/engine/memory/host_memory.h"
#include "server/engine/weights/weight_memory.h"

namespace sinkd {
namespace {

// Inputs summed in one run; with fewer the additions would cost more than the products.
constexpr int64_t kMostSummed = 256;
constexpr int64_t kLeastSummed = 64;

Float32Products the_choice = Float32Products::kAuto;

using Scalars = c10::List<std::optional<at::Scalar>>;
using OneDnnLinear = at::Tensor(const at::Tensor& x, const at::Tensor& w,
                                const std::optional<at::Tensor>& bias, std::string_view activation,
                                Scalars scalars, std::optional<std::string_view> algorithm);
using OneDnnProduct = at::Tensor(const at::Tensor& x, const at::Tensor& other, const at::Tensor& w,
                                 const std::optional<at::Tensor>& bias, std::string_view operation);

// libtorch's only way to oneDNN for float32, and to products with something after them; empty in a
// build without it.
template <typename Signature>
std::optional<c10::TypedOperatorHandle<Signature>> Find(const char* overload) {
  const auto found =
      c10::Dispatcher::singleton().findSchema({"mkldnn::_linear_pointwise", overload});
  if (!found || !found->hasKernelForDispatchKey(c10::DispatchKey::CPU)) return std::nullopt;
  return found->template typed<Signature>();
}

const std::optional<c10::TypedOperatorHandle<OneDnnLinear>>& Operator() {
  static const auto linear = Find<OneDnnLinear>("");
  return linear;
}

const std::optional<c10::TypedOperatorHandle<OneDnnProduct>>& BinaryOperator() {
  static const auto product = Find<OneDnnProduct>("binary");
  return product;
}

std::optional<at::Tensor> IfDefined(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}

bool IsIntel() {
  return __builtin_cpu_is("intel");
}

at::Tensor ByOneDnn(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                    std::string_view activation = "none", std::string_view algorithm = "") {
  return Operator()->call(x, w, IfDefined(bias), activation, Scalars(), algorithm);
}

void KeepReserve() {
  if (!HostReserveIsFree()) throw std::bad_alloc();  // rather than see oneDNN go without
}

// MKL's sums then depend neither on the number of threads nor on how many rows there are, and are
// the same on all processors that have these instructions. It reads this when it is first used, and
// knows it on Intel's processors alone.
void MakeMklReproducible() {
  const std::string instructions = at::get_cpu_capability();
  if (!IsIntel() || (instructions != "AVX512" && instructions != "AVX2")) return;
  setenv("MKL_CBWR", (instructions + ",STRICT").c_str(), /*overwrite=*/0);
}

bool OneDnnIsChosen() {
  MakeMklReproducible();
  if (!Operator() || the_choice == Float32Products::kMkl) return false;
  return the_choice == Float32Products::kOneDnn || !IsIntel();
}

// oneDNN has kernels for bfloat16 on all processors with AVX-512, but those without the
// instructions widen each factor and are slower than products in float32.
bool HasBfloat16() {
  static const auto has = c10::Dispatcher::singleton().findSchema(
      {"mkldnn::_is_mkldnn_bf16_supported", ""});  // within ONEDNN_MAX_CPU_ISA
  return __builtin_cpu_supports("avx512bf16") && has && has->typed<bool()>().call();
}

// Parts that weights with so many inputs are cut into.
int64_t Parts(int64_t inputs, const at::TensorOptions& options) {
  if (!options.device().is_cpu() || options.dtype() != at::kFloat || !UsesOneDnn()) return 1;
  int64_t parts = (inputs + kMostSummed - 1) / kMostSummed;
  while (inputs % parts != 0) ++parts;
  return inputs / parts < kLeastSummed ? 1 : parts;
}

// A single row goes through code of its own, which rounds otherwise than that for many: a sample of
// one token would differ with and without batch mates.
bool IsAlone(const at::Tensor& x) {
  return x.is_cpu() && x.size(0) == 1;
}

at::Tensor Twice(const at::Tensor& row) {
  return at::cat({row, row});
}

}  // namespace

absl::Status ChooseFloat32Products(Float32Products products) {
  if (products == Float32Products::kOneDnn && !Operator()) {
    return FailedPrecondition("this build of libtorch has no oneDNN",
                              {.reason = "CONFIG_INVALID",
                               .subject = "float32-products",
                               .value = "onednn",
                               .fix = "use auto or mkl"});
  }
  the_choice = products;
  MakeMklReproducible();
  return absl::OkStatus();
}

bool UsesOneDnn() {
  static const bool uses = OneDnnIsChosen();
  return uses;
}

bool UsesBfloat16() {
  static const bool uses = HasBfloat16();
  return uses;
}

bool IgnoresThreads() {
  UsesOneDnn();  // which sets the variable
  const char* const mode = std::getenv("MKL_CBWR");
  return IsIntel() && mode != nullptr && absl::EndsWith(mode, ",STRICT");
}

at::Tensor Linear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias) {
  if (IsAlone(x)) return Linear(Twice(x), w, bias).narrow(0, 0, 1);
  KeepReserve();
  if (w.dim() == 3) {
    const int64_t inputs = w.size(2);
    at::Tensor sum = ByOneDnn(x.narrow(1, 0, inputs), w[0], bias);
    for (int64_t part = 1; part < w.size(0); ++part) {
      sum.add_(ByOneDnn(x.narrow(1, part * inputs, inputs), w[part], {}));
    }
    return sum;
  }
  if (x.is_cpu() && x.scalar_type() == at::kFloat && w.scalar_type() == at::kFloat &&
      UsesOneDnn()) {
    return ByOneDnn(x, w, bias);
  }
  if (x.is_cpu() && x.scalar_type() == at::kBFloat16 && !UsesBfloat16()) {
    const at::Tensor wide_bias = bias.defined() ? bias.to(at::kFloat) : bias;
    return Linear(x.to(at::kFloat), w.to(at::kFloat), wide_bias).to(at::kBFloat16);
  }
  return at::linear(x, w, bias);
}

bool FusesActivations() {
  return UsesBfloat16() && Operator().has_value() && BinaryOperator().has_value();
}

at::Tensor ActivatedLinear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                           Activation activation) {
  if (IsAlone(x)) return ActivatedLinear(Twice(x), w, bias, activation).narrow(0, 0, 1);
  KeepReserve();
  switch (activation) {
    case Activation::kSilu:
      return ByOneDnn(x, w, bias, "swish");
    case Activation::kGelu:
      return ByOneDnn(x, w, bias, "gelu", "none");
    case Activation::kGeluTanh:
      return ByOneDnn(x, w, bias, "gelu", "tanh");
    case Activation::kRelu:
      return ByOneDnn(x, w, bias, "relu");
    case Activation::kReluSquared:
    case Activation::kXielu:
      break;  // oneDNN has none
  }
  return {};
}

at::Tensor MultipliedLinear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                            const at::Tensor& factor) {
  if (IsAlone(x)) return MultipliedLinear(Twice(x), w, bias, Twice(factor)).narrow(0, 0, 1);
  KeepReserve();
  return BinaryOperator()->call(x, factor, w, IfDefined(bias), "mul");
}

at::Tensor EmptyWeights(int64_t out, int64_t in, const at::TensorOptions& options) {
  const int64_t parts = Parts(in, options);
  return parts == 1 ? EmptyTensor({out, in}, options)
                    : EmptyTensor({parts, out, in / parts}, options);
}

at::Tensor RowsOf(const at::Tensor& weights) {
  return weights.dim() == 3 ? weights.transpose(0, 1) : weights;
}

at::Tensor SplitInputs(const at::Tensor& w) {
  if (Parts(w.size(1), w.options()) == 1) return w;
  at::Tensor weights = EmptyWeights(w.size(0), w.size(1), w.options());
  const at::Tensor rows = RowsOf(weights);
  rows.copy_(w.reshape(rows.sizes()));
  return weights;
}

}  // namespace sinkd
