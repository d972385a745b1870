#include <cpuid.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <absl/strings/str_cat.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/engine/forward/linear.h"
#include "server/engine/model.h"

namespace sinkd {
namespace {

bool HasAmx() {
  constexpr unsigned kAmxBfloat16 = 1u << 22;  // EDX of leaf 7
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (d & kAmxBfloat16) != 0;
}

std::string Instructions() {
  std::string text = at::get_cpu_capability();
  for (const char* limit : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA", "MKL_ENABLE_INSTRUCTIONS"}) {
    if (const char* value = std::getenv(limit)) absl::StrAppend(&text, ", ", limit, "=", value);
  }
  return text;
}

std::string OnCpu(bool narrow) {
  const CpuArithmetic cpu = ArithmeticOfCpu();
  std::string text = absl::StrCat("float32 by ", cpu.float32_products, " (", cpu.instructions);
  if (!IgnoresThreads()) absl::StrAppend(&text, ", ", at::get_num_threads(), " threads");
  text += ")";
  if (!narrow) return text;
  if (!UsesBfloat16()) return absl::StrCat("bfloat16 as ", text);
  return absl::StrCat("bfloat16 by oneDNN (", HasAmx() ? "AMX" : "AVX512_BF16", "), ", text);
}

}  // namespace

CpuArithmetic ArithmeticOfCpu() {
  return {.float32_products = UsesOneDnn() ? "oneDNN" : "MKL",
          .bfloat16_products = UsesBfloat16() ? "bfloat16" : "float32",
          .instructions = Instructions()};
}

std::string ArithmeticOf(const ModelInfo& info) {
  std::vector<std::string> kinds;  // in block order, each once
  const std::vector<std::string> parts = absl::StrSplit(info.device, ',');  // "cuda:0=0-15"
  for (const std::string& part : parts) {
    const std::string kind = part.substr(0, part.find_first_of(":="));
    if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
  }
  for (std::string& kind : kinds) {
    kind = kind == "cpu" ? OnCpu(info.compute_type == "bfloat16")
                         : absl::StrCat(info.compute_type, " on ", kind);
  }
  std::string text = absl::StrJoin(kinds, "; ");
  if (!info.attention.empty()) absl::StrAppend(&text, "; attention ", info.attention);
  if (info.quantization.empty()) return text;
  const std::string activations =
      info.activation_quantization.empty()
          ? ""
          : absl::StrCat("activations of ", info.activation_quantization, "; ");
  return absl::StrCat("weights of ", info.quantization, "; ", activations, text);
}

}  // namespace sinkd
