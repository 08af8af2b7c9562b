"""How long a stretched cube oscillates by its stiffness and by the method: ./run python examples/study.py"""

from __future__ import annotations

import verve
from verve import study


def swing(simulation: verve.Simulation, run: verve.Run) -> dict[str, float]:
    """The oscillation of the elastic energy in the last third, beside that of the first."""
    elastic = run.of()["elastic"]
    third = len(elastic) // 3
    return {"swing": elastic[-third:].std() / elastic[:third].std()}


if __name__ == "__main__":
    samples = study.grid({"solver.method": ["cpd", "pd"], "bodies.cube.potentials.tet_strain.mu": [2e3, 8e3, 3.2e4]})
    for row in study.run("cube", samples, frames=60, measure=swing, out="runs/swing"):
        mu = row["bodies.cube.potentials.tet_strain.mu"]
        print(f"{row['solver.method']:4} {mu:8.0f} Pa: {100 * row['swing']:5.1f} %")
