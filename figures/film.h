// A run from its first frame to its last, with everything that figures measure and draw.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "figures/figure.h"
#include "verve/record.h"
#include "verve/scene_file.h"
#include "verve/simulation.h"

namespace verve::figures {

/// A built-in scene; a fault in one is a fault of the program: std::runtime_error.
Scene scene(const std::string& name, const std::vector<Override>& overrides = {});
bool is_builtin(const std::string& name);
Simulation simulation(const Scene& scene, int threads = 1);
/// The same scene by a method as it is known by name, with the tolerance that the scene has.
Scene by_method(Scene scene, const std::string& method);

/// A state and what led to it. Frame 0 is the start.
struct Shot {
  double time = 0;
  Measures all;
  std::vector<Measures> bodies;
  StepReport step;          ///< of frame 0: empty
  double milliseconds = 0;  ///< of the processor, on one thread
  double roughness = 0;
  double extra = 0;  ///< what the figure itself measures
};

struct Film {
  std::string label;
  Scene scene;
  int vertices = 0, elements = 0;
  std::vector<Shot> shots;
  std::vector<std::vector<Vec3>> poses;               ///< by frame, where they were kept
  std::vector<std::vector<RemovedElements>> removed;  ///< likewise, by body, of scenes that tear
  std::string failure;                                ///< why it ended early

  int frames() const { return int(shots.size()) - 1; }
  std::vector<double> column(const std::function<double(const Shot&)>& value) const;
  Curve curve(const std::function<double(const Shot&)>& value) const;  ///< over time, under its label
  double mean_iterations() const;
  double mean_milliseconds() const;
  /// Largest departures over frames [from, to) from frame `base`: of H in units of its value there, of L and P in units
  /// of |L| there and of sqrt(2 m H).
  double off_energy(int from = 0, int to = -1, int base = 0) const;
  double off_spin(int from = 0, int to = -1, int base = 0) const;
  double off_momentum(int from = 0, int to = -1, int base = 0) const;
};

struct FilmOptions {
  std::string label{};      ///< default: the method
  int frames = 0;           ///< default: the scene's
  bool keep_poses = false;  ///< for pictures and for measurements afterwards
  int keep_every = 1;       ///< poses of large scenes: those between are empty
  bool roughness = false;
  bool each_body = false;
  int threads = 1;
  double most_milliseconds =
      0;  ///< mean per frame beyond which a run is given up after ten, the first left out; 0: never
  std::function<double(const Simulation&)> extra{};     ///< Shot::extra
  std::function<void(Simulation&, int)> before_step{};  ///< given the number of the frame to come
};

/// A run that fails ends early and says why; whoever needs all of it checks `failure`.
Film film(const Context& context, const Scene& scene, const FilmOptions& options = {});
/// The same, or std::runtime_error where it did not come to its end.
Film whole_film(const Context& context, const Scene& scene, const FilmOptions& options = {});

/// P^2/2m + 1/2 L.I^-1 L about the centre of mass (CPD Eq. 13): what the momenta alone need of the energy.
double least_energy(const Simulation& simulation, int body);
/// Time that the calling thread has spent on a processor [s].
double thread_seconds();

double mean(std::span<const double> values);
double deviation(std::span<const double> values);
double largest(std::span<const double> values);
double least(std::span<const double> values);
/// Largest less least, over the mean.
double spread(std::span<const double> values);
/// Values at the tops, each of the parabola through three frames, of peaks above `floor`.
struct Peak {
  int frame;
  double value;
};
std::vector<Peak> peaks(std::span<const double> values, double floor = -1e300);
/// Slope of the line through the values over 0, 1, 2, … by least squares.
double slope(std::span<const double> values);
double volume(const Mesh& mesh, const Vec3* x);

// --- pictures ---
struct Look {
  const Film* film;
  int frame;
  std::string label{};  ///< default: method and frame
};
struct StripOptions {
  int columns = 6, width = 300, height = 240;
  Vec3 direction{0.35, 0.35, 1};
  bool strain = false;                   ///< colours show it, by one scale for all, drawn below
  double strain_max = 0;                 ///< at the end of that scale; 0: as far as it goes
  std::optional<double> floor_height{};  ///< default: the scene's ground, else below everything
  bool follow = false;   ///< each picture has its bodies in the middle, all at one scale; there is no floor then
  double reach = 1e300;  ///< points farther than this from the origin [m] may fall out of the picture
  int last = 1 << 30;    ///< frame of a moving picture
};
/// Frames side by side, as `name`.png; nothing without pictures.
void strip(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<Look>& looks, const StripOptions& options = {});
/// Every n-th frame of runs beside each other as a moving picture, `name`.gif; not in a quick run. Beside them, one
/// above the other, curves over time that grow with it.
void movie(const Context& context, Result& result, const std::string& name, const std::string& caption,
           const std::vector<const Film*>& films, int every, double frames_per_second, const StripOptions& options = {},
           const std::vector<Chart>& curves = {});
/// n frames evenly over a film.
std::vector<Look> spread_looks(const Film& film, int count, int last = -1);

}  // namespace verve::figures
