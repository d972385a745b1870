// FusedCall: one of libtorch's fused attention calls that also returns the log-sum-exp of each
// query's scores. Internal to the engine.
//
// Thread-safety: all functions may be called from any thread.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace sinkd {

struct FusedCall {
  struct Output {
    at::Tensor out;  // [S, T, H, D] in the type of the queries
    at::Tensor lse;  // [S, H, T] float32: ln of the sum over the keys seen of e^score
  };

  const char* name;
  c10::DeviceType device;
  at::ScalarType type;    // of queries, keys and values
  int64_t pieces;         // numbers of that type that add up to a float32 one
  int64_t alignment;      // D is a multiple of it
  int64_t most_channels;  // D is at most so much
  const char* op;         // in libtorch's dispatcher
  const char* op_schema;  // as this file calls it
  // Causal attention of q, k, v [S, T, H, D] with scores times `scale`; each query sees `window`
  // keys, itself included, or all before it if that is 0.
  Output (*run)(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, double scale,
                int64_t window);
};

// The call for such a device and type of numbers, for heads of so many channels; null if there is
// none.
const FusedCall* FindFusedCall(c10::DeviceType device, bool bfloat16, int64_t channels);

// Whether libtorch's call is the one that this was written for, at run time.
bool HasKnownSchema(const FusedCall& call);

}  // namespace sinkd
