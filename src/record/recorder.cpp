#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "base/new_file.h"
#include "record/contact_forces.h"
#include "record/metrics_table.h"
#include "record/npy.h"
#include "record/output_file.h"
#include "verve/record.h"

namespace verve {

namespace fs = std::filesystem;

static_assert(std::endian::native == std::endian::little, "positions.npy is written as it lies in memory");

struct Recorder::Impl {
  FolderLock lock;
  fs::path directory;
  OutputFile metrics, positions;
  std::uint64_t metrics_size = 0;
  std::int64_t frames = 0;
  int vertices = 0;
  bool float64 = false;
  std::string rows;
  std::vector<char> block;
  std::vector<RemovedElements> removed;  // per body, as torn.csv has them; empty: nothing tears
  GrowingFile torn;
  std::optional<ContactForceFile> forces;  // none: nothing can touch

  fs::path forces_path() const { return directory / "contact_forces.npy"; }
  fs::path torn_path() const { return directory / "torn.csv"; }
  fs::path metrics_path() const { return directory / "metrics.csv"; }
  fs::path positions_path() const { return directory / "positions.npy"; }

  void pack(const std::vector<Vec3>& x) {
    if (float64) {
      block.resize(x.size() * 3 * sizeof(double));
      std::memcpy(block.data(), x.data(), block.size());
      return;
    }
    block.resize(x.size() * 3 * sizeof(float));
    char* to = block.data();
    for (const Vec3& p : x) {
      const float packed[3] = {float(p.x), float(p.y), float(p.z)};
      std::memcpy(to, packed, sizeof packed);
      to += sizeof packed;
    }
  }

  /// What has gone since the last frame.
  std::string append_torn(const Simulation& simulation) {
    std::string lines;
    std::vector<RemovedElements> now;
    for (size_t b = 0; b < removed.size(); ++b) {
      const RemovedElements& gone = now.emplace_back(simulation.removed_elements(int(b)));
      const auto list = [&](const char* kind, const std::vector<int>& before, const std::vector<int>& after) {
        std::vector<int> fresh;
        std::set_difference(after.begin(), after.end(), before.begin(), before.end(), std::back_inserter(fresh));
        for (const int element : fresh)
          lines += std::to_string(frames) + ',' + csv_field(simulation.body_name(int(b))) + ',' + kind + ',' +
                   std::to_string(element) + '\n';
      };
      list("tetrahedron", removed[b].tetrahedra, gone.tetrahedra);
      list("triangle", removed[b].triangles, gone.triangles);
      list("edge", removed[b].edges, gone.edges);
    }
    if (!lines.empty())
      if (const std::string error = torn.append(lines); !error.empty()) return torn_path().string() + ": " + error;
    removed = std::move(now);
    return "";
  }

  /// Positions, then rows, then the count: whatever happens in between, the files agree on the frames before this one.
  /// Empty when all went well, else "path: reason".
  std::string append(const Simulation& simulation, const StepReport& report) {
    pack(simulation.positions());
    rows.clear();
    append_metrics_rows(rows, simulation, report);

    std::string error = positions.write_at(npy_header_size + std::uint64_t(frames) * block.size(), block);
    if (!error.empty()) return positions_path().string() + ": " + error;
    if (!removed.empty() && frames > 0)
      if (error = append_torn(simulation); !error.empty()) return error;
    if (forces)
      if (error = forces->write(int(frames), simulation.contact_forces()); !error.empty())
        return forces_path().string() + ": " + error;
    error = metrics.write_at(metrics_size, rows);
    if (!error.empty()) {
      metrics.cut_to(metrics_size);
      return metrics_path().string() + ": " + error;
    }
    error = positions.write_at(0, npy_header(frames + 1, vertices, float64));
    if (!error.empty()) {
      metrics.cut_to(metrics_size);
      return positions_path().string() + ": " + error;
    }
    metrics_size += rows.size();
    if (forces) forces->keep();
    ++frames;
    return "";
  }
};

static_assert(sizeof(Vec3) == 3 * sizeof(double));

namespace {

/// Makes the missing folders of a path, and takes them away again unless kept.
class MadeFolders {
 public:
  /// Empty when all went well.
  std::string make(const fs::path& directory) {
    std::vector<fs::path> missing;
    std::error_code code;
    for (fs::path p = fs::absolute(directory, code).lexically_normal(); !p.empty(); p = p.parent_path()) {
      const fs::file_status status = fs::status(p, code);
      if (fs::is_directory(status)) break;
      if (fs::exists(status)) return "found a file at " + p.string() + ", expected a folder";
      if (p.has_filename()) missing.push_back(p);
      if (p == p.parent_path()) break;
    }
    for (auto p = missing.rbegin(); p != missing.rend(); ++p) {
      if (!fs::create_directory(*p, code) && code) return "cannot create the folder: " + code.message();
      made_.push_back(*p);
    }
    return "";
  }
  void keep() { made_.clear(); }
  ~MadeFolders() {
    std::error_code ignored;
    for (auto p = made_.rbegin(); p != made_.rend(); ++p) fs::remove(*p, ignored);
  }

 private:
  std::vector<fs::path> made_;
};

}  // namespace

Expected<Recorder> Recorder::open(const fs::path& directory, const Simulation& simulation, bool double_positions) {
  Diagnostics problems;
  MadeFolders folders;
  if (std::string error = folders.make(directory); !error.empty()) {
    problems.error(directory.string(), std::move(error));
    return problems;
  }

  auto impl = std::make_unique<Impl>();
  if (std::string error = impl->lock.take(directory); !error.empty()) {
    folders.keep();  // the other run has them now
    problems.error(directory.string(), std::move(error));
    return problems;
  }
  impl->directory = directory;
  impl->vertices = simulation.vertices();
  impl->float64 = double_positions;

  // Files of an earlier run stay until both new ones hold frame 0, and are then replaced together.
  struct Part {
    OutputFile& file;
    fs::path target;
    NewFile made{};
  };
  Part parts[] = {{impl->metrics, impl->metrics_path()}, {impl->positions, impl->positions_path()}};
  std::error_code code;
  for (Part& p : parts) {
    if (fs::is_directory(p.target, code))
      problems.error(p.target.string(), "found a folder, expected a file or nothing");
    else if (const std::string error = p.made.open(p.target); !error.empty())
      problems.error(p.target.string(), "cannot be written: " + error);
    else
      p.file.share(p.made);
  }
  const auto tears = [](const BodySpec& body) {
    return std::any_of(body.potentials.begin(), body.potentials.end(), [](const auto& p) { return !p.tear.empty(); });
  };
  const auto& bodies = simulation.scene().bodies;
  if (std::any_of(bodies.begin(), bodies.end(), tears)) impl->removed.resize(bodies.size());
  if (problems.has_errors()) return problems;

  const std::string header = metrics_header() + '\n';
  std::string error = impl->metrics.write_at(0, header);
  impl->metrics_size = header.size();
  if (!error.empty()) error = impl->metrics_path().string() + ": " + error;
  if (error.empty()) error = impl->append(simulation, {});
  if (!error.empty()) {
    problems.error(directory.string(), "frame 0 could not be recorded: " + error);
    return problems;
  }
  if (simulation.scene().contact || !simulation.scene().colliders.empty()) {
    error = impl->forces.emplace().create(impl->forces_path());
    if (!error.empty()) problems.error(impl->forces_path().string(), "cannot be written: " + error);
  } else {
    fs::remove(impl->forces_path(), code);
  }
  if (impl->removed.empty()) {
    fs::remove(impl->torn_path(), code);
  } else {
    // what was gone at the start already is in frame 0
    error = impl->torn.create(impl->torn_path(), "frame,body,kind,element\n");
    impl->frames = 0;
    if (error.empty()) error = impl->append_torn(simulation);
    impl->frames = 1;
    if (!error.empty()) problems.error(impl->torn_path().string(), "cannot be written: " + error);
  }
  for (Part& p : parts) {
    if (problems.has_errors()) break;
    if (error = p.made.place(); !error.empty()) problems.error(p.target.string(), "cannot be written: " + error);
  }
  if (problems.has_errors()) {
    for (const fs::path& file : {impl->torn_path(), impl->forces_path(), impl->metrics_path(), impl->positions_path()})
      if (fs::is_regular_file(file, code)) fs::remove(file, code);
    return problems;
  }
  folders.keep();
  return Recorder(std::move(impl));
}

void Recorder::frame(const Simulation& simulation, const StepReport& report) {
  if (simulation.vertices() != impl_->vertices)
    throw std::invalid_argument("Recorder::frame: found " + std::to_string(simulation.vertices()) +
                                " vertices, expected " + std::to_string(impl_->vertices) +
                                " (those of the simulation it was opened with)");
  const std::string error = impl_->append(simulation, report);
  if (!error.empty())
    throw std::runtime_error("frame " + std::to_string(simulation.frame()) + " could not be recorded: " + error +
                             " (the " + std::to_string(impl_->frames) + " frames before it are complete)");
}

Recorder::Recorder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Recorder::Recorder(Recorder&&) noexcept = default;
Recorder& Recorder::operator=(Recorder&&) noexcept = default;
Recorder::~Recorder() = default;

}  // namespace verve
