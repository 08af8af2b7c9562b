#include "exchange/vtu_grid.h"

#include <algorithm>

namespace verve {

namespace {

template <class T>
void append_raw(std::string& data, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  if (std::endian::native == std::endian::big) std::reverse(bytes, bytes + sizeof value);
  data.append(bytes, sizeof value);
}

}  // namespace

template <class T>
std::string VtuGrid::add(const char* name, const char* type, int components, const std::vector<T>& values) {
  const std::string tag = "<DataArray type=\"" + std::string(type) + "\" Name=\"" + name + "\" NumberOfComponents=\"" +
                          std::to_string(components) + "\" format=\"appended\" offset=\"" +
                          std::to_string(data_.size()) + "\"/>\n";
  append_raw(data_, std::uint64_t(values.size() * sizeof(T)));
  for (const T v : values) append_raw(data_, v);
  return tag;
}

std::string VtuGrid::vectors(const char* name, const std::vector<Vec3>& x, bool wide) {
  std::vector<double> numbers;
  for (const Vec3& p : x) numbers.insert(numbers.end(), {p.x, p.y, p.z});
  if (wide) return add(name, "Float64", 3, numbers);
  return add(name, "Float32", 3, std::vector<float>(numbers.begin(), numbers.end()));
}

VtuGrid::VtuGrid(const Mesh& mesh, bool wide) : wide_(wide), points_(mesh.vertices.size()) {
  std::vector<std::int32_t> connectivity, offsets;
  std::vector<std::uint8_t> types;
  const auto cells = [&](const auto& elements, std::uint8_t type) {
    for (const auto& e : elements) {
      connectivity.insert(connectivity.end(), e.begin(), e.end());
      offsets.push_back(std::int32_t(connectivity.size()));
      types.push_back(type);
    }
  };
  cells(mesh.tetrahedra, 10);
  cells(mesh.triangles, 5);
  cells(mesh.edges, 3);
  cells_ = types.size();
  grid_ = "<Points>\n" + vectors("Points", mesh.vertices, wide) + "</Points>\n<Cells>\n";
  grid_ += add("connectivity", "Int32", 1, connectivity) + add("offsets", "Int32", 1, offsets) +
           add("types", "UInt8", 1, types) + "</Cells>\n";
}

void VtuGrid::add_points(const char* name, const std::vector<Vec3>& values, bool wide) {
  of_points_ += vectors(name, values, wide);
}

void VtuGrid::add_cells(const char* name, int components, const std::vector<float>& values) {
  of_cells_ += add(name, "Float32", components, values);
}

std::string VtuGrid::text() const {
  std::string out =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" "
      "byte_order=\"LittleEndian\" header_type=\"UInt64\">\n<UnstructuredGrid>\n<Piece NumberOfPoints=\"" +
      std::to_string(points_) + "\" NumberOfCells=\"" + std::to_string(cells_) + "\">\n" + grid_ +
      "<PointData Vectors=\"velocity\">\n" + of_points_ + "</PointData>\n";
  if (!of_cells_.empty()) out += "<CellData Scalars=\"strain\">\n" + of_cells_ + "</CellData>\n";
  return out + "</Piece>\n</UnstructuredGrid>\n<AppendedData encoding=\"raw\">\n_" + data_ +
         "\n</AppendedData>\n</VTKFile>\n";
}

}  // namespace verve
