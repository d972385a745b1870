// CategoryCounts: counts of a few categories on the two sides of a pool.
//
// Thread-safety: one thread at a time.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "server/audit/pool.h"

namespace sinkd {

template <typename Category>
class CategoryCounts {
 public:
  // `list(unit, add)` calls add(category) for each category of the unit.
  template <typename List>
  CategoryCounts(UnitSpan units, const List& list) {
    for (const AuditUnit* unit : units) {
      list(*unit, [this](const Category& category) { categories_.push_back(category); });
    }
    std::sort(categories_.begin(), categories_.end());
    categories_.erase(std::unique(categories_.begin(), categories_.end()), categories_.end());
    for (uint32_t i = 0; i < units.size(); ++i) {
      list(*units[i], [this, i](const Category& category) {
        const auto found = std::lower_bound(categories_.begin(), categories_.end(), category);
        items_.push_back({i, static_cast<uint32_t>(found - categories_.begin())});
      });
    }
  }

  const std::vector<Category>& categories() const { return categories_; }  // ascending

  // By side, one count per category; with `weights`, each unit counts so many times. Valid until
  // the next call.
  const std::array<std::vector<int64_t>, 2>& Count(const Sides& sides,
                                                   std::span<const int32_t> weights = {}) {
    for (std::vector<int64_t>& side : counts_) side.assign(categories_.size(), 0);
    for (const Item& item : items_) {
      counts_[sides[item.unit]][item.category] += weights.empty() ? 1 : weights[item.unit];
    }
    return counts_;
  }

 private:
  struct Item {
    uint32_t unit;
    uint32_t category;
  };

  std::vector<Category> categories_;
  std::vector<Item> items_;
  std::array<std::vector<int64_t>, 2> counts_;
};

}  // namespace sinkd
