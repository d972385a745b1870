// Edits that tests/oracle/interventions.py made in transformers, and what came of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/engine/edits.h"
#include "server/engine/model.h"

namespace sinkd::testing {

struct EditedPass {
  Variant edits;
  double loss = 0;
  std::vector<float> state_norm;  // [L, T]
  std::vector<float> mlp_norm;    // [L, T]
  std::vector<float> column_sum;  // [L, H, T]
};

struct EditedSample {
  TokenIds ids;
  EditedPass base;
  std::vector<EditedPass> variants;

  std::vector<Variant> Edits() const;
};

// The checkpoints that there are samples of, relative to OracleFolder().
std::vector<const char*> EditedCheckpoints();

EditedSample ReadEditedSample(const std::string& checkpoint);

}  // namespace sinkd::testing
