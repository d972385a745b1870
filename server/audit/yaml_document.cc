#include "server/audit/yaml_document.h"

#include <sstream>

#include <yaml-cpp/eventhandler.h>

#include "server/audit/yaml_map.h"

namespace sinkd {
namespace {

class Ignored final : public YAML::EventHandler {
 public:
  using Style = YAML::EmitterStyle::value;
  using Mark = YAML::Mark;
  using Text = std::string;

  void OnDocumentStart(const Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const Mark&, YAML::anchor_t) override {}
  void OnAlias(const Mark&, YAML::anchor_t) override {}
  void OnScalar(const Mark&, const Text&, YAML::anchor_t, const Text&) override {}
  void OnSequenceStart(const Mark&, const Text&, YAML::anchor_t, Style) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const Mark&, const Text&, YAML::anchor_t, Style) override {}
  void OnMapEnd() override {}
};

}  // namespace

absl::StatusOr<YAML::Node> ReadYamlDocument(const std::string& text) {
  const auto refuse = [](std::string_view found) {
    return PolicyError(YAML::Mark::null_mark(), "", found, "must be one YAML document",
                       "keep one of them");
  };
  // Not YAML::LoadAll: a text such as "," is to yaml-cpp empty documents without end.
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Ignored ignored;
  if (!parser.HandleNextDocument(ignored)) return refuse("no document");
  if (parser.HandleNextDocument(ignored)) return refuse("several documents");
  return YAML::Load(text);
}

}  // namespace sinkd
