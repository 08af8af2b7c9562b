// The fine-step run that stands for the truth (reference_solver.h), and the slowest motion of a run beside it: amplitude, phase, period.
#pragma once

#include <vector>

#include "figures/film.h"
#include "figures/reference_solver.h"

namespace verve::figures {

/// The scene in `steps` steps per frame; beyond what a frame may have as sub-steps, in shorter frames of which those
/// of the scene are kept. With `verlet` by that explicit method, whose errors have the opposite sign: an independent
/// witness where it is stable. Labelled "truth".
Film reference_film(const Context& context, const Scene& scene, int steps, FilmOptions options = {},
                    bool verlet = false);

/// What a run has of the truth's slowest motion, over the last third.
struct SlowError {
  double amplitude = 0;  ///< over that of the truth
  double phase = 0;      ///< behind the truth at the end [degrees], counted on from the start
};

/// The largest motion of a run as one coordinate q(t): what falls on the first principal component (by mass) of its
/// displacements. Displacements are large where modes are slow (|d| = |v|/ω), so that it is the slowest mode that has
/// a share of the energy worth the name. Bodies that nothing holds are seen in their own frame (best rigid fit of the
/// rest shape); what bounces by the height of its centre of mass.
class SlowMode {
 public:
  /// `poses` of every frame of the truth.
  SlowMode(const Simulation& simulation, const std::vector<std::vector<Vec3>>& poses);

  std::vector<double> coordinate(const std::vector<std::vector<Vec3>>& poses) const;
  double period() const { return period_; }  ///< [frames]
  /// Of the truth: amplitude over its last third by that over its first.
  double kept() const { return kept_; }
  /// Whether the run is long enough for a last third (four periods), and frames are for the period (2.5 of them).
  bool measurable() const { return period_ >= 2.5 && double(truth_.size()) >= 4 * period_; }
  SlowError error(const std::vector<double>& coordinate) const;

 private:
  std::vector<Vec3> displacement(const std::vector<Vec3>& pose) const;
  struct Body {
    size_t first, count;
    double mass;
    std::vector<Vec3> rest;  // about the centre of mass
  };
  std::vector<Body> bodies_;
  std::vector<double> mass_;
  bool free_ = false, bounces_ = false;
  std::vector<Vec3> mean_, shape_;
  std::vector<double> truth_;
  double period_ = 0, kept_ = 0;
};

/// Frames per period at the largest peak of the spectrum of values less their mean; 0 where nothing moves.
double period_of(const std::vector<double>& values);
/// A signal by its part at one period: amplitude and phase [radians] in windows of two periods (at least 8 values),
/// one after every value where it fits.
struct Demodulated {
  std::vector<double> amplitude, phase;
};
Demodulated demodulate(const std::vector<double>& values, double period);

/// Share of the accelerations of a run that is faster than frames show: |δ⁴x|²/16 over |δ²x|², by mass. A vibration of
/// four frames per period has 1/4, one of two 1.
double fast_share(const std::vector<double>& mass, const std::vector<std::vector<Vec3>>& poses);

}  // namespace verve::figures
