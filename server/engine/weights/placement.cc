#include "server/engine/placement.h"

#include <numeric>

#include <absl/strings/numbers.h>
#include <absl/strings/str_join.h>
#include <absl/strings/str_split.h>

#include "server/base/status.h"
#include "server/base/str_cat.h"

namespace sinkd {
namespace {

absl::Status Refuse(std::string_view part, std::string_view what, int64_t blocks) {
  return InvalidArgument(
      StrCat("a placement ", what),
      {.reason = "BAD_PLACEMENT",
       .subject = "device",
       .value = Shorten(part),
       .fix = StrCat("write device=first-last parts, in order, that name blocks 0 to ", blocks - 1,
                     " once each, such as cuda:0=0-", (blocks - 1) / 2,
                     ",cuda:1=", (blocks - 1) / 2 + 1, "-", blocks - 1)});
}

absl::StatusOr<BlockSpan> ParseSpan(std::string_view part, int64_t blocks) {
  const size_t equals = part.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    return Refuse(part, "names a device and its blocks in each part", blocks);
  }
  const std::string_view range = part.substr(equals + 1);
  const size_t dash = range.find('-');
  const std::string first_text(range.substr(0, dash));
  const std::string last_text(dash == std::string_view::npos ? first_text
                                                             : std::string(range.substr(dash + 1)));
  int64_t first = 0;
  int64_t last = 0;
  if (!absl::SimpleAtoi(first_text, &first) || !absl::SimpleAtoi(last_text, &last) || first < 0 ||
      last < first || last >= blocks) {
    return Refuse(part, StrCat("gives ranges of blocks, first-last, below ", blocks), blocks);
  }
  return BlockSpan{std::string(part.substr(0, equals)), first, last - first + 1};
}

}  // namespace

absl::StatusOr<std::vector<BlockSpan>> ParsePlacement(std::string_view text, int64_t blocks) {
  std::vector<BlockSpan> spans;
  if (text.find('=') == std::string_view::npos) {
    spans.push_back({std::string(text), 0, blocks});
    return spans;
  }
  int64_t next = 0;
  for (const auto part : absl::StrSplit(absl::string_view(text.data(), text.size()), ',')) {
    SINKD_ASSIGN_OR_RETURN(BlockSpan span, ParseSpan({part.data(), part.size()}, blocks));
    if (span.first != next) {
      return Refuse({part.data(), part.size()}, StrCat("must go on with block ", next), blocks);
    }
    next = span.first + span.blocks;
    spans.push_back(std::move(span));
  }
  if (next != blocks) {
    return Refuse(text, StrCat("ends at block ", next - 1, " of ", blocks), blocks);
  }
  return spans;
}

std::string PlacementText(std::span<const BlockSpan> spans) {
  if (spans.size() == 1) return spans.front().device;
  return absl::StrJoin(spans, ",", [](std::string* out, const BlockSpan& span) {
    out->append(StrCat(span.device, "=", span.first, "-", span.first + span.blocks - 1));
  });
}

std::vector<std::string> DevicesOf(std::string_view placement) {
  std::vector<std::string> devices;
  for (const auto part :
       absl::StrSplit(absl::string_view(placement.data(), placement.size()), ',')) {
    devices.emplace_back(part.substr(0, part.rfind('=')));
  }
  return devices;
}

std::string HomeDevice(std::string_view placement) {
  return DevicesOf(placement).front();
}

std::vector<BlockSpan> SpreadBlocks(std::span<const DeviceRoom> devices, int64_t outer_bytes,
                                    std::span<const int64_t> block_bytes) {
  const double all =
      std::accumulate(block_bytes.begin(), block_bytes.end(), static_cast<double>(outer_bytes));
  double room = 0;
  for (const DeviceRoom& device : devices) room += static_cast<double>(device.free_bytes);
  std::vector<BlockSpan> spans;
  double placed = static_cast<double>(outer_bytes);
  double share = 0;  // of all bytes, that the devices so far should hold
  size_t next = 0;
  for (size_t d = 0; d < devices.size(); ++d) {
    share += room > 0 ? all * static_cast<double>(devices[d].free_bytes) / room : all;
    const size_t first = next;
    const bool last_device = d + 1 == devices.size();
    while (next < block_bytes.size() &&
           (last_device || placed + static_cast<double>(block_bytes[next]) / 2 <= share)) {
      placed += static_cast<double>(block_bytes[next++]);
    }
    if (next > first) {
      spans.push_back(
          {devices[d].device, static_cast<int64_t>(first), static_cast<int64_t>(next - first)});
    }
  }
  return spans;
}

}  // namespace sinkd
