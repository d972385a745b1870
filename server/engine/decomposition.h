// Decompositions and maps of small matrices, computed by torch on `device` (a torch device string).
//
// All are deterministic for a given seed and device type: random draws come from std::mt19937_64,
// not from torch. Thread-safety: pure functions.
// Errors: INVALID_ARGUMENT for an empty or non-finite matrix or a parameter out of range;
// RESOURCE_EXHAUSTED when the device is out of memory; CANCELLED.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "server/base/in_turns.h"
#include "server/engine/matrix.h"

namespace sinkd {

// Principal components of the centred rows, in float64. k = `count`, or the rank of the centred
// rows if that is smaller; components below the rounding error of float32 do not count as rank.
struct PrincipalComponents {
  Matrix directions;                    // [k, C] unit vectors, strongest first; the entry with
                                        // the largest |value| is positive
  std::vector<double> singular_values;  // [k]
  std::vector<double> explained;        // [k] share of the variance
};
absl::StatusOr<PrincipalComponents> FindComponents(const Matrix& rows, int64_t count,
                                                   const std::string& device);

// Lloyd's k-means from k-means++ starts, the best of `starts` by inertia; in float64.
struct KMeansResult {
  std::vector<int32_t> labels;  // [rows]
  double inertia = 0;           // sum of squared distances to the assigned centres
};
absl::StatusOr<std::unique_ptr<InTurns<KMeansResult>>> StartKMeans(const Matrix& rows,
                                                                   int64_t clusters, int64_t starts,
                                                                   uint64_t seed,
                                                                   const std::string& device);

// Exact t-SNE (van der Maaten and Hinton 2008) with early exaggeration, at most kTsneRows rows. It
// starts from the two strongest principal components. With fewer than 512 rows it returns the best
// of up to 8 seeded starts near there, because small maps end in different local minima.
inline constexpr int64_t kTsneRows = 5000;
struct TsneParameters {
  double perplexity = 30;  // at least 1, under rows; best below about (rows - 1) / 3
  int64_t iterations = 1000;
  uint64_t seed = 0;
};
struct TsneResult {
  Matrix coordinates;     // [rows, 2]
  double divergence = 0;  // KL(P || Q), nats
};
absl::StatusOr<std::unique_ptr<InTurns<TsneResult>>> StartTsne(const Matrix& rows,
                                                               const TsneParameters& parameters,
                                                               const std::string& device);

// Entropy of the Gram matrix's spectrum, for uncentred rows: eigenvalues lambda of the smaller Gram
// matrix, p = lambda / sum, -sum p ln p for alpha = 1, else ln(sum p^alpha) / (1 - alpha); in
// float64. Eigenvalues within rounding of zero count as zero. NaN if all rows are zero.
absl::StatusOr<double> MatrixEntropy(const Matrix& rows, double alpha, const std::string& device);

}  // namespace sinkd
