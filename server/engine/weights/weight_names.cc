#include "server/engine/weights/weight_names.h"

#include <absl/strings/match.h>

#include "server/base/str_cat.h"

namespace sinkd {
namespace {

WeightNames WithPrefix(WeightNames names, const std::string& prefix) {
  for (std::string* name :
       {&names.embedding, &names.positions, &names.project_in, &names.project_out,
        &names.embedding_norm, &names.final_norm, &names.block_prefix, &names.token_inputs,
        &names.token_projection, &names.token_norm}) {
    if (absl::StartsWith(*name, names.prefix)) *name = prefix + name->substr(names.prefix.size());
  }
  names.prefix = prefix;
  return names;
}

}  // namespace

WeightNames ResolveNames(const Checkpoint& checkpoint, const DecoderSpec& spec, WeightNames names) {
  const auto has = [&checkpoint](const std::string& name) {
    return checkpoint.Find(name + ".weight") != nullptr;
  };
  for (const std::string& prefix : {names.prefix, std::string(), "language_model." + names.prefix,
                                    names.prefix + "language_model."}) {
    WeightNames candidate = WithPrefix(names, prefix);
    if (!has(candidate.embedding)) continue;
    const std::string of_half = "language_model." + names.head;
    if (!has(names.head) && has(of_half)) candidate.head = of_half;
    return candidate;
  }
  if (spec.tied_head && has(names.head)) names.embedding = names.head;
  return names;
}

}  // namespace sinkd
