// Measures every checkpoint of the parity tests and prints
// server/engine/families/family_differences.cc.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <map>
#include <string>
#include <string_view>

#include "tests/engine/site_differences.h"

namespace sinkd::testing {
namespace {

using Families = std::map<std::string, std::map<std::string_view, SiteDifference>>;

// Keeps the larger figures of both.
void Merge(const CaseDifferences& more, Families& families) {
  for (const SiteDifference& site : more.differences) {
    SiteDifference& largest = families[more.family][site.site];
    largest.site = site.site;
    largest.float32 = std::max(largest.float32, site.float32);
    largest.bfloat16_ratio = std::max(largest.bfloat16_ratio, site.bfloat16_ratio);
  }
}

// "gemma3_text" -> "kGemma3Text"
std::string Constant(const std::string& family) {
  std::string name = "k";
  bool upper = true;
  for (const char c : family) {
    if (c != '_') name += upper ? static_cast<char>(std::toupper(c)) : c;
    upper = c == '_';
  }
  return name;
}

void Print(const Families& families) {
  printf(
      "// Written by the target family_differences (tests/engine/write_family_differences.cc).\n"
      "#include \"server/engine/families/family_differences.h\"\n\n"
      "namespace sinkd {\nnamespace {\n\n");
  for (const auto& [family, differences] : families) {
    printf("constexpr SiteDifference %s[] = {\n", Constant(family).c_str());
    for (const std::string_view name : SitesInOrder()) {
      const auto site = differences.find(name);
      if (site == differences.end()) continue;
      printf("    {\"%s\", %.1e, %.2f},\n", std::string(name).c_str(), site->second.float32,
             site->second.bfloat16_ratio);
    }
    printf("};\n");
  }
  printf(
      "\n}  // namespace\n\n"
      "std::span<const SiteDifference> DifferencesOf(std::string_view model_type) {\n");
  for (const auto& [family, differences] : families) {
    printf("  if (model_type == \"%s\") return %s;\n", family.c_str(), Constant(family).c_str());
  }
  printf("  return {};\n}\n\n}  // namespace sinkd\n");
}

int Write() {
  Families families;
  for (const ParityCase& parity : ParityCases()) {
    const auto found = DifferencesOfCase(parity);
    if (!found.ok()) {
      fprintf(stderr, "%s: %s\n", parity.checkpoint.c_str(), found.status().ToString().c_str());
      return 1;
    }
    Merge(*found, families);
  }
  Print(families);
  return 0;
}

}  // namespace
}  // namespace sinkd::testing

int main() {
  return sinkd::testing::Write();
}
