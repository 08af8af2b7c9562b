// The pieces of all ranks for ParaView: VTK's unstructured grids, and a .pvtu that joins them.
#include "base/file_name.h"
#include "base/new_file.h"
#include "distributed/outputs.h"
#include "exchange/vtu_grid.h"

namespace verve {

void write_pieces(const std::filesystem::path& folder, const World& world, const MpiRanks& ranks) {
  std::string error;
  std::error_code failed;
  if (ranks.rank() == 0) std::filesystem::create_directories(folder, failed);
  all_or_none(ranks, failed ? folder.string() + ": cannot be created: " + failed.message() : "");
  std::string number = std::to_string(world.state.frame);
  number.insert(0, number.size() < 6 ? 6 - number.size() : 0, '0');
  std::vector<Vec4> rows;
  for (const Body& body : world.model.bodies) {
    const auto with_copies = [&](const std::vector<Vec4>& of) {
      std::vector<Vec3> out;
      body.shared->with_copies(of.data() + body.first, rows);
      for (const Vec4& x : rows) out.push_back(x.xyz());
      return out;
    };
    const std::string stem = file_name(body.name) + "_" + number;
    const auto piece = [&](int rank) { return stem + "_" + std::to_string(rank) + ".vtu"; };
    Mesh mesh = body.mesh;
    mesh.vertices = with_copies(world.state.x);
    VtuGrid grid(mesh, false);
    grid.add_points("velocity", with_copies(world.state.v));
    const std::filesystem::path file = folder / piece(ranks.rank());
    if (const std::string trouble = write_whole_file(file, grid.text()); !trouble.empty() && error.empty())
      error = file.string() + ": cannot be written: " + trouble;
    if (ranks.rank() > 0) continue;
    std::string all =
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PUnstructuredGrid\" version=\"1.0\" "
        "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<PUnstructuredGrid GhostLevel=\"0\">\n"
        "<PPointData>\n<PDataArray type=\"Float32\" Name=\"velocity\" NumberOfComponents=\"3\"/>\n"
        "</PPointData>\n<PPoints>\n<PDataArray type=\"Float32\" Name=\"Points\" "
        "NumberOfComponents=\"3\"/>\n</PPoints>\n";
    for (int r = 0; r < ranks.size(); ++r) all += "<Piece Source=\"" + piece(r) + "\"/>\n";
    all += "</PUnstructuredGrid>\n</VTKFile>\n";
    if (const std::string trouble = write_whole_file(folder / (stem + ".pvtu"), all); !trouble.empty() && error.empty())
      error = (folder / (stem + ".pvtu")).string() + ": cannot be written: " + trouble;
  }
  all_or_none(ranks, error);
}

}  // namespace verve
