// Which bodies move together, without a world: from the links and touching pairs of a state made by hand.
#include "integrators/islands.h"

#include "rig.h"

using namespace verve;
using namespace verve::test;

namespace {

/// Four boxes; a link between the first and the last, and an anchor of the second to the world.
struct FourBoxes {
  Scene scene = make_scene();
  CompiledScene compiled = std::move(compile(scene).value());
  State state;
  Islands islands{compiled.model, compiled.matter};

  FourBoxes() {
    state.anchors.resize(scene.anchors.size());
    for (AnchorState& anchor : state.anchors) anchor.stiffness = 100;
    islands.rebuild(state);
    islands.group(state);
  }
  static Scene make_scene() {
    Scene scene = scene_of(box_body(1, 1e4, "a"));
    for (const char* name : {"b", "c", "d"}) scene.bodies.push_back(box_body(1, 1e4, name));
    AnchorSpec link, anchor;
    link.body = "a", link.to_body = "d", anchor.body = "b";
    for (AnchorSpec* spec : {&link, &anchor}) spec->vertices.all = true;
    scene.anchors = {link, anchor};
    return scene;
  }
  std::vector<std::vector<int>> members() const {
    std::vector<std::vector<int>> out;
    for (const Island* island : islands) out.push_back(island->bodies());
    return out;
  }
};

using Members = std::vector<std::vector<int>>;

}  // namespace

TEST_CASE("bodies that are linked or touch are an island, wherever they are in the list") {
  FourBoxes boxes;
  CHECK(boxes.members() == Members{{0}, {1}, {2}, {3}});
  boxes.state.anchors[0].active = true;
  boxes.islands.rebuild(boxes.state), boxes.islands.group(boxes.state);
  CHECK(boxes.members() == Members{{0, 3}, {1}, {2}});
  boxes.state.touching = {{1, 3}};
  CHECK(boxes.islands.group(boxes.state));
  CHECK(boxes.members() == Members{{0, 3, 1}, {2}});
  CHECK(&boxes.islands.of(1) == &boxes.islands.of(0));
  const int rows = boxes.compiled.model.bodies[0].count;
  CHECK(boxes.islands.offset(1) == 2 * rows);
  CHECK(boxes.islands.offset(2) == 0);
  CHECK_FALSE(boxes.islands.group(boxes.state));  // as before
}

TEST_CASE("bodies that part and meet again are in the island that they had") {
  FourBoxes boxes;
  boxes.state.touching = {{0, 1}};
  boxes.islands.group(boxes.state);
  const Island* const together = &boxes.islands.of(0);
  CHECK(together->parts().size() == 2);
  boxes.state.touching.clear();
  CHECK(boxes.islands.group(boxes.state));
  CHECK(boxes.islands.of(0).parts().empty());
  CHECK_FALSE(boxes.islands.has(together));
  boxes.state.touching = {{0, 1}};
  CHECK(boxes.islands.group(boxes.state));
  CHECK(&boxes.islands.of(1) == together);
}

TEST_CASE("an anchor to the world that comes or goes leaves its cluster the factors") {
  FourBoxes boxes;
  const Island* const cluster = &boxes.islands.of(1);
  REQUIRE(boxes.islands.of(1).matrix().factor_for(0.02, {}));
  boxes.state.anchors[1].active = true;
  boxes.islands.rebuild(boxes.state), boxes.islands.group(boxes.state);
  CHECK(&boxes.islands.of(1) == cluster);
  CHECK(cluster->anchored());
  CHECK(boxes.islands.of(1).anchor_terms()[0].world.stiffness == 100);
  // a link makes another cluster; the factorisations of the old one still count
  boxes.state.anchors[0].active = true;
  boxes.islands.rebuild(boxes.state), boxes.islands.group(boxes.state);
  CHECK(&boxes.islands.of(1) == cluster);
  CHECK(boxes.islands.of(0).bodies() == std::vector<int>{0, 3});
  CHECK(boxes.islands.factorizations() == 1);
  boxes.islands.clear();
  CHECK(boxes.islands.size() == 0);
  CHECK(boxes.islands.factorizations() == 1);
}
