// The checkpoints that are compared with transformers: one per family and quirk, made by
// tests/oracle/family_models.py, decoder_models.py and tiny_models.py.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace sinkd::testing {

struct ParityCase {
  std::string checkpoint;                 // relative to OracleFolder()
  std::vector<int64_t> lengths;           // T of the float32 samples
  std::vector<int64_t> bfloat16_lengths;  // T of the bfloat16 samples
  std::vector<int64_t> site_lengths;      // T of the float32 samples compared at every site
  int64_t bfloat16_site_length = 0;       // T of the bfloat16 sample compared at every site
};

const std::vector<ParityCase>& ParityCases();

// A trained model, tests/oracle/smollm2.py; its sites are not compared.
ParityCase SmolLM2();

// The last part of its path, fit for a test's name.
std::string NameOf(const ParityCase& parity);

// How GoogleTest prints a case.
void PrintTo(const ParityCase& parity, std::ostream* out);

}  // namespace sinkd::testing
