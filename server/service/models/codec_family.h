// CodecFamily: facts about the model families, from struct to proto.
//
// Thread-safety: pure functions.
#pragma once

#include <span>

#include "server/engine/family_facts.h"
#include "sinks/v1/models.pb.h"

namespace sinkd {

sinks::v1::ListFamiliesResponse EncodeFamilies(std::span<const FamilyFacts> families);

}  // namespace sinkd
