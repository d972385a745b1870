// GroupOrder: the group of each input. Inputs of a group share a scale. Groups are consecutive
// inputs, or given by a tensor (g_idx).
//
// Thread-safety: plain value. Errors: FAILED_PRECONDITION naming the tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "server/base/status.h"
#include "server/base/str_cat.h"
#include "server/engine/checkpoint/quantized/module_tensors.h"

namespace sinkd {

class GroupOrder {
 public:
  // For `columns` inputs in `groups` groups of `size`; `part` is the tensor [columns], if there is
  // one.
  static absl::StatusOr<GroupOrder> Of(const ModuleTensors& module, std::string_view part,
                                       int64_t columns, int64_t groups, int64_t size) {
    GroupOrder order{columns, groups, size, std::nullopt};
    if (!module.Has(part)) return order;
    SINKD_ASSIGN_OR_RETURN(order.stored_, module.Part(part, {"I32", "I64"}, {columns}));
    return order;
  }

  // [columns] the group of each input, 0 to groups - 1.
  absl::StatusOr<std::vector<int64_t>> Read() const {
    std::vector<int64_t> group_of(static_cast<size_t>(columns_));
    for (int64_t k = 0; k < columns_; ++k) group_of[static_cast<size_t>(k)] = k / size_;
    if (!stored_) return group_of;
    SINKD_ASSIGN_OR_RETURN(group_of, stored_->Integers());
    for (const int64_t group : group_of) {
      if (group >= 0 && group < groups_) continue;
      return stored_->Error(StrCat("names group ", group, " of ", groups_));
    }
    return group_of;
  }

 private:
  GroupOrder(int64_t columns, int64_t groups, int64_t size, std::optional<StoredPart> stored)
      : columns_(columns), groups_(groups), size_(size), stored_(std::move(stored)) {}

  int64_t columns_, groups_, size_;
  std::optional<StoredPart> stored_;
};

}  // namespace sinkd
