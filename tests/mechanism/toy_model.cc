#include "tests/mechanism/toy_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "server/base/status.h"
#include "server/mechanism/rows.h"

namespace sinkd {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kEmbeddings[][ToyModel::kHidden] = {{0, 1, 0}, {0, 1, 2}, {0, 1, 2},
                                                    {0, 1, 0}, {0, 2, 0}, {kInfinity, 1, 0}};
constexpr float kWrites[][ToyModel::kBlocks] = {{0, 100, 1, 1, 0, -100}, {0, 0, 30, 0, -30, 0},
                                                {0, 0, 0, 0, 0, 0},      {0, 0, 0, 40, 0, 0},
                                                {0, 0, 0, 0, 0, 0},      {0, 0, 0, 0, 0, 0}};

template <typename A, typename B>
double Dot(const A& a, const B& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

template <typename Row>
void Apply(const Edit& edit, Row& row) {
  if (edit.action == EditAction::kRemove) {
    const double along = Dot(row, edit.vector) / Dot(edit.vector, edit.vector);
    for (size_t c = 0; c < row.size(); ++c) {
      row[c] -= static_cast<float>(along * edit.vector[c]);
    }
    return;
  }
  const double norm = Norm(row);
  for (size_t c = 0; c < row.size(); ++c) {
    switch (edit.action) {
      case EditAction::kReplace:
        row[c] = edit.vector[c];
        break;
      case EditAction::kSetNorm:
        if (norm > 0) row[c] = static_cast<float>(row[c] / norm * edit.amount);
        break;
      case EditAction::kClipNorm:
        if (norm > edit.amount) row[c] = static_cast<float>(row[c] / norm * edit.amount);
        break;
      case EditAction::kAdd:
        row[c] += static_cast<float>(edit.amount) * edit.vector[c];
        break;
      default:
        break;  // attention adds nothing, however it is edited
    }
  }
}

template <typename Rows>
void ApplyAll(const Variant& variant, int64_t block, Site site, Rows& rows) {
  for (const Edit& edit : variant) {
    if (edit.block != block || edit.site != site || ChangesAttention(edit.action)) continue;
    for (const int64_t t : edit.positions) Apply(edit, rows[Trace::At(t)]);
  }
}

}  // namespace

ToyModel::ToyModel() {
  info_.spec.blocks = kBlocks;
  info_.spec.hidden = kHidden;
  info_.spec.intermediate = kHidden;
  info_.spec.heads = 1;
  info_.spec.experts.in_block.assign(kBlocks, false);
  info_.device = "cpu";
  info_.compute_type = "float32";
}

absl::Status ToyModel::Enter() const {
  if (calls_left == 0) return Cancelled("stopped");
  if (calls_left > 0) --calls_left;
  return absl::OkStatus();
}

ToyModel::Pass ToyModel::Forward(const TokenIds& ids, const Variant& variant) const {
  Pass pass;
  std::vector<Row> state;
  for (const int32_t id : ids) state.push_back(std::to_array(kEmbeddings[id]));
  for (int64_t block = 0; block < kBlocks; ++block) {
    std::vector<Row> attention(state.size(), Row{});
    ApplyAll(variant, block, Site::kAttnOut, attention);
    std::vector<Row> mlp(state.size(), Row{});
    for (size_t t = 0; t < ids.size(); ++t) {
      for (size_t c = 0; c < kHidden; ++c) state[t][c] += attention[t][c];
      mlp[t][0] = kWrites[ids[t]][block];
    }
    pass.mlp_in.push_back(state);
    ApplyAll(variant, block, Site::kMlpOut, mlp);
    for (size_t t = 0; t < ids.size(); ++t) {
      for (size_t c = 0; c < kHidden; ++c) state[t][c] += mlp[t][c];
    }
    ApplyAll(variant, block, Site::kResidPost, state);
    pass.mlp_out.push_back(mlp);
    pass.resid_post.push_back(state);
  }
  return pass;
}

Trace ToyModel::MakeTrace(const TokenIds& ids, const Pass& pass,
                          const TraceRequest& request) const {
  Trace trace{.layers = kBlocks,
              .positions = std::ssize(ids),
              .heads = 1,
              .candidates = std::min<int64_t>(kPrimaryCandidates, std::ssize(ids))};
  for (size_t block = 0; block < kBlocks; ++block) {
    const std::vector<Row>& states = pass.resid_post[block];
    for (size_t t = 0; t < ids.size(); ++t) {
      trace.state_norm.push_back(static_cast<float>(Norm(states[t])));
      trace.mlp_norm.push_back(static_cast<float>(Norm(pass.mlp_out[block][t])));
      if (!request.attention) continue;
      trace.attention_sum.push_back(static_cast<float>(kAlpha * double(ids.size() - t)));
      trace.attention_self.push_back(static_cast<float>(kAlpha));
    }
    for (int64_t c = 0; c < trace.candidates; ++c) {
      for (const Row& state : states) {
        trace.candidate_cosine.push_back(static_cast<float>(Cosine(state, states[Trace::At(c)])));
      }
    }
  }
  return trace;
}

absl::StatusOr<std::vector<Trace>> ToyModel::Run(std::span<const TokenIds> batch,
                                                 const TraceRequest& request,
                                                 std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  std::vector<Trace> traces;
  int64_t tokens = 0;
  for (const TokenIds& ids : batch) {
    traces.push_back(MakeTrace(ids, Forward(ids, {}), request));
    tokens += std::ssize(ids);
  }
  run_tokens.push_back(tokens);
  return traces;
}

absl::StatusOr<std::shared_ptr<const Head>> ToyModel::LoadHead(std::stop_token) const {
  // Not empty, and never looked into.
  return std::shared_ptr<const Head>(std::make_shared<int>(), reinterpret_cast<const Head*>(this));
}

absl::StatusOr<InterventionOutcome> ToyModel::Intervene(const TokenIds& ids,
                                                        std::span<const Variant> variants,
                                                        const InterventionRequest& request,
                                                        std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  variants_run.push_back(std::ssize(variants));
  const auto run = [&](const Variant& variant) {
    const Pass pass = Forward(ids, variant);
    PassOutcome outcome{.trace = MakeTrace(ids, pass, request.trace)};
    if (request.head) {
      double sum = 0;
      for (const Row& state : pass.resid_post.back()) sum += state[0];
      outcome.loss = sum / static_cast<double>(ids.size());
    }
    for (size_t t = 0; request.predictions && t + 1 < ids.size(); ++t) {
      const float value = pass.resid_post.back()[t][0];
      outcome.predictions.losses.push_back(value);
      outcome.predictions.choices.push_back(value > 0 ? 1 : 0);
      outcome.predictions.divergence.push_back(std::fabs(value));
    }
    return outcome;
  };
  InterventionOutcome outcome{.base = run({})};
  const int64_t tokens = std::ssize(ids);
  outcome.block_rows = tokens * kBlocks;
  for (const Variant& variant : variants) {
    outcome.variants.push_back(run(variant));
    outcome.block_rows += tokens * (kBlocks - 1 - variant.front().block);
  }
  outcome.naive_block_rows = tokens * kBlocks * (1 + std::ssize(variants));
  return outcome;
}

absl::StatusOr<std::vector<Matrix>> ToyModel::Capture(const TokenIds& ids,
                                                      std::span<const CaptureRequest> requests,
                                                      std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  const Pass pass = Forward(ids, {});
  std::vector<Matrix> matrices;
  for (const CaptureRequest& request : requests) {
    const auto& site = request.site == Site::kMlpOut      ? pass.mlp_out
                       : request.site == Site::kResidPost ? pass.resid_post
                                                          : pass.mlp_in;
    Matrix& matrix = matrices.emplace_back(Matrix{std::ssize(request.positions), kHidden});
    for (const int64_t t : request.positions) {
      const Row row =
          request.site == Site::kAttnOut ? Row{} : site[Trace::At(request.block)][Trace::At(t)];
      matrix.values.insert(matrix.values.end(), row.begin(), row.end());
    }
  }
  return matrices;
}

absl::StatusOr<Matrix> ToyModel::RunMlpAlone(int64_t, const Matrix& rows, std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  return rows;
}

absl::StatusOr<RowNorms> ToyModel::MeasureNorms(const TokenIds& ids, std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  RowNorms norms{.layers = kBlocks, .positions = std::ssize(ids)};
  const Pass pass = Forward(ids, {});
  for (const std::vector<Row>& states : pass.resid_post) {
    for (size_t t = 0; t < ids.size(); ++t) {
      norms.key.push_back(static_cast<float>(t + 1));
      norms.value.push_back(static_cast<float>(10 * (t + 1)));
      norms.state.push_back(static_cast<float>(Norm(states[t])));
    }
  }
  return norms;
}

absl::StatusOr<std::vector<BlockEntries>> ToyModel::FindLargeEntries(const TokenIds& ids,
                                                                     int64_t top,
                                                                     std::span<const int64_t> rest,
                                                                     std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  std::vector<BlockEntries> blocks;
  for (const std::vector<Row>& states : Forward(ids, {}).resid_post) {
    BlockEntries& block = blocks.emplace_back();
    for (size_t t = 0; t < ids.size(); ++t) {
      for (size_t c = 0; c < kHidden; ++c) {
        block.largest.push_back({int64_t(t), int64_t(c), states[t][c]});
      }
    }
    std::stable_sort(block.largest.begin(), block.largest.end(),
                     [](const LargeEntry& a, const LargeEntry& b) {
                       return std::fabs(a.value) > std::fabs(b.value);
                     });
    block.median = block.largest[block.largest.size() / 2].value;
    block.largest.resize(std::min(block.largest.size(), static_cast<size_t>(top)));
    for (const int64_t t : rest) {
      for (const float value : states[Trace::At(t)]) {
        block.largest_of_rest = std::max(block.largest_of_rest, std::fabs(value));
      }
    }
  }
  return blocks;
}

absl::StatusOr<std::vector<std::vector<BlockEntropy>>> ToyModel::MeasureEntropy(
    const TokenIds&, std::span<const std::vector<int64_t>> windows, double, std::stop_token) const {
  SINKD_RETURN_IF_ERROR(Enter());
  std::vector<std::vector<BlockEntropy>> results;
  for (const std::vector<int64_t>& window : windows) {
    BlockEntropy entropy;
    if (window.empty()) {
      entropy.undefined = "no positions";
    } else {
      entropy.entropy = std::log(static_cast<double>(window.size()));
    }
    results.emplace_back(kBlocks, entropy);
  }
  return results;
}

}  // namespace sinkd
