// Sites of a block, between the protocol and the engine.
//
// Thread-safety: pure functions.
#pragma once

#include "server/engine/site.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

// SITE_UNSPECIFIED for a site that the protocol does not name.
sinks::v1::Site EncodeSite(Site site);

// Of a site that the protocol names.
Site DecodeSite(sinks::v1::Site site);

}  // namespace sinkd
