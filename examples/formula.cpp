#include <verve/verve.h>

#include <cstdio>

// A box whose two space diagonals are to stay equally long: C(q) = |q1 - q0|^2 - |q3 - q2|^2 = 0.
int main() {
  verve::Formula diagonals;
  diagonals.values = 1;
  diagonals.evaluate = [](const verve::Vec3* q, int, double* c, verve::Vec3* gradient) {
    const verve::Vec3 a = q[1] - q[0], b = q[3] - q[2];
    c[0] = dot(a, a) - dot(b, b);
    gradient[0] = a * -2, gradient[1] = a * 2;
    gradient[2] = b * 2, gradient[3] = b * -2;
  };

  verve::Scene scene;
  verve::BodySpec& body = scene.bodies.emplace_back();
  body.name = "box";
  body.mesh = {.generator = "box", .parameters = {{"cells", {1, 1, 1}}}};
  body.potentials.push_back({"tet_strain", {{"mu", 1e3}}});
  verve::PotentialSpec& constraint = body.potentials.emplace_back();
  constraint.type = "formula";
  constraint.parameters["stiffness"] = 1e5;  // [N/m] of each vertex
  constraint.groups = {{0, 7, 1, 6}};        // any number of groups share the formula
  constraint.formula = std::make_shared<const verve::Formula>(diagonals);
  body.initial.noise = 0.1;
  body.dials.half_life = 0.1;  // [s] let it come to rest

  verve::Simulation simulation = verve::Simulation::create(scene).value();
  for (int frame = 0; frame < 120; ++frame) simulation.step();
  const std::vector<verve::Vec3> x = simulation.positions();
  std::printf("diagonals of %.4f m and %.4f m\n", norm(x[7] - x[0]), norm(x[6] - x[1]));
}
