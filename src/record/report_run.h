// What a report keeps of a run.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "record/kept.h"
#include "verve/record.h"

namespace verve {

/// A surface that a body carries: each vertex by four of the body's, so that frames hold the body's alone.
struct ReportSurface {
  std::vector<std::uint32_t> triangles;
  std::vector<std::uint32_t> carriers;  ///< four per vertex, numbers in `vertices` of the mesh
  std::vector<float> weights;           ///< of the carriers
  std::vector<std::uint32_t> life;      ///< of the triangles, as in ReportMesh
  bool operator==(const ReportSurface&) const = default;
};

/// The visible part of a body: its skin, or its edges when it has no faces.
struct ReportMesh {
  std::string name;
  std::string color;                     ///< "#rrggbb"
  std::vector<int> vertices;             ///< numbers in the simulation
  std::vector<std::uint32_t> triangles;  ///< numbers in `vertices`
  std::vector<std::uint32_t> edges;
  std::array<double, 6> rest_box{};
  std::vector<std::uint16_t> rest;  ///< rest shape in rest_box
  ReportSurface surface;            ///< shown instead of the skin when there is one
  /// Of a body that tears: for each triangle, or edge, the frame in which it appears and the one in which it is gone.
  /// Empty: always there.
  std::vector<std::uint32_t> life, edge_life;
};

/// Positions as 16-bit fractions of a box per body and frame: 1/65535 of the body's size, wherever it flies.
struct ReportFrame {
  int frame = 0;
  double time = 0;
  Vec3 center;
  std::vector<std::array<double, 6>> boxes;  ///< lower corner, then extent
  std::vector<std::array<double, 6>> shown;  ///< likewise of what is seen, where that is not the mesh itself
  std::vector<std::uint16_t> positions;
};

struct ReportPoint {
  int frame = 0;
  double time = 0;
  double kinetic = 0, elastic = 0, contact = 0, external = 0, total = 0, target = 0;
  double heat = 0, work = 0;
  double momentum = 0, spin = 0, iterations = 0, milliseconds = 0;
  FrameQuality quality;
};

/// Keeps every stride-th item and the last one; the stride doubles whenever the room is full.
template <class T>
class Thinned {
 public:
  Thinned(size_t room, size_t expected) : room_(room < 2 ? 2 : room), stride_((expected + room_ - 1) / room_) {
    if (stride_ == 0) stride_ = 1;
  }

  void add(T item) {
    if (count_ % stride_ == 0 && items_.size() >= room_) {
      size_t kept = 0;
      for (size_t i = 0; i < items_.size(); i += 2) std::swap(items_[kept++], items_[i]);
      items_.resize(kept);
      stride_ *= 2;
    }
    last_kept_ = count_ % stride_ == 0;
    if (last_kept_)
      items_.push_back(std::move(item));
    else
      last_ = std::move(item);
    ++count_;
  }
  bool empty() const { return count_ == 0; }
  std::vector<const T*> list() const {
    std::vector<const T*> out;
    for (const T& item : items_) out.push_back(&item);
    if (count_ > 0 && !last_kept_) out.push_back(&last_);
    return out;
  }

 private:
  size_t room_, stride_, count_ = 0;
  std::vector<T> items_;
  T last_;
  bool last_kept_ = false;
};

struct ReportRun::Content {
  std::string label;
  int vertices = 0, elements = 0;
  std::vector<ReportMesh> meshes;
  Thinned<ReportFrame> frames;
  Thinned<ReportPoint> points;

  Scene scene;
  double start = 0;  ///< time of the first frame [s]
  History history;
  std::vector<FrameQuality> quality;   ///< of every frame
  std::vector<int> torn;               ///< of each body, at the last frame
  std::vector<std::vector<int>> seen;  ///< of each body that has torn: vertices with elements
  double sum_iterations = 0, sum_milliseconds = 0;
  std::vector<std::pair<std::string, std::string>> notes;  ///< columns of the table
  bool reference = false, failed = false;

  Content(std::string label_, const Simulation& simulation, int total_frames, int max_frames,
          const FrameQuality& first);
  void add(const Simulation& simulation, const StepReport& report, const FrameQuality& measured);
  void follow_tears(const Simulation& simulation);
  int steps() const { return int(history.frames.size()) - 1; }
  Spans spans() const {
    std::vector<int> torn_steps;
    for (int i = 1; i <= steps(); ++i)
      if (history.frames[i].torn != history.frames[i - 1].torn) torn_steps.push_back(i);
    return undisturbed_spans(scene, steps(), start, torn_steps);
  }
};

/// Bytes of one vertex of one frame in the page: three 16-bit numbers in base64.
constexpr double report_bytes_per_vertex = 8;
constexpr double report_byte_limit = 25e6;

}  // namespace verve
