// CodecSite: sites of a block, between proto and engine.
//
// Thread-safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>
#include <google/protobuf/repeated_field.h>

#include "server/engine/site.h"
#include "sinks/v1/mechanism.pb.h"

namespace sinkd {

// SITE_UNSPECIFIED for a site that the protocol does not name.
sinks::v1::Site EncodeSite(Site site);

// INVALID_ARGUMENT naming `field` with the index of a value that is no site.
absl::StatusOr<std::vector<Site>> DecodeSites(const google::protobuf::RepeatedField<int>& sites,
                                              const std::string& field);

}  // namespace sinkd
