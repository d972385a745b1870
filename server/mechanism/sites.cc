#include "server/mechanism/sites.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sinkd {
namespace {

constexpr std::pair<Site, sinks::v1::Site> kSites[] = {
    {Site::kResidPre, sinks::v1::SITE_RESID_PRE},
    {Site::kAttnOut, sinks::v1::SITE_ATTN_OUT},
    {Site::kMlpIn, sinks::v1::SITE_MLP_IN},
    {Site::kGate, sinks::v1::SITE_GATE},
    {Site::kUp, sinks::v1::SITE_UP},
    {Site::kAct, sinks::v1::SITE_ACT},
    {Site::kProduct, sinks::v1::SITE_PRODUCT},
    {Site::kMlpOut, sinks::v1::SITE_MLP_OUT},
    {Site::kResidPost, sinks::v1::SITE_RESID_POST}};

}  // namespace

sinks::v1::Site EncodeSite(Site site) {
  const auto* found = std::find_if(std::begin(kSites), std::end(kSites),
                                   [site](const auto& pair) { return pair.first == site; });
  return found == std::end(kSites) ? sinks::v1::SITE_UNSPECIFIED : found->second;
}

Site DecodeSite(sinks::v1::Site site) {
  const auto* found = std::find_if(std::begin(kSites), std::end(kSites),
                                   [site](const auto& pair) { return pair.second == site; });
  return found == std::end(kSites) ? Site::kResidPre : found->first;
}

}  // namespace sinkd
