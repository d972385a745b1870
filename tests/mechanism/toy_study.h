// Runs studies on the toy model.
#pragma once

#include <vector>

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

inline StudyReport RunToy(const StudyParameters& parameters, const StudyModel& model,
                          const std::vector<TokenIds>& ids) {
  auto study = NewStudy(parameters, model, ToySamples(ids));
  while (!study->done()) {
    const absl::Status status = study->Step({});
    EXPECT_TRUE(status.ok()) << status;
    if (!status.ok()) break;
  }
  return study->Report("");
}

}  // namespace sinkd
