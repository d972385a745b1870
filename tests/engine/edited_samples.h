// Edits that tests/oracle/interventions.py and tests/oracle/ablations.py made in transformers, and
// what came of them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/engine/edits.h"
#include "server/engine/intervention.h"
#include "server/engine/model.h"

namespace sinkd::testing {

struct EditedPass {
  Variant edits;
  double loss = 0;
  std::vector<float> state_norm;  // [L, T]
  std::vector<float> mlp_norm;    // [L, T]
  std::vector<float>
      column_sum;               // [L, H, T]; of an ablation, empty where the softmax is not edited
  Predictions predictions;      // of an ablation
  double divergence_error = 0;  // the largest that float32 makes of its divergence
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

// The same of ablations, by transformers in float64; they have no mlp_norm. A choice is -1 where
// the two most likely tokens are too near each other for float32.
std::vector<const char*> AblatedCheckpoints();
EditedSample ReadAblatedSample(const std::string& checkpoint);

}  // namespace sinkd::testing
