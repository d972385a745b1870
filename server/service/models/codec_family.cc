#include "server/service/models/codec_family.h"

#include <string>

namespace sinkd {
namespace {

void EncodeFamily(const FamilyFacts& facts, sinks::v1::Family* out) {
  out->set_model_type(std::string(facts.model_type));
  out->set_models(std::string(facts.models));
  out->set_particular(std::string(facts.particular));
  if (!facts.finding.empty()) out->set_finding(std::string(facts.finding));
  out->set_reference(std::string(facts.reference));
  for (const SiteDifference& difference : facts.differences) {
    sinks::v1::SiteDifference& site = *out->add_differences();
    site.set_site(std::string(difference.site));
    site.set_float32_difference(difference.float32);
    if (difference.bfloat16_ratio > 0) site.set_bfloat16_ratio(difference.bfloat16_ratio);
  }
  for (const KnownModel& known : facts.known_models) {
    sinks::v1::KnownModel& model = *out->add_known_models();
    model.set_name(std::string(known.name));
    model.set_parameters(known.parameters);
    model.set_weight_bytes(known.weight_bytes);
  }
}

}  // namespace

sinks::v1::ListFamiliesResponse EncodeFamilies(std::span<const FamilyFacts> families) {
  sinks::v1::ListFamiliesResponse response;
  for (const FamilyFacts& facts : families) EncodeFamily(facts, response.add_families());
  return response;
}

}  // namespace sinkd
