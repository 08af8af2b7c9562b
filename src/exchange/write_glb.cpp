// glTF 2.0 in one binary file: every frame but the first is a morph target, of places and normals, and weights go from
// one to the next. (Without normals a viewer shows every triangle flat: glTF 2.0, 3.7.2.1.) What does not change is left
// out of a target. Quantised (KHR_mesh_quantization), a body's node has its rigid motion, and its targets the rest.
#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json.h"
#include "exchange/body_transforms.h"
#include "exchange/gltf_file.h"

namespace verve {

namespace {

using Width = GltfFile::Width;

/// A node moves with its body where numbers of 16 bits then have to reach less far than this share: a flag at its pole
/// is better off without, since what does not move is not written.
constexpr double worth_moving = 0.9;

std::string text(const std::vector<double>& values) {
  std::string out = "[";
  for (std::size_t i = 0; i < values.size(); ++i) out += (i ? "," : "") + shortest_number(values[i]);
  return out + "]";
}

std::vector<Vec3> chosen(const std::vector<Vec3>& x, const std::vector<int>& source) {
  std::vector<Vec3> out;
  for (const int v : source) out.push_back(v < 0 ? Vec3{0, 1, 0} : x[v]);  // lines have no normals
  return out;
}

double largest(const std::vector<Vec3>& values) {
  double out = 0;
  for (const Vec3& v : values) out = std::max({out, std::abs(v.x), std::abs(v.y), std::abs(v.z)});
  return out;
}

/// As they come back from a file.
std::vector<Vec3> rounded(std::vector<Vec3> values, Width width) {
  const double unit = GltfFile::largest(width);
  const auto round = [&](double c) {
    return width == Width::floats ? double(float(c)) : std::round(c * unit) / unit;
  };
  for (Vec3& v : values) v = {round(v.x), round(v.y), round(v.z)};
  return values;
}

class GlbWriter {
 public:
  GlbWriter(Animation& animation, GltfFile& file)
      : animation_(animation), file_(file), targets_(animation.frames.size() - 1) {
    if (targets_ == 0) return;
    std::vector<float> times;
    for (std::size_t k = 0; k <= targets_; ++k) times.push_back(float(animation.time(int(k)) - animation.time(0)));
    times_ = file.floats(times, 1, ",\"min\":[0],\"max\":" + text({times.back()}));
    weights_ = sampler(weights());
  }

  void shape(int s) {
    shape_ = &animation_.shapes[s];
    const GltfMesh mesh(shape_->mesh);
    const BodyTransforms* transforms = nullptr;
    // (of these, frame k)
    const auto vertices = [&](int k) {
      std::vector<Vec3> x = animation_.at(s, k).vertices;
      for (Vec3& p : x) p = transforms ? (*transforms)[k].to_local(p) : p;
      return x;
    };
    const auto places = [&](int k) { return chosen(vertices(k), mesh.source); };
    const auto normals = [&](int k) { return chosen(mesh.normals.at(vertices(k)), mesh.normal); };

    Box box;
    std::optional<BodyTransforms> motion;
    if (animation_.quantized) {
      box = box_of(places);
      motion.emplace(animation_, s);
      transforms = &*motion;
      if (const Box moving = box_of(places); moving.size < worth_moving * box.size)
        box = moving;
      else
        transforms = nullptr;
    }
    const Width width = animation_.quantized ? Width::shorts : Width::floats;
    const Targets moved = write(places, box, width, width, true);
    Targets turned;
    if (std::any_of(mesh.normal.begin(), mesh.normal.end(), [](int n) { return n >= 0; }))
      turned = write(normals, {}, width, animation_.quantized ? Width::bytes : Width::floats, false);
    add_mesh(mesh, moved, turned);
    add_nodes(transforms, box);
  }

  void finish() {
    std::string more;
    if (targets_ > 0)
      more = ",\"animations\":[{\"name\":" + quote_json(animation_.name) + ",\"samplers\":[" + samplers_ +
             "],\"channels\":[" + channels_ + "]}]";
    if (animation_.quantized)
      more += ",\"extensionsUsed\":[\"KHR_mesh_quantization\"],\"extensionsRequired\":[\"KHR_mesh_quantization\"]";
    file_.finish(meshes_, nodes_, roots_, more);
  }

 private:
  struct Box {
    Vec3 middle;
    double size = 1;  ///< half of its longest side, or the longest way of a vertex
  };
  struct Targets {
    int base = -1;             ///< accessor of the first frame; -1: none
    std::vector<int> changes;  ///< of the others
  };

  /// All targets have a weight in each frame: one of them 1, and those of the first frame 0.
  int weights() {
    const int which = file_.begin_view(0);
    for (std::size_t k = 1; k <= targets_; ++k) file_.number(std::uint32_t(k * targets_ + k - 1));
    file_.end_view();
    const int ones = file_.begin_view(0);
    for (std::size_t k = 1; k <= targets_; ++k) file_.number(1.0f);
    file_.end_view();
    return file_.accessor(-1, (targets_ + 1) * targets_, "SCALAR", 5126,
                          GltfFile::sparse(targets_, which, ones));
  }
  int sampler(int output) {
    samplers_ += std::string(sampler_count_ ? "," : "") + "{\"input\":" + std::to_string(times_) + ",\"output\":" +
                 std::to_string(output) + ",\"interpolation\":\"LINEAR\"}";
    return sampler_count_++;
  }
  void channel(int sampler, int node, const char* path) {
    channels_ += std::string(channels_.empty() ? "" : ",") + "{\"sampler\":" + std::to_string(sampler) +
                 ",\"target\":{\"node\":" + std::to_string(node) + ",\"path\":\"" + path + "\"}}";
  }

  /// What is written of places as they are in numbers from -1 to 1.
  template <class Places>
  Box box_of(const Places& places) const {
    Box out;
    const std::vector<Vec3> base = places(0);
    Vec3 low = base.empty() ? Vec3{} : base[0], high = low;
    for (const Vec3& p : base)
      for (int a = 0; a < 3; ++a) low[a] = std::min(low[a], p[a]), high[a] = std::max(high[a], p[a]);
    out.middle = (low + high) * 0.5, out.size = largest({(high - low) * 0.5});
    for (std::size_t k = 1; k <= targets_; ++k) out.size = std::max(out.size, largest(changes(places(int(k)), base)));
    out.size = out.size > 0 ? out.size * (1 + 1e-4) : 1;  // rounding of the first frame is in every change
    return out;
  }
  static std::vector<Vec3> changes(std::vector<Vec3> now, const std::vector<Vec3>& base) {
    for (std::size_t v = 0; v < now.size(); ++v) now[v] -= base[v];
    return now;
  }
  /// Changes are from the first frame as it comes back, so that rounding does not add up. Those above 1, as of a normal
  /// that turns round, are floats.
  template <class Values>
  Targets write(const Values& values, const Box& box, Width first, Width later, bool bounds) {
    const auto scaled = [&](int k) {
      std::vector<Vec3> x = values(k);
      for (Vec3& p : x) p = (p - box.middle) / box.size;
      return x;
    };
    const std::vector<Vec3> base = rounded(scaled(0), first);
    Targets out;
    out.base = file_.vectors(base, {first, bounds, false});
    for (std::size_t k = 1; k <= targets_; ++k) {
      const std::vector<Vec3> now = changes(scaled(int(k)), base);
      out.changes.push_back(file_.vectors(now, {largest(now) > 1 ? Width::floats : later, bounds, true}));
    }
    return out;
  }

  void add_mesh(const GltfMesh& mesh, const Targets& moved, const Targets& turned) {
    const SurfaceLook* look = shape_->mesh.look.get();
    const bool colored = look && !look->colors.empty();
    // of lines: places alone
    const std::string line_attributes = "\"POSITION\":" + std::to_string(moved.base);
    std::string attributes = line_attributes;
    if (turned.base >= 0) attributes += ",\"NORMAL\":" + std::to_string(turned.base);
    if (!mesh.uvs.empty())
      attributes += ",\"TEXCOORD_0\":" + std::to_string(file_.texture_coordinates(mesh.uvs, animation_.quantized));
    if (colored) {
      const int view = file_.begin_view(34962);
      for (const int v : mesh.source)
        for (const double c : look->colors[v]) file_.number(float(c));
      file_.end_view();
      attributes += ",\"COLOR_0\":" + std::to_string(file_.accessor(view, mesh.source.size(), "VEC4", 5126));
    }
    std::string morphs, line_morphs;
    for (std::size_t k = 0; k < moved.changes.size(); ++k) {
      const std::string comma = k ? "," : "", target = "{\"POSITION\":" + std::to_string(moved.changes[k]);
      line_morphs += comma + target + "}";
      morphs += comma + target;
      morphs += turned.base >= 0 ? ",\"NORMAL\":" + std::to_string(turned.changes[k]) + "}" : "}";
    }
    std::string primitives;
    int plain = -1;
    for (const GltfMesh::Primitive& p : mesh.primitives) {
      int material = plain;
      if (p.material >= 0) {
        material = file_.material(look->materials[p.material].name, look->materials[p.material].color);
      } else if (plain < 0) {
        // (colours of vertices are factors of it)
        const auto& c = shape_->color;
        material = plain = file_.material(shape_->name, colored ? std::array<double, 4>{1, 1, 1, 1}
                                                                : std::array<double, 4>{c[0], c[1], c[2], 1});
      }
      primitives += std::string(primitives.empty() ? "" : ",") + "{\"attributes\":{" +
                    (p.lines ? line_attributes : attributes) + "},\"indices\":" +
                    std::to_string(file_.indices(p.indices)) + ",\"mode\":" + (p.lines ? "1" : "4") + ",\"material\":" +
                    std::to_string(material) +
                    (targets_ > 0 ? ",\"targets\":[" + (p.lines ? line_morphs : morphs) + "]" : "") + "}";
    }
    meshes_ += std::string(mesh_count_++ ? "," : "") + "{\"name\":" + quote_json(shape_->name) + ",\"primitives\":[" +
               primitives + "]}";
  }

  /// The mesh, by itself; or, of 16 bits, in a node that has their unit, and this in one that may move.
  void add_nodes(const BodyTransforms* transforms, const Box& box) {
    const std::string mesh = "\"mesh\":" + std::to_string(mesh_count_ - 1), name = quote_json(shape_->name);
    const auto node = [&](const std::string& members) {
      nodes_ += std::string(node_count_ ? "," : "") + "{" + members + "}";
      return node_count_++;
    };
    if (!animation_.quantized) {
      roots_.push_back(node("\"name\":" + name + "," + mesh));
      if (targets_ > 0) channel(weights_, roots_.back(), "weights");
      return;
    }
    const Vec3 &m = box.middle, start = transforms ? (*transforms)[0].position : Vec3{};
    const int inner = node("\"name\":" + quote_json(shape_->name + " surface") + "," + mesh + ",\"translation\":" +
                           text({m.x, m.y, m.z}) + ",\"scale\":" + text({box.size, box.size, box.size}));
    const int outer = node("\"name\":" + name + ",\"children\":[" + std::to_string(inner) + "],\"translation\":" +
                           text({start.x, start.y, start.z}));
    roots_.push_back(outer);
    if (targets_ > 0) channel(weights_, inner, "weights");
    if (targets_ == 0 || !transforms) return;
    std::vector<float> translation, rotation;
    for (std::size_t k = 0; k <= targets_; ++k) {
      const auto& [q, matrix, p] = (*transforms)[int(k)];
      translation.insert(translation.end(), {float(p.x), float(p.y), float(p.z)});
      rotation.insert(rotation.end(), {float(q.x), float(q.y), float(q.z), float(q.w)});
    }
    channel(sampler(file_.floats(translation, 3)), outer, "translation");
    channel(sampler(file_.floats(rotation, 4)), outer, "rotation");
  }

  Animation& animation_;
  GltfFile& file_;
  std::size_t targets_;
  const AnimatedShape* shape_ = nullptr;  // the present one
  int times_ = -1, weights_ = -1;
  std::string meshes_, nodes_, samplers_, channels_;
  int mesh_count_ = 0, node_count_ = 0, sampler_count_ = 0;
  std::vector<int> roots_;
};

}  // namespace

void write_glb(Animation& animation, const std::filesystem::path& folder) {
  GltfFile file(folder / (animation.name + ".glb"));
  GlbWriter writer(animation, file);
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) writer.shape(int(s));
  writer.finish();
}

}  // namespace verve
