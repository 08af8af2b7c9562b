"""Two seconds of a jelly bear, with a dial turned in the middle: ./run python examples/hello.py"""

import verve

scene = verve.Scene()
bear = scene.add_body("bear", "bear", material="jelly", initial={"stretch": [1, 1.3, 1]})
bear.mesh.resolution = 8
bear.dials = {"half_life": None}  # this one wobbles for ever
scene.solver.tolerance = 1e-4
sim = verve.Simulation(scene)
for report in sim.run(60):
    if sim.frame == 30:
        sim["bear"].energy *= 0.5
    print(f"{sim.frame:2}: {sim.measure().total:8.4f} J, {report.iterations} iterations")
