// Site: the intermediate values of a block that can be observed, named as in TransformerLens.
#pragma once

#include <string_view>

namespace sinkd {

enum class Site {
  kResidPre,   // input of the block                                  [rows, C]
  kKey,        // key projection, before rotary and any norm          [rows, K D]
  kValue,      // value projection                                    [rows, K D]
  kAttnOut,    // what attention adds to the residual stream          [rows, C]
  kResidMid,   // residual stream after attention                     [rows, C]
  kMlpIn,      // input of the MLP, after its norm                    [rows, C]
  kGate,       // gate projection                                     [rows, I]
  kUp,         // up projection                                       [rows, I]
  kAct,        // activation of the gate                              [rows, I]
  kProduct,    // act * up                                            [rows, I]
  kMlpOut,     // what the MLP adds to the residual stream            [rows, C]
  kResidPost,  // output of the block, before any final norm          [rows, C]
  kFinalNorm,  // output of the last block after the final norm       [rows, C]
};

constexpr std::string_view SiteName(Site site) {
  constexpr std::string_view kNames[] = {
      "resid_pre", "key", "value",   "attn_out", "resid_mid",  "mlp_in",    "gate",
      "up",        "act", "product", "mlp_out",  "resid_post", "final_norm"};
  return kNames[static_cast<int>(site)];
}

}  // namespace sinkd
