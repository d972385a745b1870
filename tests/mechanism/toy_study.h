// Runs studies on the toy model.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "server/mechanism/study.h"
#include "tests/mechanism/toy_model.h"

namespace sinkd {

inline std::vector<StudySample> ToySamples(const std::vector<TokenIds>& ids) {
  std::vector<StudySample> samples;
  // Places in the request have gaps where samples could not be used.
  for (const TokenIds& each : ids) samples.push_back({10 * (std::ssize(samples) + 1), each});
  return samples;
}

// A request from protobuf's text format ("swap { loss: true }"), with defaults filled in.
inline v1::RunStudyRequest Ask(const std::string& text) {
  v1::RunStudyRequest request;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &request)) << text;
  FillStudyDefaults(request);
  return request;
}

inline std::optional<double> ValueOf(const v1::Estimate& estimate) {
  return estimate.has_value() ? std::optional(estimate.value()) : std::nullopt;
}

inline v1::StudyReport RunToy(const std::string& request, const StudyModel& model,
                              const std::vector<TokenIds>& ids) {
  auto study = NewStudy(Ask(request), model, ToySamples(ids));
  while (!study->done()) {
    const absl::Status status = study->Step({});
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) break;
  }
  return study->Report("");
}

}  // namespace sinkd
