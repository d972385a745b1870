// OpenApi: docs/openapi.yaml, the description of the JSON API, as the server hands it out.
//
// Thread-safety: a constant.
#pragma once

#include <string_view>

namespace sinkd {

std::string_view OpenApiText();

}  // namespace sinkd
