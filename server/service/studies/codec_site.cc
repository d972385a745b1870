#include "server/service/studies/codec_site.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <absl/strings/str_cat.h>

#include "server/base/status.h"

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

absl::StatusOr<std::vector<Site>> DecodeSites(const google::protobuf::RepeatedField<int>& sites,
                                              const std::string& field) {
  std::vector<Site> out;
  for (int i = 0; i < sites.size(); ++i) {
    const int value = sites[i];
    const auto* found = std::find_if(std::begin(kSites), std::end(kSites),
                                     [value](const auto& pair) { return pair.second == value; });
    if (found == std::end(kSites)) {
      const std::string place = absl::StrCat(field, "[", i, "]");
      return InvalidArgument(absl::StrCat(place, " is not a site this server knows"),
                             {.reason = "UNKNOWN_ENUM_VALUE",
                              .subject = place,
                              .value = absl::StrCat(value),
                              .fix = absl::StrCat("use a value from 1 to ", sinks::v1::Site_MAX)});
    }
    out.push_back(found->first);
  }
  return out;
}

}  // namespace sinkd
