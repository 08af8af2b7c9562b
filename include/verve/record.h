// Files that a run leaves behind. Each is readable at any moment, also after a kill.
#pragma once

#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "verve/simulation.h"

namespace verve {

/// metrics.csv and positions.npy, a frame at a time. Frame 0 is written by open(). A frame appears in full or not at
/// all: the header of positions.npy always counts the frames that are there.
class Recorder {
 public:
  /// Creates the directory if need be; fails (nothing written) when it cannot be written to. Files of an earlier run
  /// in it are replaced.
  static Expected<Recorder> open(const std::filesystem::path& directory, const Simulation& simulation,
                                 bool double_positions = false);
  Recorder(Recorder&&) noexcept;
  Recorder& operator=(Recorder&&) noexcept;
  ~Recorder();

  /// Call after each successful step. Throws std::runtime_error, naming file and reason, when the frame cannot be
  /// written (disk full); the files then hold the frames before it and recording may go on later.
  void frame(const Simulation& simulation, const StepReport& report);

 private:
  struct Impl;
  explicit Recorder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// What a run kept of a quantity over the longest span in which nothing in the scene changes it from outside.
struct Kept {
  std::string text;    ///< "54.6 → 54.6 J (100.0 %)", or why there is none: "exchanged with an anchor"
  std::string span{};  ///< "from 2.53 s to 10 s", empty when there is none
  double share = std::numeric_limits<double>::quiet_NaN();  ///< left at the end: 1 is all; nan where the text has none
  /// Largest departure within the span from the value at its start, in units of that value; of what the energy of the
  /// run could carry where that value is rounding. Nan without a span.
  double departure = std::numeric_limits<double>::quiet_NaN();
};

/// A state beside its rest shape and beside another run, without units; docs/compare.md has the formulas. What was not
/// measured is not a number.
struct FrameQuality {
  double roughness = std::numeric_limits<double>::quiet_NaN();
  double constraint_error = std::numeric_limits<double>::quiet_NaN();  ///< Simulation::constraint_error()
  double distance = std::numeric_limits<double>::quiet_NaN();          ///< to a reference
  double slow_distance = std::numeric_limits<double>::quiet_NaN();     ///< likewise, both as SlowPositions have them
};

/// Motion that a frame rate can show: the binomial mean (1 4 6 4 1)/16 of the last five frames, those before the first
/// like it. Passes 0.73 of an amplitude of 8 frames per period, 0.25 of 4 and nothing of 2; lags by two frames.
class SlowPositions {
 public:
  const std::vector<Vec3>& add(const std::vector<Vec3>& positions);

 private:
  std::vector<std::vector<Vec3>> last_;  // the newest first
  std::vector<Vec3> mean_;
};

/// Measures states of one scene; keeps what does not move.
class QualityMeter {
 public:
  explicit QualityMeter(const Simulation& simulation);
  QualityMeter(QualityMeter&&) noexcept;
  ~QualityMeter();

  /// High-frequency content of the deformation: norm of the graph Laplacian of the displacement from the best rigid fit
  /// of each body's rest shape, in units of the body's size.
  double roughness(const std::vector<Vec3>& positions) const;
  /// Root mean square over the vertices, by mass, in units of each body's size.
  double distance(const std::vector<Vec3>& positions, const std::vector<Vec3>& reference) const;
  /// All three of the present state; no distance without a reference.
  FrameQuality measure(const Simulation& simulation, const std::vector<Vec3>* reference = nullptr) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Tetrahedra of a body that are flat or inside out, those that have torn left out.
int count_inverted(const Simulation& simulation, int body);

/// Tetrahedra that stay inside out for longer than an impact makes them.
class InversionWatch {
 public:
  explicit InversionWatch(const Simulation& simulation);
  InversionWatch(InversionWatch&&) noexcept;
  ~InversionWatch();
  /// Call after each successful step. Takes a few nanoseconds per tetrahedron.
  void frame(const Simulation& simulation);

  struct Found {
    int body = 0;
    int elements = 0;    ///< inside out for more than `impact` at a stretch, up to now
    int still = 0;       ///< of these, in the last frame
    double longest = 0;  ///< [s]
    double share = 0;    ///< of the body's volume at rest that they are
  };
  /// Bodies with such elements.
  std::vector<Found> found() const;
  /// One sentence for the end of a run; empty where there are none.
  std::string words() const;
  static constexpr double impact = 0.5;  ///< [s]

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A run in one row: the table of a report.
struct RunSummary {
  Kept energy;                     ///< H
  Kept momentum;                   ///< |P|
  Kept spin;                       ///< |L| about the centre of mass
  double elastic_oscillation = 0;  ///< standard deviation of the elastic energy over the last third, over the largest
                                   ///< kinetic + elastic energy
  double mean_iterations = 0;      ///< per frame
  double mean_milliseconds = 0;    ///< per frame
  FrameQuality quality;            ///< means: roughness over the last third, the others over the run
  double last_distance = std::numeric_limits<double>::quiet_NaN();  ///< in the last frame that has one
};

/// One curve set and playback of a report: collected while a run goes on.
class ReportRun {
 public:
  /// `label` as shown ("cpd"); at most `max_frames` frames are kept for playback (evenly thinned out). `quality` is
  /// that of the first frame.
  ReportRun(std::string label, const Simulation& simulation, int total_frames, int max_frames = 600,
            const FrameQuality& quality = {});
  ReportRun(ReportRun&&) noexcept;
  ReportRun& operator=(ReportRun&&) noexcept;
  ~ReportRun();
  /// Call after each successful step.
  void frame(const Simulation& simulation, const StepReport& report, const FrameQuality& quality = {});
  /// One more column of the report's table: its head, and the entry of this run.
  void note(std::string column, std::string text);
  /// Drawn in grey, as what the others are compared with.
  void mark_as_reference();
  /// It blew up: what it had then is no unit for those beside it.
  void mark_as_failed();
  /// Energies that have no zero of their own, and the elastic oscillation, are counted in units of the largest energy
  /// of this run and those `beside` it, so that runs of one scene compare. Goes by the scene: dials turned and pushes
  /// given through Simulation are not seen.
  RunSummary summary(const std::vector<const ReportRun*>& beside = {}) const;

  struct Content;

 private:
  friend const Content* content_of(const ReportRun& run);  // for write_report; null when moved from
  std::unique_ptr<Content> content_;
};

/// A run that a report should have shown, and why there is nothing to show.
struct AbsentRun {
  std::string label, reason;
};

/// A self-contained page: curves of H (kinetic, elastic, external), |P|, |L|, iterations, frame time and what was
/// measured of FrameQuality, and a 3-D playback with orbit, pause and scrub. Several runs are drawn over each other and
/// played side by side. Long runs and large meshes are thinned out so that the file stays below 25 MB. An existing file
/// is replaced as a whole, or left alone on failure.
Expected<bool> write_report(const std::filesystem::path& file, const std::string& title, const std::string& description,
                            const std::vector<const ReportRun*>& runs, const std::vector<AbsentRun>& absent = {});

}  // namespace verve
