#include "server/analysis/distributions.h"

#include <cmath>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/beta.hpp>

namespace sinkd {
namespace {

namespace policies = boost::math::policies;

// Boost throws by default; no exception may leave this room.
using Quiet = policies::policy<policies::domain_error<policies::ignore_error>,
                               policies::pole_error<policies::ignore_error>,
                               policies::overflow_error<policies::ignore_error>,
                               policies::evaluation_error<policies::ignore_error>>;
using Student = boost::math::students_t_distribution<double, Quiet>;

}  // namespace

double TwoSidedStudentP(double value, double degrees) {
  if (std::isinf(value)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(Student(degrees), std::fabs(value)));
}

double StudentQuantile975(double degrees) {
  return boost::math::quantile(boost::math::complement(Student(degrees), 0.025));
}

double CorrelationP(double one_minus_r_squared, double degrees) {
  if (one_minus_r_squared <= 0) return 0;
  if (one_minus_r_squared >= 1) return 1;
  return boost::math::ibeta(degrees / 2, 0.5, one_minus_r_squared, Quiet());
}

}  // namespace sinkd
