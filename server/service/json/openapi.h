// OpenApi: the text of docs/openapi.yaml, which describes the JSON API.
//
// Thread-safety: a constant.
#pragma once

#include <string_view>

namespace sinkd {

std::string_view OpenApiText();

}  // namespace sinkd
