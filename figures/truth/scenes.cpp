#include "figures/truth/scenes.h"

#include <cmath>
#include <cstdio>

#include "base/random.h"

namespace verve::figures {

namespace {

std::string number(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.4g", value);
  return buffer;
}
std::string whole(int value) { return std::to_string(value); }
std::string triple(double a, double b, double c) { return "[" + number(a) + "," + number(b) + "," + number(c) + "]"; }

/// A square sheet of n x n vertices, with the anchors of its base at the corners that it has.
std::vector<Override> sheet(int n, double stiffness, bool four) {
  const std::string corners = four ? "[0," + whole(n - 1) + "," + whole(n * (n - 1)) + "," + whole(n * n - 1) + "]"
                                   : "[0," + whole(n - 1) + "]";
  return {{"bodies[0].mesh.columns", whole(n)},
          {"bodies[0].mesh.rows", whole(n)},
          {"anchors[0].vertices.indices", corners},
          {"bodies[0].potentials[0].stiffness", number(stiffness)}};
}
Override step(int per_second) {
  return {"step", "0.0" + std::string(per_second == 15   ? "6666666666666667"
                                      : per_second == 30 ? "3333333333333333"
                                                         : "16666666666666666")};
}
Override cells(int x, int y, int z) { return {"bodies[0].mesh.cells", triple(x, y, z)}; }
Override mu(double value) { return {"bodies[0].potentials[0].mu", number(value)}; }
Override stiffness(double value) { return {"bodies[0].potentials[0].stiffness", number(value)}; }
Override spin(double x, double y, double z) { return {"bodies[0].initial.angular_velocity", triple(x, y, z)}; }
Override stretch(double x, double y, double z) { return {"bodies[0].initial.stretch", triple(x, y, z)}; }

/// A ball of about 190 vertices in three layers, dropped from half a metre above the floor.
std::vector<Override> ball(int frequency, double stiff, double height) {
  return {{"bodies[0].mesh.frequency", whole(frequency)},
          {"bodies[0].mesh.layers", "2"},
          {"bodies[0].place.translate", triple(0, height, 0)},
          mu(stiff)};
}

TruthScene made(const char* name, const char* kind, const char* base, int per_second, int frames,
                std::vector<Override> overrides) {
  overrides.push_back(step(per_second));
  return {name, kind, base, std::move(overrides), frames};
}

/// Without what its base has of it.
Override none(const char* key) { return {key, "[]"}; }

/// Draws of one scene: uniform numbers in [0, 1), one after another.
class Draw {
 public:
  Draw(std::uint64_t seed, int scene) : seed_(seed * 0x9E3779B97F4A7C15ull + std::uint64_t(scene)) {}
  double unit() { return 0.5 + 0.5 * random_signed(seed_, next_++); }
  double between(double low, double high) { return low + (high - low) * unit(); }
  double log_between(double low, double high) { return low * std::pow(high / low, unit()); }
  int whole(int low, int high) { return low + int(unit() * double(high - low + 1)); }

 private:
  std::uint64_t seed_, next_ = 0;
};

}  // namespace

const std::vector<TruthScene>& truth_scenes() {
  static const std::vector<TruthScene> all{
      made("trampoline", "sheet", "trampoline", 30, 240, sheet(20, 10, true)),
      made("trampoline-stiff", "sheet", "trampoline", 60, 240, sheet(20, 100, true)),
      made("cloth", "hanging", "cloth", 15, 150, sheet(20, 40, false)),
      made("pendulum", "hanging", "pendulum", 30, 300, {cells(10, 2, 2)}),
      made("cube", "solid", "cube", 30, 150, {cells(4, 4, 4)}),
      made("bar", "solid", "cube", 60, 240,
           {{"bodies[0].mesh", R"({"generator":"bar","length":2,"height":0.4,"width":0.4,"cells":[15,3,3]})"},
            stretch(1, 1, 1),
            spin(0, 0, 0),
            mu(1e5),
            {"bodies[0].initial.twist", "[60,0,0]"}}),
      made("cube-stiff", "spinning", "cube", 60, 180, {cells(4, 4, 4), mu(8e5), spin(2, 10, 0)}),
      made("t-pipe", "spinning", "t_pipe_intermediate", 15, 120, {{"bodies[0].mesh.resolution", "12"}}),
      made("chain", "chain", "chain", 30, 150, {}),
      made("rope", "chain", "rope", 60, 240, {}),
      made("ball", "bouncing", "ball", 60, 180, ball(6, 3e4, 0.9)),
      made("ball-stiff", "bouncing", "ball", 30, 120, ball(6, 1e6, 0.9)),
  };
  return all;
}

const char* to_string(TruthScene::Set set) {
  return set == TruthScene::Set::twelve ? "ours" : set == TruthScene::Set::variants ? "variants" : "random";
}

const std::vector<TruthScene>& truth_variants() {
  static const std::vector<TruthScene> all = [] {
    std::vector<TruthScene> out;
    const auto sheets = [&](const std::string& base, double soft, bool four) {
      const char* kind = four ? "sheet" : "hanging";
      for (const int rate : {15, 30, 60})
        out.push_back(made((base + "-1/" + whole(rate)).c_str(), kind, base.c_str(), rate, 10 * rate, sheet(20, soft, four)));
      for (const int by : {10, 100})
        out.push_back(made((base + "-x" + whole(by)).c_str(), kind, base.c_str(), 30, 300, sheet(20, soft * by, four)));
    };
    sheets("trampoline", 10, true), sheets("cloth", 40, false);
    for (const int by : {1, 10, 100})
      out.push_back(made(("cube-x" + whole(by)).c_str(), "solid", "cube", 30, 300, {cells(4, 4, 4), mu(8e3 * by)}));
    out.push_back(made("hippo", "solid", "hippo", 30, 150, {}));
    out.push_back(made("bear", "solid", "bear", 30, 150, {}));
    out.push_back(made("torus", "spinning", "torus", 30, 150, {}));
    out.push_back(made("t-pipe-intermediate", "spinning", "t_pipe_intermediate", 30, 150, {}));
    out.push_back(made("t-pipe-major", "spinning", "t_pipe_major", 30, 150, {}));
    out.push_back(made("pendulum-own", "hanging", "pendulum", 30, 300, {}));
    out.push_back(made("rope-1/30", "chain", "rope", 30, 300, {}));
    out.push_back(made("flag", "hanging", "flag", 30, 150, {none("winds")}));
    out.push_back(made("twisting-bar", "solid", "twisting_bar", 30, 150, {}));
    for (TruthScene& s : out) s.set = TruthScene::Set::variants;
    return out;
  }();
  return all;
}

std::vector<TruthScene> random_truth_scenes(int count, std::uint64_t seed) {
  static constexpr int rates[] = {15, 30, 60};
  std::vector<TruthScene> out;
  for (int i = 0; i < count; ++i) {
    Draw draw(seed, i);
    const int rate = rates[draw.whole(0, 2)], kind = draw.whole(0, 5);
    const std::string name = "random-" + whole(i + 1);
    TruthScene s;
    switch (kind) {
      case 0: {
        s = made("", "sheet", "trampoline", rate, 120, sheet(draw.whole(10, 24), draw.log_between(3, 300), true));
        const double by = draw.between(1.1, 1.8);
        s.overrides.push_back(stretch(by, 1, by));
        s.overrides.emplace_back("bodies[0].initial.velocity", triple(0, draw.between(0.5, 5), 0));
        break;
      }
      case 1:
        s = made("", "hanging", "cloth", rate, 120, sheet(draw.whole(10, 24), draw.log_between(20, 2000), false));
        break;
      case 2:
        s = made("", "solid", "cube", rate, 120, {cells(draw.whole(2, 6), draw.whole(2, 6), draw.whole(2, 6))});
        s.overrides.push_back(mu(draw.log_between(1e3, 1e6)));
        s.overrides.push_back(spin(0, 0, 0));
        s.overrides.push_back(stretch(draw.between(0.7, 1.4), draw.between(0.7, 1.4), draw.between(0.7, 1.4)));
        break;
      case 3:
        s = made("", "spinning", "t_pipe_intermediate", rate, 120,
                 {{"bodies[0].mesh.resolution", whole(draw.whole(8, 14))}});
        s.overrides.push_back(mu(draw.log_between(2e4, 2e6)));
        s.overrides.push_back(spin(draw.between(-4, 4), draw.between(-4, 4), draw.between(-4, 4)));
        break;
      case 4:
        s = made("", "chain", "chain", rate, 120, {{"bodies[0].mesh.vertices", whole(draw.whole(5, 40))}});
        s.overrides.push_back(stiffness(draw.log_between(200, 2e5)));
        break;
      default:
        s = made("", "bouncing", "ball", rate, 90,
                 ball(draw.whole(4, 7), draw.log_between(2e4, 2e6), draw.between(0.6, 1.2)));
        break;
    }
    s.name = name, s.set = TruthScene::Set::random;
    out.push_back(std::move(s));
  }
  return out;
}

Scene build(const TruthScene& wanted) {
  Scene out = scene(wanted.base, wanted.overrides);
  out.name = wanted.name, out.frames = wanted.frames;
  return out;
}

std::string as_flags(const TruthScene& scene) {
  std::string out;
  for (const auto& [path, value] : scene.overrides) {
    const bool quote = value.find_first_of("[{\"") != std::string::npos;
    out += (out.empty() ? "--set " : " --set ") + (quote ? "'" + path + "=" + value + "'" : path + "=" + value);
  }
  return out;
}

}  // namespace verve::figures
