// What steps have done, counted: the same at every run and on every machine, as time is not.
#pragma once

namespace verve {

struct Work {
  double calls = 0;     // of an evaluation, for each body, however small
  double elements = 0;  // evaluated, each with the square of its vertices: 16 for a tetrahedron, 4 for a spring
  double vertices = 0;  // passed over
  double entries = 0;   // of a factor, in each solve with it
  double places = 0;    // at which something may touch, looked at
  double pairs = 0;     // of what may come near, sorted out
  double products = 0;  // multiply-adds between active contacts
  double factors = 0;   // made,
  double made = 0;      // and entries of these

  Work& operator+=(const Work& o) {
    calls += o.calls, elements += o.elements, vertices += o.vertices, entries += o.entries, places += o.places;
    pairs += o.pairs, products += o.products, factors += o.factors, made += o.made;
    return *this;
  }

  static constexpr double per_product = 0.145;  // nanoseconds
  static double products_in(double milliseconds) { return 1e6 / per_product * milliseconds; }
  /// About how long one core takes for it. Fitted to the frames of the scenes of contact and tearing (`verve bench
  /// --only contact`, Intel Xeon), of which 98 in 100 take 0.65 to 1.35 times as long.
  double milliseconds() const {
    const double nanoseconds = 5e3 * calls + 1.6 * elements + 8.5 * vertices + 0.3 * entries + 40 * places +
                               230 * pairs + per_product * products + 4e4 * factors + 31 * made;
    return 1e-6 * nanoseconds;
  }
};

}  // namespace verve
