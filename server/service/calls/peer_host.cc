#include "server/service/calls/peer_host.h"

namespace sinkd {
namespace {

// `text` without `prefix` and `suffix`, where it has both.
std::string_view Between(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return text;
  text.remove_prefix(prefix.size());
  text.remove_suffix(suffix.size());
  return text;
}

}  // namespace

std::string PeerHost(std::string_view peer) {
  if (peer.starts_with("unix")) return "unix";
  peer.remove_prefix(peer.starts_with("ipv4:") || peer.starts_with("ipv6:") ? 5 : 0);
  const std::string_view host = peer.substr(0, peer.rfind(':'));
  return std::string(Between(Between(host, "%5B", "%5D"), "[", "]"));
}

}  // namespace sinkd
