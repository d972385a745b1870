#include "tests/engine/site_differences.h"

#include <algorithm>
#include <cmath>
#include <map>

#include <absl/strings/str_cat.h>

#include "tests/engine/oracle_files.h"
#include "tests/engine/site_recorder.h"
#include "tests/engine/state_recorder.h"

namespace sinkd::testing {
namespace {

constexpr std::string_view kAlpha = "alpha";

using Figures = std::map<std::string, double, std::less<>>;  // by site

std::string SiteOf(const std::string& name) {
  return name.substr(0, name.find('.'));
}

// [rows, width], borrowed.
at::Tensor Rows(const std::vector<float>& values, int64_t rows) {
  const int64_t width = static_cast<int64_t>(values.size()) / rows;
  return at::from_blob(const_cast<float*>(values.data()), {rows, width}, at::kFloat);
}

at::Tensor Norms(const at::Tensor& rows) {
  return at::linalg_vector_norm(rows, 2, at::IntArrayRef{-1}, false, at::kDouble);
}

absl::Status CheckSites(const SiteRecorder& ours, const SiteValues& theirs) {
  for (const auto& [name, rows] : ours.shown()) {
    // A part that a block does not have adds zeros.
    if (theirs.contains(name) || rows.count_nonzero().item<int64_t>() == 0) continue;
    return absl::NotFoundError(absl::StrCat(name, " is shown"));
  }
  for (const auto& [name, rows] : theirs) {
    if (!ours.shown().contains(name)) {
      return absl::NotFoundError(absl::StrCat(name, " is not shown"));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Model>> Load(const ParityCase& parity, ComputeType type) {
  return Model::Load(OracleFolder() / parity.checkpoint, {.compute_type = type});
}

// Column means by key, [T, L * H]: sums over queries divided by the number of queries that see the
// key.
at::Tensor Alpha(const std::vector<float>& column_sum, int64_t length) {
  const int64_t heads = static_cast<int64_t>(column_sum.size()) / length;
  return (Rows(column_sum, heads) / at::arange(length, 0, -1, at::kFloat)).t();
}

absl::StatusOr<at::Tensor> AlphaOf(const Model& model, const TokenIds& ids) {
  auto traces = model.Run({&ids, 1}, {});
  if (!traces.ok()) return traces.status();
  return Alpha(traces->front().attention_sum, static_cast<int64_t>(ids.size()));
}

absl::StatusOr<Figures> Float32Differences(const ParityCase& parity) {
  const auto model = Load(parity, ComputeType::kFloat32);
  if (!model.ok()) return model.status();
  Figures largest;
  const auto note = [&](const std::string& site, double difference) {
    largest[site] = std::max(largest[site], difference);
  };
  for (const int64_t length : parity.site_lengths) {
    const TokenIds ids = ReadExpected(parity.checkpoint, "f32", length).ids;
    const SiteValues want = ReadSites(parity.checkpoint, length);
    SiteRecorder recorder;
    ShowTo(recorder, (*model)->internals(), ids);
    if (absl::Status status = CheckSites(recorder, want); !status.ok()) return status;
    for (const auto& [name, values] : want) {
      const at::Tensor& got = recorder.shown().at(name);
      const at::Tensor rows = Rows(values, length);
      note(SiteOf(name), (Norms(got - rows) / Norms(rows)).max().item<double>());
    }
  }
  for (const int64_t length : parity.lengths) {
    const ExpectedSample expected = ReadExpected(parity.checkpoint, "f32", length);
    const auto alpha = AlphaOf(**model, expected.ids);
    if (!alpha.ok()) return alpha.status();
    note(std::string(kAlpha),
         (*alpha - Alpha(expected.column_sum, length)).abs().max().item<double>());
  }
  return largest;
}

// One number for the distances [T] of all rows of a site. A row whose experts change by rounding is
// far from where it was, whoever computes it, and a few such rows would drown the rest: mixtures of
// experts are compared by their median row.
double Distance(const at::Tensor& distances, const at::Tensor& exact, bool by_median) {
  if (by_median) return (distances / Norms(exact)).median().item<double>();
  return (distances.norm() / exact.norm()).item<double>();
}

absl::StatusOr<Figures> Bfloat16Ratios(const ParityCase& parity) {
  const auto model = Load(parity, ComputeType::kBfloat16);
  if (!model.ok()) return model.status();
  const int64_t length = parity.bfloat16_site_length;
  const SiteValues exact = ReadSites(parity.checkpoint, length);
  const SiteValues distances = ReadBfloat16Distances(parity.checkpoint, length);
  const ExpectedSample exact_sample = ReadExpected(parity.checkpoint, "f32", length);
  SiteRecorder recorder;
  ShowTo(recorder, (*model)->internals(), exact_sample.ids);
  if (absl::Status status = CheckSites(recorder, exact); !status.ok()) return status;
  const bool by_median = (*model)->info().spec.experts.count > 0;
  Figures ours, theirs;  // sums over blocks
  for (const auto& [name, values] : exact) {
    const at::Tensor& got = recorder.shown().at(name);
    const at::Tensor rows = Rows(values, length);
    const at::Tensor reference = Rows(distances.at(name), length).squeeze(1).to(at::kDouble);
    ours[SiteOf(name)] += Distance(Norms(got - rows), rows, by_median);
    theirs[SiteOf(name)] += Distance(reference, rows, by_median);
  }
  const auto alpha = AlphaOf(**model, exact_sample.ids);
  if (!alpha.ok()) return alpha.status();
  const at::Tensor exact_alpha = Alpha(exact_sample.column_sum, length);
  const at::Tensor rounded_alpha =
      Alpha(ReadExpected(parity.checkpoint, "bf16", length).column_sum, length);
  ours[std::string(kAlpha)] = Distance(Norms(*alpha - exact_alpha), exact_alpha, by_median);
  theirs[std::string(kAlpha)] =
      Distance(Norms(rounded_alpha - exact_alpha), exact_alpha, by_median);
  for (auto& [site, distance] : ours) distance /= theirs.at(site);
  return ours;
}

}  // namespace

std::span<const std::string_view> SitesInOrder() {
  static constexpr std::string_view kSites[] = {
      "resid_pre", "key", "value",   "attn_out", "resid_mid",  "mlp_in",     "gate",
      "up",        "act", "product", "mlp_out",  "resid_post", "final_norm", kAlpha};
  return kSites;
}

absl::StatusOr<CaseDifferences> DifferencesOfCase(const ParityCase& parity) {
  const auto spec = ReadDecoderSpec(OracleFolder() / parity.checkpoint);
  if (!spec.ok()) return spec.status();
  const auto float32 = Float32Differences(parity);
  if (!float32.ok()) return float32.status();
  const auto bfloat16 = Bfloat16Ratios(parity);
  if (!bfloat16.ok()) return bfloat16.status();
  CaseDifferences found{.family = spec->architecture, .differences = {}};
  for (const std::string_view site : SitesInOrder()) {
    const auto difference = float32->find(site);
    if (difference == float32->end()) continue;
    found.differences.push_back({site, difference->second, bfloat16->find(site)->second});
  }
  return found;
}

}  // namespace sinkd::testing
