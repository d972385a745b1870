#include "server/mechanism/draws.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

namespace sinkd {

std::vector<int64_t> Draws::Choose(int64_t count, int64_t wanted) {
  // Fisher and Yates' shuffle of 0, 1, ..., begun and not finished; places not touched yet hold
  // their own index.
  std::unordered_map<int64_t, int64_t> moved;
  const auto at = [&](int64_t place) {
    const auto found = moved.find(place);
    return found == moved.end() ? place : found->second;
  };
  std::vector<int64_t> chosen;
  for (int64_t i = 0; i < std::min(wanted, count); ++i) {
    const int64_t place = i + Index(count - i);
    chosen.push_back(at(place));
    moved[place] = at(i);
  }
  return chosen;
}

std::vector<int64_t> Draws::ChooseFrom(const std::vector<int64_t>& values, int64_t wanted) {
  std::vector<int64_t> chosen = Choose(static_cast<int64_t>(values.size()), wanted);
  for (int64_t& each : chosen) each = values[static_cast<size_t>(each)];
  return chosen;
}

std::vector<float> Draws::UnitVector(int64_t size) {
  std::vector<double> values(static_cast<size_t>(size));
  double squares = 0;
  while (squares == 0) {
    for (double& value : values) {
      value = draws_.Normal();
      squares += value * value;
    }
  }
  std::vector<float> direction;
  for (const double value : values) {
    direction.push_back(static_cast<float>(value / std::sqrt(squares)));
  }
  return direction;
}

}  // namespace sinkd
