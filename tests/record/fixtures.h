// Small scenes, folders that go away, and readers of the files that a run leaves behind, written without Verve's own.
#pragma once

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include "verve/record.h"

namespace record_test {

namespace fs = std::filesystem;
using namespace verve;

/// An empty folder, removed with everything in it at the end.
struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "verve_record_XXXXXX").string();
    path = ::mkdtemp(name.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  std::vector<std::string> entries() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(path)) out.push_back(entry.path().filename().string());
    return out;
  }
};

inline std::string read_text(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void write_text(const fs::path& file, const std::string& text) { std::ofstream(file, std::ios::binary) << text; }

inline BodySpec tetrahedron(const std::string& name, double offset = 0) {
  auto mesh = std::make_shared<Mesh>();
  mesh->vertices = {{offset, 0, 0}, {offset + 1, 0, 0}, {offset, 1, 0}, {offset, 0, 1}};
  mesh->tetrahedra = {{0, 1, 2, 3}};
  BodySpec body;
  body.name = name;
  body.mesh.mesh = mesh;
  body.potentials = {{"tet_strain", {}}};
  body.initial.stretch = {1.2, 1, 1};
  body.initial.velocity = {1, 0, 0};
  body.initial.angular_velocity = {0, 2, 0.5};
  return body;
}

inline Scene scene_of(std::vector<BodySpec> bodies) {
  Scene scene;
  scene.name = "test";
  scene.bodies = std::move(bodies);
  return scene;
}

inline Simulation simulate(const Scene& scene) {
  RunOptions options;
  options.threads = 1;  // some tests fork
  return std::move(Simulation::create(scene, options).value());
}

struct Npy {
  std::string descr;
  std::int64_t frames = 0, vertices = 0, axes = 0;
  std::int64_t data_bytes = 0;  ///< after the header, counted or not
  std::string data;
  std::int64_t item() const { return descr == "<f8" ? 8 : 4; }
  double at(std::int64_t frame, std::int64_t vertex, int axis) const {
    const char* from = data.data() + ((frame * vertices + vertex) * 3 + axis) * item();
    if (item() == 8) {
      double value;
      std::memcpy(&value, from, 8);
      return value;
    }
    float value;
    std::memcpy(&value, from, 4);
    return value;
  }
};

/// By hand, after the format's description. Throws std::runtime_error on anything unexpected.
inline Npy read_npy(const fs::path& file) {
  const std::string bytes = read_text(file);
  const auto need = [&](bool good, const char* what) {
    if (!good) throw std::runtime_error(file.string() + ": " + what);
  };
  need(bytes.size() >= 10 && bytes.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) == 0, "no magic of version 1.0");
  const size_t length = (unsigned char)bytes[8] + 256u * (unsigned char)bytes[9];
  need((10 + length) % 64 == 0, "header is not padded to 64 bytes");
  need(bytes.size() >= 10 + length, "header is cut off");
  const std::string header = bytes.substr(10, length);
  need(header.back() == '\n', "header does not end with a line feed");
  need(header.find("'fortran_order': False") != std::string::npos, "no order");
  Npy out;
  const size_t descr = header.find("'descr': '");
  need(descr != std::string::npos, "no descr");
  out.descr = header.substr(descr + 10, 3);
  const size_t shape = header.find("'shape': (");
  need(shape != std::string::npos, "no shape");
  long long f = 0, v = 0, a = 0;
  need(std::sscanf(header.c_str() + shape + 10, "%lld, %lld, %lld)", &f, &v, &a) == 3, "no shape of three axes");
  out.frames = f, out.vertices = v, out.axes = a;
  out.data = bytes.substr(10 + length);
  out.data_bytes = std::int64_t(out.data.size());
  return out;
}

/// Rows of fields, after RFC 4180 with line feeds. A last line without its line feed is left out.
inline std::vector<std::vector<std::string>> read_csv(const fs::path& file) {
  const std::string text = read_text(file);
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row(1);
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c != '"')
        row.back() += c;
      else if (i + 1 < text.size() && text[i + 1] == '"')
        row.back() += '"', ++i;
      else
        quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == ',') {
      row.emplace_back();
    } else if (c == '\n') {
      rows.push_back(std::move(row));
      row.assign(1, "");
    } else {
      row.back() += c;
    }
  }
  return rows;
}

}  // namespace record_test
