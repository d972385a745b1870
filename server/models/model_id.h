// Model ids: the names of models for clients, and of their folders under the model root.
#pragma once

#include <string>
#include <string_view>

namespace sinkd {

// ^[a-z0-9][a-z0-9._-]{0,63}$ : no id leaves the folder or is hidden in it.
bool IsModelId(std::string_view id);

// An id for a folder with another name: "qwen2.5-7b" for "Qwen2.5-7B". Empty if no part of the name
// can be part of an id.
std::string ModelIdFor(std::string_view name);

// Why `name` is not a model id, as the end of a sentence: "'Q' cannot be in an id".
std::string WhyNoModelId(std::string_view name);

}  // namespace sinkd
