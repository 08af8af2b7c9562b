#include "distributed/checkpoint.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "integrators/snapshot_content.h"

namespace verve {

namespace {

constexpr char magic[8] = {'V', 'E', 'R', 'V', 'E', 'C', 'K', 'P'};
/// Raised whenever what follows changes.
constexpr std::uint32_t format = 1;

struct Head {
  char magic[8];
  std::uint32_t format = 0, arrays = 0;
  std::uint64_t state = 0, vertices = 0;  // bytes of the state without its rows, which follow from `rows` on
  std::uint64_t rows = 0;
};

/// As many of everything as here: what a restore takes for granted.
bool is_like(const State& read, const State& here) {
  const auto as_many = [](const auto& a, const auto& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.size() == y.size(); });
  };
  return read.ledger.size() == here.ledger.size() && read.group.size() == here.group.size() &&
         read.anchors.size() == here.anchors.size() && read.colliders.size() == here.colliders.size() &&
         read.winds.size() == here.winds.size() && read.forces.size() == here.forces.size() &&
         as_many(read.gone, here.gone) && as_many(read.plastic, here.plastic) && read.parameters && read.overrides &&
         as_many(*read.parameters, *here.parameters) && as_many(*read.overrides, *here.overrides);
}

/// Rows of the state that belong to vertices, in the order of the file.
std::vector<std::vector<Vec4>*> arrays_of(State& state) {
  std::vector<std::vector<Vec4>*> out = {&state.x, &state.v, &state.p, &state.q, &state.gradient};
  if (!state.acceleration.empty()) out.push_back(&state.acceleration);
  return out;
}

/// What anchors know of each of their vertices.
struct Held {
  double vertex;
  Vec4 hold;
  double hardness;
};

/// Of all ranks, by vertices. `of_row`: of an anchor's i-th row here.
template <class Of>
std::vector<Held> gather_held(const Anchor& anchor, const Model& model, const MpiRanks& ranks, Of&& of_row) {
  std::vector<double> own;
  for (size_t i = 0; i < anchor.rows.size(); ++i) {
    const Held h = of_row(i, model.bodies[size_t(anchor.body)].vertex_of_row[size_t(anchor.rows[i])]);
    own.insert(own.end(), {h.vertex, h.hold.x, h.hold.y, h.hold.z, h.hardness});
  }
  std::vector<int> counts(size_t(ranks.size())), starts(size_t(ranks.size()));
  const int count = int(own.size());
  check_mpi(MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, PETSC_COMM_WORLD), "anchors of all ranks");
  std::exclusive_scan(counts.begin(), counts.end(), starts.begin(), 0);
  std::vector<double> all(size_t(starts.back() + counts.back()));
  check_mpi(MPI_Allgatherv(own.data(), count, MPI_DOUBLE, all.data(), counts.data(), starts.data(), MPI_DOUBLE,
                           PETSC_COMM_WORLD),
            "anchors of all ranks");
  std::vector<Held> out;
  for (size_t k = 0; k < all.size(); k += 5)
    out.push_back({all[k], {all[k + 1], all[k + 2], all[k + 3], 0}, all[k + 4]});
  std::sort(out.begin(), out.end(), [](const Held& a, const Held& b) { return a.vertex < b.vertex; });
  return out;
}

}  // namespace

void write_checkpoint(const std::filesystem::path& path, const World& world, const VertexOrder& order,
                      const MpiRanks& ranks) {
  State state = world.state;
  for (size_t a = 0; a < state.anchors.size(); ++a) {
    AnchorState& s = state.anchors[a];
    const bool hard = any_rank(!s.hardness.empty());
    const std::vector<Held> held = gather_held(world.matter.anchors[a], world.model, ranks, [&](size_t i, int vertex) {
      return Held{double(vertex), s.hold[i], hard ? s.hardness[i] : 0};
    });
    s.hold.clear(), s.hardness.clear();
    for (const Held& h : held) {
      s.hold.push_back(h.hold);
      if (hard) s.hardness.push_back(h.hardness);
    }
  }
  state.factors.clear();
  std::vector<std::vector<double>> rows;
  for (std::vector<Vec4>* array : arrays_of(state)) {
    std::vector<double>& values = rows.emplace_back();
    for (const int r : order.rows()) {
      const Vec4& x = (*array)[size_t(r)];
      values.insert(values.end(), {x.x, x.y, x.z});
    }
    array->clear();
  }
  const std::vector<unsigned char> rest = state_bytes(state);
  Head head;
  std::copy(std::begin(magic), std::end(magic), head.magic);
  head.format = format, head.arrays = std::uint32_t(rows.size());
  head.state = rest.size(), head.vertices = std::uint64_t(order.vertices());
  head.rows = (sizeof head + rest.size() + 63) / 64 * 64;
  std::string bytes(reinterpret_cast<const char*>(&head), sizeof head);
  bytes.append(reinterpret_cast<const char*>(rest.data()), rest.size());

  const std::filesystem::path part = path.string() + ".part";
  {
    SharedFile file(part, order);
    for (size_t k = 0; k < rows.size(); ++k)
      file.write_rows(MPI_Offset(head.rows + k * head.vertices * 3 * sizeof(double)), rows[k], 3);
    file.write_head(0, bytes);
    file.sync();
  }
  std::error_code failed;
  if (ranks.rank() == 0) std::filesystem::rename(part, path, failed);
  all_or_none(ranks, failed ? path.string() + ": cannot be written: " + failed.message() : "");
}

void read_checkpoint(const std::filesystem::path& path, World& world, const VertexOrder& order, const MpiRanks& ranks) {
  std::ifstream in(path, std::ios::binary);
  Head head{};
  std::vector<unsigned char> bytes;
  std::string error;
  const std::string where = path.string() + ": ";
  if (!in) {
    error = where + "cannot be read, expected a checkpoint";
  } else if (!in.read(reinterpret_cast<char*>(&head), sizeof head) ||
             std::memcmp(head.magic, magic, sizeof magic) != 0) {
    error = where + "found no checkpoint, expected a file that verve simulate --snapshot-every wrote on several ranks";
  } else if (head.format != format) {
    error =
        where + "found version " + std::to_string(head.format) + " of the format, expected " + std::to_string(format);
  } else if (head.vertices != std::uint64_t(order.vertices())) {
    error = where + "found " + std::to_string(head.vertices) + " vertices, expected " +
            std::to_string(order.vertices()) + ", those of the scene";
  } else if (std::error_code unknown; head.state > std::filesystem::file_size(path, unknown)) {
    error = where + "ends too early";
  } else {
    bytes.resize(head.state);
    if (!in.read(reinterpret_cast<char*>(bytes.data()), std::streamsize(bytes.size())))
      error = where + "ends too early";
  }
  State state = world.state;
  State read;
  if (error.empty() && !read_state(bytes, read)) error = where + "found bytes that make no state";
  if (error.empty() && !is_like(read, state))
    error = where + "found other bodies, potentials, anchors, winds or forces, expected those of the scene";
  all_or_none(ranks, error);

  const size_t arrays = arrays_of(state).size();
  if (head.arrays != arrays)
    throw std::runtime_error(where + "found " + std::to_string(head.arrays) + " arrays, expected " +
                             std::to_string(arrays));
  read.bodies = state.bodies;  // whose rows are elsewhere
  read.acceleration.resize(state.acceleration.size());
  {
    SharedFile file(path, order, false);
    const std::vector<std::vector<Vec4>*> into = arrays_of(read);
    std::vector<double> values;
    for (size_t k = 0; k < arrays; ++k) {
      file.read_rows(MPI_Offset(head.rows + k * head.vertices * 3 * sizeof(double)), values, 3);
      into[k]->assign(size_t(world.model.rows), Vec4());
      for (size_t i = 0; i < order.rows().size(); ++i)
        (*into[k])[size_t(order.rows()[i])] = {values[3 * i], values[3 * i + 1], values[3 * i + 2], 0};
    }
  }
  for (size_t a = 0; a < read.anchors.size(); ++a) {
    AnchorState& s = read.anchors[a];
    const Anchor& anchor = world.matter.anchors[a];
    const std::vector<Held> all = gather_held(anchor, world.model, ranks, [](size_t, int vertex) {
      return Held{double(vertex), {}, 0};
    });
    if (all.size() != s.hold.size()) throw std::runtime_error(where + "found anchors of other vertices");
    std::vector<Vec4> hold;
    std::vector<double> hardness;
    for (const int row : anchor.rows) {
      const double vertex = world.model.bodies[size_t(anchor.body)].vertex_of_row[size_t(row)];
      const size_t i = size_t(
          std::lower_bound(all.begin(), all.end(), vertex, [](const Held& h, double v) { return h.vertex < v; }) -
          all.begin());
      hold.push_back(s.hold[i]);
      if (!s.hardness.empty()) hardness.push_back(s.hardness[i]);
    }
    s.hold = std::move(hold), s.hardness = std::move(hardness);
  }
  world.restore(read);
}

}  // namespace verve
