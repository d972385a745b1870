#include "server/engine/interventions/edit_checks.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/families/range_checks.h"

namespace sinkd {
namespace {

absl::Status Refuse(std::string_view reason, std::string_view subject, std::string_view what,
                    std::string_view fix) {
  return InvalidArgument(
      what,
      {.reason = std::string(reason), .subject = std::string(subject), .fix = std::string(fix)});
}

absl::Status CheckValues(const DecoderSpec& spec, const Edit& edit) {
  const bool by_vector = edit.action == EditAction::kReplace || edit.action == EditAction::kAdd ||
                         edit.action == EditAction::kRemove;
  if (by_vector && static_cast<int64_t>(edit.vector.size()) != spec.hidden) {
    return Refuse("BAD_VECTOR", "vector",
                  StrCat("an edit's vector has ", edit.vector.size(), " values"),
                  StrCat("give ", spec.hidden));
  }
  if (!std::all_of(edit.vector.begin(), edit.vector.end(),
                   [](float v) { return std::isfinite(v); })) {
    return Refuse("BAD_VECTOR", "vector", "an edit's vector is not finite", "give finite values");
  }
  const bool by_norm = edit.action == EditAction::kSetNorm || edit.action == EditAction::kClipNorm;
  if (!std::isfinite(edit.amount) || (by_norm && edit.amount < 0)) {
    return Refuse("BAD_AMOUNT", "amount", StrCat("an edit's amount is ", edit.amount),
                  "give a finite number, for a norm at least 0");
  }
  return absl::OkStatus();
}

absl::Status CheckHeads(const DecoderSpec& spec, const Edit& edit) {
  for (const int64_t head : edit.heads) {
    if (head >= 0 && head < spec.heads) continue;
    return Refuse("HEAD_OUT_OF_RANGE", "heads", StrCat("an edit names head ", head),
                  StrCat("choose from 0 to ", spec.heads - 1));
  }
  return absl::OkStatus();
}

absl::Status CheckAttention(const DecoderSpec& spec, const Edit& edit) {
  if (!spec.Attends(edit.block)) {
    return Refuse("NO_ATTENTION", "block",
                  StrCat("block ", edit.block, " has no softmax attention to edit"),
                  "choose a block that has");
  }
  if (edit.action == EditAction::kOneKey && edit.positions.size() > 1) {
    return Refuse("SEVERAL_KEYS", "positions",
                  StrCat("an edit sends heads to ", edit.positions.size(), " keys"), "name one");
  }
  return CheckHeads(spec, edit);
}

absl::Status CheckEdit(const DecoderSpec& spec, const Edit& edit, int64_t length) {
  SINKD_RETURN_IF_ERROR(CheckBlock(spec, edit.block));
  if (ChangesAttention(edit.action)) {
    SINKD_RETURN_IF_ERROR(CheckAttention(spec, edit));
  } else if (edit.site != Site::kAttnOut && edit.site != Site::kMlpOut &&
             edit.site != Site::kResidPost) {
    return Refuse("NOT_EDITABLE", "site", StrCat(SiteName(edit.site), " cannot be edited"),
                  "choose attn_out, mlp_out or resid_post");
  }
  SINKD_RETURN_IF_ERROR(CheckPositions(edit.positions, length));
  if (std::adjacent_find(edit.positions.begin(), edit.positions.end(), std::greater_equal<>()) !=
      edit.positions.end()) {
    return Refuse("POSITIONS_UNSORTED", "positions", "an edit's positions do not ascend",
                  "name each once, in order");
  }
  return CheckValues(spec, edit);
}

}  // namespace

absl::Status CheckVariants(const DecoderSpec& spec, std::span<const Variant> variants,
                           int64_t length) {
  for (const Variant& variant : variants) {
    for (const Edit& edit : variant) SINKD_RETURN_IF_ERROR(CheckEdit(spec, edit, length));
  }
  return absl::OkStatus();
}

}  // namespace sinkd
