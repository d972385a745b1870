// Model ids: what clients call a model, and the name of its folder under the model root.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// ^[a-z0-9][a-z0-9._-]{0,63}$ : no id climbs out of a folder or hides in it.
bool IsModelId(std::string_view id);

// The id that a folder of another name could have: "Qwen2.5-7B" gives "qwen2.5-7b". Empty where
// nothing of the name can be part of an id.
std::string ModelIdFor(std::string_view name);

// Why `name` is no model id, as the end of a sentence: "'Q' cannot be in an id".
std::string WhyNoModelId(std::string_view name);

}  // namespace sinkd
