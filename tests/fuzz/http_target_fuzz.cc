// The target of an HTTP request, as it stands in the request line.
#include <string_view>

#include "server/base/utf8.h"
#include "server/http/http_query.h"
#include "tests/fuzz/require.h"

using sinkd::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto query = sinkd::ParseTarget({reinterpret_cast<const char*>(data), size});
  if (!query.ok()) {
    sinkd::fuzz::RequireToldError(query.status());
    return 0;
  }
  Require(!query->path.empty(), "a path without a segment");
  for (const auto& part : query->path) Require(!sinkd::FirstInvalidUtf8(part), "no UTF-8", part);
  for (const auto& [name, value] : query->parameters) {
    Require(!sinkd::FirstInvalidUtf8(name) && !sinkd::FirstInvalidUtf8(value), "no UTF-8", name);
  }
  return 0;
}
