// What steps have done, counted: the same at every run and on every machine, as time is not.
#pragma once

namespace verve {

struct Work {
  double calls = 0;     // of an evaluation, for each body, however small
  double elements = 0;  // evaluated
  double vertices = 0;  // passed over
  double entries = 0;   // of a factor, in each solve with it
  double places = 0;    // at which something may touch, looked at
  double pairs = 0;     // of what may come near, sorted out
  double products = 0;  // multiply-adds of what touches with each other
  double factors = 0;   // made,
  double made = 0;      // and entries of these

  Work& operator+=(const Work& o) {
    calls += o.calls, elements += o.elements, vertices += o.vertices, entries += o.entries, places += o.places;
    pairs += o.pairs, products += o.products, factors += o.factors, made += o.made;
    return *this;
  }

  /// About how long one core takes for it. Fitted to the frames of the scenes of contact and tearing (`verve bench
  /// --only contact`, AMD EPYC at 3 GHz), of which nearly all take 0.6 to 1.4 times as long.
  double milliseconds() const {
    const double nanoseconds = 5e3 * calls + 6 * elements + 16 * vertices + entries + 20 * places + 200 * pairs +
                               0.115 * products + 2e4 * factors + 31 * made;
    return 1e-6 * nanoseconds;
  }
};

}  // namespace verve
