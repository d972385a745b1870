#include "server/http/page/page.h"

namespace sinkd {

Page BuiltPage() {
  return {};
}

}  // namespace sinkd
