// Specs written as protobuf's text.
#pragma once

#include <string>

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "server/analysis/parameters.h"

namespace sinkd {

// The spec, complete: "levels { top_tokens: 3 } scores {}".
inline v1::AnalysisSpec SpecFrom(const std::string& text) {
  v1::AnalysisSpec spec;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &spec)) << text;
  FillAnalysisDefaults(spec);
  return spec;
}

}  // namespace sinkd
