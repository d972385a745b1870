// Model ids: what clients call a model, and the name of its folder under the model root.
#pragma once

#include <string_view>

namespace sinkd {

// ^[a-z0-9][a-z0-9._-]{0,63}$ : no id climbs out of a folder or hides in it.
bool IsModelId(std::string_view id);

}  // namespace sinkd
