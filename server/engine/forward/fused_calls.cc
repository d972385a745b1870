#include "server/engine/forward/fused_calls.h"

#include <limits>

#include <ATen/ATen.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/ops/_efficient_attention_forward_ops.h>
#include <ATen/ops/_flash_attention_forward_ops.h>
#include <ATen/ops/_scaled_dot_product_flash_attention_for_cpu_ops.h>
#include <absl/strings/str_cat.h>
#include <torch/csrc/jit/frontend/function_schema_parser.h>

#include "server/engine/forward/attention.h"

namespace sinkd {
namespace {

using Output = FusedCall::Output;

// It has no option for windows, which need a T x T mask.
Output FlashOnCpu(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                  int64_t window) {
  const int64_t positions = q.size(1);
  const auto mask =
      window > 0 ? std::optional(StripMask(0, positions, 0, positions, window, 0, q.options()))
                 : std::nullopt;
  const auto [out, lse] = at::_scaled_dot_product_flash_attention_for_cpu(
      q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), /*dropout_p=*/0,
      /*is_causal=*/!mask.has_value(), mask, scale);
  return {.out = out.transpose(1, 2), .lse = lse};
}

Output FlashOnCuda(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                   int64_t window) {
  const int64_t positions = q.size(1);
  const auto before = window > 0 ? std::optional<int64_t>(window - 1) : std::nullopt;
  const auto after = window > 0 ? std::optional<int64_t>(0) : std::nullopt;
  const auto result = at::_flash_attention_forward(
      q, k, v, /*cum_seq_q=*/{}, /*cum_seq_k=*/{}, positions, positions, /*dropout_p=*/0,
      /*is_causal=*/true, /*return_debug_mask=*/false, scale, before, after);
  return {.out = std::get<0>(result), .lse = std::get<1>(result)};
}

Output EfficientOnCuda(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                       int64_t window) {
  constexpr int64_t kCausal = 1;
  const auto result = at::_efficient_attention_forward(
      q, k, v, /*bias=*/{}, /*cu_seqlens_q=*/{}, /*cu_seqlens_k=*/{}, /*max_seqlen_q=*/{},
      /*max_seqlen_k=*/{}, /*dropout_p=*/0, kCausal, /*compute_log_sumexp=*/true, scale,
      /*seqlen_k=*/{}, window > 0 ? std::optional<int64_t>(window) : std::nullopt);
  // It is padded to a multiple of 32 queries.
  return {.out = std::get<0>(result), .lse = std::get<1>(result).narrow(2, 0, q.size(1))};
}

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

const FusedCall kCalls[] = {
    {"flash in float32", at::kCPU, at::kFloat, 1, 1, kNoLimit,
     at::_ops::_scaled_dot_product_flash_attention_for_cpu::name,
     at::_ops::_scaled_dot_product_flash_attention_for_cpu::schema_str, FlashOnCpu},
    {"flash in bfloat16", at::kCPU, at::kBFloat16, 3, 2, kNoLimit,
     at::_ops::_scaled_dot_product_flash_attention_for_cpu::name,
     at::_ops::_scaled_dot_product_flash_attention_for_cpu::schema_str, FlashOnCpu},
    {"flash in bfloat16", at::kCUDA, at::kBFloat16, 3, 8, 256,
     at::_ops::_flash_attention_forward::name, at::_ops::_flash_attention_forward::schema_str,
     FlashOnCuda},
    {"efficient in float32", at::kCUDA, at::kFloat, 1, 4, kNoLimit,
     at::_ops::_efficient_attention_forward::name,
     at::_ops::_efficient_attention_forward::schema_str, EfficientOnCuda},
};

}  // namespace

const FusedCall* FindFusedCall(c10::DeviceType device, bool bfloat16, int64_t channels) {
  for (const FusedCall& call : kCalls) {
    const bool fits = channels + call.pieces <= call.most_channels;
    if (call.device == device && (call.type == at::kBFloat16) == bfloat16 && fits) return &call;
  }
  return nullptr;
}

bool HasKnownSchema(const FusedCall& call) {
  const auto op = c10::Dispatcher::singleton().findSchema({call.op, ""});
  return op && op->schema() == torch::jit::parseSchema(absl::StrCat("aten::", call.op_schema));
}

}  // namespace sinkd
