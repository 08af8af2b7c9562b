// USD as text: of each body an Xform that moves with it as a whole, and in it a Mesh with time-sampled points, normals and
// extents, texture coordinates, materials bound to subsets of faces; edges as BasisCurves. Where the mesh is the one
// that was simulated, with the attributes of the proposed schema of deformable bodies, and a TetMesh of tetrahedra.
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "exchange/body_transforms.h"
#include "exchange/output.h"
#include "geometry/shading_normals.h"

namespace verve {

namespace {

std::string number(double value, bool wide) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, wide ? "%.17g" : "%.9g", wide ? value : double(float(value)));
  return buffer;
}

/// A name that USD takes, each once.
std::string identifier(const std::string& name, std::set<std::string>& used) {
  std::string out;
  for (const char c : name) out += std::isalnum((unsigned char)(c)) ? c : '_';
  if (out.empty() || std::isdigit((unsigned char)(out[0]))) out.insert(0, "_");
  while (!used.insert(out).second) out += "_";
  return out;
}

template <class Range, class F>
void list(Output& out, const Range& range, const F& text) {
  out.text("[");
  bool first = true;
  for (const auto& value : range) {
    out.text(first ? "" : ", ");
    out.text(text(value));
    first = false;
  }
  out.text("]");
}

class UsdWriter {
 public:
  UsdWriter(Animation& animation, Output& out) : animation_(animation), out_(out) {}

  /// An Xform that moves with the body as a whole, and in it what of the body is seen, and its tetrahedra if they are
  /// there.
  void shape(int s) {
    const AnimatedShape& shape = animation_.shapes[s];
    const Mesh& mesh = shape.mesh;
    const BodyTransforms transforms(animation_, s);
    transforms_ = &transforms;
    body_ = identifier(shape.name, names_);
    const bool faces_are_simulated = !shape.rest.empty() && mesh.tetrahedra.empty() && !mesh.triangles.empty() &&
                                     mesh.edges.empty() && only_triangles(mesh);
    const bool simulated = !animation_.tears && (faces_are_simulated || has_tetrahedra(s));
    open("    ", "Xform", body_, simulated ? "\"OmniPhysicsDeformableBodyAPI\"" : "");
    if (simulated)
      out_.text("        bool omniphysics:deformableBodyEnabled = 1\n        bool omniphysics:kinematicEnabled = 1\n"
                "        float omniphysics:mass = " + number(shape.mass, false) + "\n");
    const auto operation = [&](const char* name, const auto& value) {
      // a value beside the samples: for readers that know none
      out_.text(std::string("        ") + name + " = " + value(transforms[0]) + "\n");
      samples("        ", name, [&](int k) { out_.text(value(transforms[k])); });
    };
    operation("double3 xformOp:translate", [](const auto& pose) {
      const Vec3& p = pose.position;
      return "(" + number(p.x, true) + ", " + number(p.y, true) + ", " + number(p.z, true) + ")";
    });
    operation("quatd xformOp:orient", [](const auto& pose) {
      const Quaternion& q = pose.turn;
      return "(" + number(q.w, true) + ", " + number(q.x, true) + ", " + number(q.y, true) + ", " + number(q.z, true) +
             ")";
    });
    out_.text("        uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"]\n");
    if (!mesh.triangles.empty() || !mesh.tetrahedra.empty()) {
      open("        ", "Mesh", "surface",
           !simulated ? ""
           : faces_are_simulated
               ? "\"OmniPhysicsSurfaceDeformableSimAPI\", \"OmniPhysicsDeformablePoseAPI:default\", "
                 "\"PhysicsCollisionAPI\""
               : "\"OmniPhysicsDeformablePoseAPI:default\"");
      faces(s);
      points(s, {});
      if (simulated) bind_pose(s);
      if (simulated && faces_are_simulated) rest_shape(s, "int3[] omniphysics:restTriVtxIndices", mesh.triangles);
      display_color(s);
      if (mesh.look && !mesh.look->material.empty() && !animation_.tears) subsets(*mesh.look);
      out_.text("        }\n");
    }
    if (has_tetrahedra(s)) tetrahedra(s);
    if (!mesh.edges.empty()) curves(s);
    out_.text("    }\n");
  }

 private:
  void open(const char* indent, const char* type, const std::string& name, const std::string& schemas = "") {
    out_.text(std::string("\n") + indent + "def " + type + " \"" + name + "\"");
    if (!schemas.empty())
      out_.text(std::string(" (\n") + indent + "    prepend apiSchemas = [" + schemas + "]\n" + indent + ")");
    out_.text(std::string("\n") + indent + "{\n");
  }
  bool has_tetrahedra(int s) const {
    const AnimatedShape& shape = animation_.shapes[s];
    return !shape.mesh.tetrahedra.empty() && !shape.rest.empty();
  }
  static bool only_triangles(const Mesh& mesh) {
    for (int p = 0; mesh.look && p < mesh.look->polygons(); ++p)
      if (mesh.look->first[p + 1] - mesh.look->first[p] != 3) return false;
    return true;
  }
  void display_color(int s) {
    const auto& c = animation_.shapes[s].color;
    const SurfaceLook* look = animation_.shapes[s].mesh.look.get();
    const auto text = [](const auto& rgb) {
      return "(" + number(rgb[0], false) + ", " + number(rgb[1], false) + ", " + number(rgb[2], false) + ")";
    };
    out_.text("            color3f[] primvars:displayColor = ");
    if (look && !look->colors.empty()) {
      list(out_, look->colors, text);
      out_.text(" (\n                interpolation = \"vertex\"\n            )\n");
    } else {
      out_.text("[" + text(c) + "]\n");
    }
  }
  std::string point(const Vec3& p) const {
    return "(" + number(p.x, animation_.wide) + ", " + number(p.y, animation_.wide) + ", " +
           number(p.z, animation_.wide) + ")";
  }

  // The proposal for deformable bodies in UsdPhysics (docs/outputs.md).
  void bind_pose(int s) {
    out_.text("            uniform token[] deformablePose:default:omniphysics:purposes = [\"bindPose\"]\n"
              "            point3f[] deformablePose:default:omniphysics:points = ");
    rest_points(s);
  }
  void rest_points(int s) {
    list(out_, animation_.shapes[s].rest, [&](const Vec3& p) { return point((*transforms_)[0].to_local(p)); });
    out_.text("\n");
  }
  template <std::size_t N>
  void rest_shape(int s, const char* elements, const std::vector<std::array<int, N>>& of) {
    out_.text("            point3f[] omniphysics:restShapePoints = ");
    rest_points(s);
    out_.text(std::string("            ") + elements + " = ");
    list(out_, of, tuple<N>);
    out_.text("\n");
  }
  template <std::size_t N>
  static std::string tuple(const std::array<int, N>& element) {
    std::string out = "(";
    for (std::size_t i = 0; i < N; ++i) out += (i ? ", " : "") + std::to_string(element[i]);
    return out + ")";
  }
  /// Beside the skin, which is what is drawn.
  void tetrahedra(int s) {
    const Mesh& mesh = animation_.shapes[s].mesh;
    open("        ", "TetMesh", "simulation",
         animation_.tears ? ""
                          : "\"OmniPhysicsVolumeDeformableSimAPI\", \"OmniPhysicsDeformablePoseAPI:default\", "
                            "\"PhysicsCollisionAPI\"");
    out_.text("            uniform token purpose = \"guide\"\n");
    const auto skin = [](const Mesh& of) { return surface(Mesh{{}, of.tetrahedra, {}, {}}); };
    if (animation_.tears) {
      samples("            ", "int4[] tetVertexIndices",
              [&](int k) { list(out_, animation_.at(s, k).tetrahedra, tuple<4>); });
      samples("            ", "int3[] surfaceFaceVertexIndices",
              [&](int k) { list(out_, skin(animation_.at(s, k)), tuple<3>); });
    } else {
      out_.text("            int4[] tetVertexIndices = ");
      list(out_, mesh.tetrahedra, tuple<4>);
      out_.text("\n            int3[] surfaceFaceVertexIndices = ");
      list(out_, skin(mesh), tuple<3>);
      out_.text("\n");
      bind_pose(s);
      rest_shape(s, "int4[] omniphysics:restTetVtxIndices", mesh.tetrahedra);
    }
    points(s, {});
    out_.text("        }\n");
  }
  void curves(int s) {
    const Mesh& mesh = animation_.shapes[s].mesh;
    open("        ", "BasisCurves", "edges");
    std::vector<int> ends;
    for (const auto& e : mesh.edges) ends.insert(ends.end(), e.begin(), e.end());
    out_.text("            uniform token type = \"linear\"\n            int[] curveVertexCounts = ");
    list(out_, mesh.edges, [](const auto&) { return "2"; });
    out_.text("\n            float[] widths = [" + number(0.01 / animation_.metres_per_unit, false) +
              "] (\n                interpolation = \"constant\"\n            )\n");
    points(s, ends);
    display_color(s);
    out_.text("        }\n");
  }

  /// attribute.timeSamples = { frame: value, ... }
  void samples(const std::string& indent, const std::string& attribute, const std::function<void(int)>& value) {
    out_.text(indent + attribute + ".timeSamples = {\n");
    for (std::size_t k = 0; k < animation_.frames.size(); ++k) {
      out_.text(indent + "    " + std::to_string(animation_.frames[k]) + ": ");
      value(int(k));
      out_.text(",\n");
    }
    out_.text(indent + "}\n");
  }

  void faces(int s) {
    const Mesh& mesh = animation_.shapes[s].mesh;
    out_.text("            uniform token subdivisionScheme = \"none\"\n            uniform bool doubleSided = 1\n");
    const auto whole = [](int v) { return std::to_string(v); };
    if (animation_.tears) {
      samples("            ", "int[] faceVertexCounts",
              [&](int k) { list(out_, surface(animation_.at(s, k)), [](const auto&) { return "3"; }); });
      samples("            ", "int[] faceVertexIndices", [&](int k) { list(out_, corners(animation_.at(s, k)), whole); });
      return;
    }
    out_.text("            int[] faceVertexCounts = ");
    if (mesh.look) {
      std::vector<int> counts;
      for (int p = 0; p < mesh.look->polygons(); ++p) counts.push_back(mesh.look->first[p + 1] - mesh.look->first[p]);
      list(out_, counts, whole);
    } else {
      list(out_, surface(mesh), [](const auto&) { return "3"; });
    }
    out_.text("\n            int[] faceVertexIndices = ");
    list(out_, mesh.look ? mesh.look->vertex : corners(mesh), whole);
    out_.text("\n");
    normals(s);
    if (!mesh.look || mesh.look->uv.empty()) return;
    out_.text("            texCoord2f[] primvars:st = ");
    std::vector<std::array<double, 2>> uvs = mesh.look->uvs;
    uvs.push_back({0, 0});  // of corners without
    list(out_, uvs, [](const auto& uv) { return "(" + number(uv[0], false) + ", " + number(uv[1], false) + ")"; });
    out_.text(" (\n                interpolation = \"faceVarying\"\n            )\n            int[] primvars:st:indices = ");
    list(out_, mesh.look->uv, [&](int uv) { return std::to_string(uv < 0 ? int(uvs.size()) - 1 : uv); });
    out_.text("\n");
  }
  /// Of the corners of faces in every frame.
  void normals(int s) {
    const ShadingNormals normals(animation_.shapes[s].mesh);
    const auto text = [](const Vec3& n) {
      char buffer[60];
      std::snprintf(buffer, sizeof buffer, "(%.4f, %.4f, %.4f)", n.x, n.y, n.z);
      return std::string(buffer);
    };
    // a value beside the samples: the parser of three does not take an attribute without one
    out_.text("            normal3f[] primvars:normals = ");
    list(out_, normals.at(local(s, 0)), text);
    out_.text(" (\n                interpolation = \"faceVarying\"\n            )\n");
    samples("            ", "normal3f[] primvars:normals", [&](int k) { list(out_, normals.at(local(s, k)), text); });
    out_.text("            int[] primvars:normals:indices = ");
    list(out_, normals.of_corner(), [](int n) { return std::to_string(n); });
    out_.text("\n");
  }
  static std::vector<int> corners(const Mesh& mesh) {
    std::vector<int> out;
    for (const auto& t : surface(mesh)) out.insert(out.end(), t.begin(), t.end());
    return out;
  }

  /// Where the vertices are beside the body's Xform.
  std::vector<Vec3> local(int s, int k) {
    std::vector<Vec3> x = animation_.at(s, k).vertices;
    for (Vec3& p : x) p = (*transforms_)[k].to_local(p);
    return x;
  }

  /// `chosen`: of these vertices, or of all.
  void points(int s, const std::vector<int>& chosen) {
    struct Extent {
      Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    };
    std::vector<Extent> extents;
    const auto text = [&](const Vec3& p) { return point(p); };
    samples("            ", "point3f[] points", [&](int k) {
      const std::vector<Vec3> x = local(s, k);
      Extent e;
      for (const Vec3& p : x)
        for (int a = 0; a < 3; ++a) e.low[a] = std::min(e.low[a], p[a]), e.high[a] = std::max(e.high[a], p[a]);
      extents.push_back(e);
      if (chosen.empty())
        list(out_, x, text);
      else
        list(out_, chosen, [&](int v) { return text(x[v]); });
    });
    samples("            ", "float3[] extent",
            [&](int k) { out_.text("[" + point(extents[k].low) + ", " + point(extents[k].high) + "]"); });
  }

  /// Faces of each material, and the material.
  void subsets(const SurfaceLook& look) {
    std::set<std::string> used;
    for (std::size_t m = 0; m < look.materials.size(); ++m) {
      std::vector<int> members;
      for (int p = 0; p < look.polygons(); ++p)
        if (look.material[p] == int(m)) members.push_back(p);
      if (members.empty()) continue;
      const std::string name = identifier(look.materials[m].name, used), material = identifier("Material_" + name, used),
                        path = "</World/" + body_ + "/surface/" + material;
      const auto& c = look.materials[m].color;
      out_.text("\n            def GeomSubset \"" + name +
                "\" (\n                prepend apiSchemas = [\"MaterialBindingAPI\"]\n            )\n            {\n"
                "                uniform token elementType = \"face\"\n"
                "                uniform token familyName = \"materialBind\"\n                int[] indices = ");
      list(out_, members, [](int p) { return std::to_string(p); });
      out_.text("\n                rel material:binding = " + path + ">\n            }\n\n            def Material \"" + material +
                "\"\n            {\n                token outputs:surface.connect = " + path + "/Surface.outputs:surface>\n\n"
                "                def Shader \"Surface\"\n                {\n                    uniform token info:id = \"UsdPreviewSurface\"\n"
                "                    color3f inputs:diffuseColor = (" + number(c[0], false) + ", " + number(c[1], false) + ", " +
                number(c[2], false) + ")\n                    float inputs:opacity = " + number(c[3], false) +
                "\n                    token outputs:surface\n                }\n            }\n");
    }
  }

  Animation& animation_;
  Output& out_;
  std::set<std::string> names_;
  std::string body_;  // the present one
  const BodyTransforms* transforms_ = nullptr;
};

}  // namespace

void write_usda(Animation& animation, const std::filesystem::path& folder) {
  Output out(folder / (animation.name + ".usda"));
  const std::string rate = number(1 / animation.step, false);
  out.text("#usda 1.0\n(\n    defaultPrim = \"World\"\n    endTimeCode = " + std::to_string(animation.frames.back()) +
           "\n    framesPerSecond = " + rate + "\n    metersPerUnit = " + number(animation.metres_per_unit, false) +
           "\n    startTimeCode = " + std::to_string(animation.frames[0]) + "\n    timeCodesPerSecond = " + rate +
           "\n    upAxis = \"" + (animation.z_up ? "Z" : "Y") + "\"\n)\n\ndef Xform \"World\"\n{");
  UsdWriter writer(animation, out);
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) writer.shape(int(s));
  out.text("}\n");
  out.close();
}

}  // namespace verve
