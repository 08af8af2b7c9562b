// USD as text: Mesh prims with time-sampled points, normals and extents, texture coordinates, materials bound to subsets
// of faces; edges as BasisCurves.
#include <algorithm>
#include <cctype>
#include <functional>
#include <set>

#include "exchange/animation.h"
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

class Writer {
 public:
  Writer(Animation& animation, Output& out) : animation_(animation), out_(out) {}

  void shape(int s) {
    const Mesh& mesh = animation_.shapes[s].mesh;
    const std::string name = identifier(animation_.shapes[s].name, names_);
    if (!mesh.triangles.empty() || !mesh.tetrahedra.empty()) {
      open("Mesh", name);
      faces(s);
      points(s, {});
      close(s);
      if (mesh.look && !mesh.look->material.empty() && !animation_.tears) subsets(*mesh.look, name);
      out_.text("    }\n");
    }
    if (mesh.edges.empty()) return;
    open("BasisCurves", identifier(animation_.shapes[s].name + (mesh.triangles.empty() ? "" : "_edges"), names_));
    std::vector<int> ends;
    for (const auto& e : mesh.edges) ends.insert(ends.end(), e.begin(), e.end());
    out_.text("        uniform token type = \"linear\"\n        int[] curveVertexCounts = ");
    list(out_, mesh.edges, [](const auto&) { return "2"; });
    out_.text("\n        float[] widths = [" + number(0.01 / animation_.metres_per_unit, false) +
              "] (\n            interpolation = \"constant\"\n        )\n");
    points(s, ends);
    close(s);
    out_.text("    }\n");
  }

 private:
  void open(const char* type, const std::string& name) {
    out_.text(std::string("\n    def ") + type + " \"" + name + "\"\n    {\n");
  }
  void close(int s) {
    const auto& c = animation_.shapes[s].color;
    const SurfaceLook* look = animation_.shapes[s].mesh.look.get();
    const auto text = [](const auto& rgb) {
      return "(" + number(rgb[0], false) + ", " + number(rgb[1], false) + ", " + number(rgb[2], false) + ")";
    };
    out_.text("        color3f[] primvars:displayColor = ");
    if (look && !look->colors.empty()) {
      list(out_, look->colors, text);
      out_.text(" (\n            interpolation = \"vertex\"\n        )\n");
    } else {
      out_.text("[" + text(c) + "]\n");
    }
  }

  /// attribute.timeSamples = { frame: value, ... }
  void samples(const std::string& attribute, const std::function<void(int)>& value) {
    out_.text("        " + attribute + ".timeSamples = {\n");
    for (std::size_t k = 0; k < animation_.frames.size(); ++k) {
      out_.text("            " + std::to_string(animation_.frames[k]) + ": ");
      value(int(k));
      out_.text(",\n");
    }
    out_.text("        }\n");
  }

  void faces(int s) {
    const Mesh& mesh = animation_.shapes[s].mesh;
    out_.text("        uniform token subdivisionScheme = \"none\"\n        uniform bool doubleSided = 1\n");
    const auto whole = [](int v) { return std::to_string(v); };
    if (animation_.tears) {
      samples("int[] faceVertexCounts",
              [&](int k) { list(out_, surface(animation_.at(s, k)), [](const auto&) { return "3"; }); });
      samples("int[] faceVertexIndices", [&](int k) { list(out_, corners(animation_.at(s, k)), whole); });
      return;
    }
    out_.text("        int[] faceVertexCounts = ");
    if (mesh.look) {
      std::vector<int> counts;
      for (int p = 0; p < mesh.look->polygons(); ++p) counts.push_back(mesh.look->first[p + 1] - mesh.look->first[p]);
      list(out_, counts, whole);
    } else {
      list(out_, surface(mesh), [](const auto&) { return "3"; });
    }
    out_.text("\n        int[] faceVertexIndices = ");
    list(out_, mesh.look ? mesh.look->vertex : corners(mesh), whole);
    out_.text("\n");
    normals(s);
    if (!mesh.look || mesh.look->uv.empty()) return;
    out_.text("        texCoord2f[] primvars:st = ");
    std::vector<std::array<double, 2>> uvs = mesh.look->uvs;
    uvs.push_back({0, 0});  // of corners without
    list(out_, uvs, [](const auto& uv) { return "(" + number(uv[0], false) + ", " + number(uv[1], false) + ")"; });
    out_.text(" (\n            interpolation = \"faceVarying\"\n        )\n        int[] primvars:st:indices = ");
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
    out_.text("        normal3f[] primvars:normals = ");
    list(out_, normals.at(animation_.shapes[s].mesh.vertices), text);
    out_.text(" (\n            interpolation = \"faceVarying\"\n        )\n");
    samples("normal3f[] primvars:normals", [&](int k) { list(out_, normals.at(animation_.at(s, k).vertices), text); });
    out_.text("        int[] primvars:normals:indices = ");
    list(out_, normals.of_corner(), [](int n) { return std::to_string(n); });
    out_.text("\n");
  }
  static std::vector<int> corners(const Mesh& mesh) {
    std::vector<int> out;
    for (const auto& t : surface(mesh)) out.insert(out.end(), t.begin(), t.end());
    return out;
  }

  /// `chosen`: of these vertices, or of all.
  void points(int s, const std::vector<int>& chosen) {
    struct Extent {
      Vec3 low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
    };
    std::vector<Extent> extents;
    const auto text = [&](const Vec3& p) {
      return "(" + number(p.x, animation_.wide) + ", " + number(p.y, animation_.wide) + ", " + number(p.z, animation_.wide) + ")";
    };
    samples("point3f[] points", [&](int k) {
      const std::vector<Vec3>& x = animation_.at(s, k).vertices;
      Extent e;
      for (const Vec3& p : x)
        for (int a = 0; a < 3; ++a) e.low[a] = std::min(e.low[a], p[a]), e.high[a] = std::max(e.high[a], p[a]);
      extents.push_back(e);
      if (chosen.empty())
        list(out_, x, text);
      else
        list(out_, chosen, [&](int v) { return text(x[v]); });
    });
    samples("float3[] extent", [&](int k) { out_.text("[" + text(extents[k].low) + ", " + text(extents[k].high) + "]"); });
  }

  /// Faces of each material, and the material.
  void subsets(const SurfaceLook& look, const std::string& prim) {
    std::set<std::string> used;
    for (std::size_t m = 0; m < look.materials.size(); ++m) {
      std::vector<int> members;
      for (int p = 0; p < look.polygons(); ++p)
        if (look.material[p] == int(m)) members.push_back(p);
      if (members.empty()) continue;
      const std::string name = identifier(look.materials[m].name, used), material = identifier("Material_" + name, used),
                        path = "</World/" + prim + "/" + material;
      const auto& c = look.materials[m].color;
      out_.text("\n        def GeomSubset \"" + name +
                "\" (\n            prepend apiSchemas = [\"MaterialBindingAPI\"]\n        )\n        {\n"
                "            uniform token elementType = \"face\"\n"
                "            uniform token familyName = \"materialBind\"\n            int[] indices = ");
      list(out_, members, [](int p) { return std::to_string(p); });
      out_.text("\n            rel material:binding = " + path + ">\n        }\n\n        def Material \"" + material +
                "\"\n        {\n            token outputs:surface.connect = " + path + "/Surface.outputs:surface>\n\n"
                "            def Shader \"Surface\"\n            {\n                uniform token info:id = \"UsdPreviewSurface\"\n"
                "                color3f inputs:diffuseColor = (" + number(c[0], false) + ", " + number(c[1], false) + ", " +
                number(c[2], false) + ")\n                float inputs:opacity = " + number(c[3], false) +
                "\n                token outputs:surface\n            }\n        }\n");
    }
  }

  Animation& animation_;
  Output& out_;
  std::set<std::string> names_;
};

}  // namespace

void write_usda(Animation& animation, const std::filesystem::path& folder) {
  Output out(folder / (animation.name + ".usda"));
  const std::string rate = number(1 / animation.step, false);
  out.text("#usda 1.0\n(\n    defaultPrim = \"World\"\n    endTimeCode = " + std::to_string(animation.frames.back()) +
           "\n    framesPerSecond = " + rate + "\n    metersPerUnit = " + number(animation.metres_per_unit, false) +
           "\n    startTimeCode = " + std::to_string(animation.frames[0]) + "\n    timeCodesPerSecond = " + rate +
           "\n    upAxis = \"" + (animation.z_up ? "Z" : "Y") + "\"\n)\n\ndef Xform \"World\"\n{");
  Writer writer(animation, out);
  for (std::size_t s = 0; s < animation.shapes.size(); ++s) writer.shape(int(s));
  out.text("}\n");
  out.close();
}

}  // namespace verve
