#include "client/cli/output/tensor_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace sinkd::cli {
namespace {

namespace v1 = ::sinks::v1;

bool IsNumber(std::string_view part) {
  return !part.empty() &&
         std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
}

}  // namespace

std::string ShapeText(const v1::PlannedTensor& tensor) {
  return fmt::format("[{}]", fmt::join(tensor.shape(), ", "));
}

std::string TensorPattern(std::string_view name) {
  std::string pattern;
  std::string_view before;
  bool block_seen = false;
  while (true) {
    const size_t dot = std::min(name.find('.'), name.size());
    const std::string_view part = name.substr(0, dot);
    if (IsNumber(part) && before == "experts") {
      pattern += "{expert}";
    } else if (IsNumber(part) && !block_seen) {
      pattern += "{block}";
      block_seen = true;
    } else {
      pattern += part;
    }
    if (dot == name.size()) return pattern;
    pattern += '.';
    before = part;
    name.remove_prefix(dot + 1);
  }
}

std::vector<TensorGroup> GroupTensors(
    const google::protobuf::RepeatedPtrField<v1::PlannedTensor>& tensors) {
  std::vector<TensorGroup> groups;
  std::map<std::tuple<std::string, std::string, std::string, int>, size_t> index;
  for (const v1::PlannedTensor& tensor : tensors) {
    TensorGroup group{.pattern = TensorPattern(tensor.name()),
                      .shape = ShapeText(tensor),
                      .type = tensor.stored_type(),
                      .use = tensor.use()};
    const auto [place, is_new] = index.emplace(
        std::tuple(group.pattern, group.shape, group.type, static_cast<int>(group.use)),
        groups.size());
    if (is_new) groups.push_back(std::move(group));
    ++groups[place->second].count;
    groups[place->second].bytes += tensor.stored_bytes();
  }
  return groups;
}

}  // namespace sinkd::cli
