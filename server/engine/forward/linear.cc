#include "server/engine/forward/linear.h"

#include <algorithm>
#include <ctime>
#include <new>
#include <optional>
#include <string_view>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/InferenceMode.h>

#include "server/engine/memory/host_memory.h"
#include "server/engine/weights/weight_memory.h"

namespace sinkd {
namespace {

// Inputs summed in one run; with fewer the additions would cost more than the products.
constexpr int64_t kMostSummed = 256;
constexpr int64_t kLeastSummed = 64;

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

at::Tensor ByOneDnn(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                    std::string_view activation = "none", std::string_view algorithm = "") {
  return Operator()->call(x, w, IfDefined(bias), activation, Scalars(), algorithm);
}

void KeepReserve() {
  if (!HostReserveIsFree()) throw std::bad_alloc();  // rather than see oneDNN go without
}

// What the calling thread itself takes for its share: time in which others have its core is none.
template <typename Product>
double Seconds(const Product& product) {
  const auto now = [] {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  };
  const double begin = now();
  product();
  return now() - begin;
}

// By the shortest of some runs of each, in turns: a busy machine makes runs longer, and the choice
// lasts as long as the process.
template <typename Product, typename Other>
bool IsFaster(const Product& product, const Other& other) {
  double best = 1e9;
  double best_other = 1e9;
  for (int run = 0; run < 12; ++run) {
    best = std::min(best, Seconds(product));
    best_other = std::min(best_other, Seconds(other));
  }
  return best < best_other;
}

bool OneDnnIsFaster() {
  if (!Operator()) return false;
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({256, 512});
  const at::Tensor w = at::ones({1024, 512});
  return IsFaster([&] { ByOneDnn(x, w, {}); }, [&] { at::linear(x, w); });
}

bool Bfloat16IsFaster() {
  const c10::InferenceMode inference;
  const at::Tensor x = at::ones({256, 512}, at::kBFloat16);
  const at::Tensor w = at::ones({1024, 512}, at::kBFloat16);
  return IsFaster([&] { at::linear(x, w); }, [&] { Linear(x.to(at::kFloat), w.to(at::kFloat)); });
}

// Parts that weights with so many inputs are cut into.
int64_t Parts(int64_t inputs, const at::TensorOptions& options) {
  if (!options.device().is_cpu() || options.dtype() != at::kFloat || !UsesOneDnn()) return 1;
  int64_t parts = (inputs + kMostSummed - 1) / kMostSummed;
  while (inputs % parts != 0) ++parts;
  return inputs / parts < kLeastSummed ? 1 : parts;
}

}  // namespace

bool UsesOneDnn() {
  static const bool uses = OneDnnIsFaster();
  return uses;
}

bool UsesBfloat16() {
  static const bool uses = Bfloat16IsFaster();
  return uses;
}

at::Tensor Linear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias) {
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
  }
  return {};
}

at::Tensor MultipliedLinear(const at::Tensor& x, const at::Tensor& w, const at::Tensor& bias,
                            const at::Tensor& factor) {
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
