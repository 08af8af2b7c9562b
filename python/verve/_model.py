"""A scene compiled, for research: energies, forces and matrices as NumPy and SciPy have them."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._potential import Potentials, laws_of
from ._scene import Scene

if TYPE_CHECKING:
    from ._simulation import Simulation

Array = npt.NDArray[np.float64]


class Model(_core.Model):
    """The potentials of a scene's bodies at time 0, without anchors, contacts and forces from outside.

    Vertices are numbered as everywhere; matrices are `scipy.sparse.csr_matrix`. In the letters of Projective Dynamics,
    W(x) = sum of w/2 |A x - p(A x)|^2, the global step solves (M/h^2 + L) x = M/h^2 u + sum of w A^T p:

    >>> model = verve.Model("cube")
    >>> A, w = model.reduction()
    >>> L = model.global_matrix()          # sum of w A^T A, a row per vertex
    >>> p = model.project(model.positions)
    """

    def __init__(
        self,
        scene: Scene | Simulation | str | os.PathLike[str] | Mapping[str, Any],
        *,
        potentials: Potentials | None = None,
    ) -> None:
        inner = getattr(scene, "scene", None)
        if isinstance(inner, Scene):  # a simulation: its scene, and the potentials that were given to it
            potentials = potentials or getattr(scene, "_potentials", None)
            scene = inner
        scene = scene if isinstance(scene, Scene) else Scene(scene)  # type: ignore[arg-type]
        super().__init__(scene.to_json(), scene._origin, laws_of(potentials))

    def mass_matrix(self) -> Any:
        """M [kg], a row per vertex: diagonal, or consistent where the scene says so."""
        return _matrix(self.mass_entries(), self.vertices, self.vertices)

    def global_matrix(self) -> Any:
        """L = sum of w A^T A [N/m], a row per vertex: what stands for the Hessian in the global step."""
        return _matrix(self.global_entries(), self.vertices, self.vertices)

    def hessian(self, positions: npt.ArrayLike | None = None, definite: bool = False) -> Any:
        """d2W/dx2 [N/m] at positions (default: where the scene begins), three rows per vertex: x, y, z of vertex 0, ...

        `definite`: what is negative in the Hessian of an element is left out. Raises ValueError for potentials that
        have no second derivatives.
        """
        x = self.positions if positions is None else positions
        return _matrix(self.hessian_entries(x, definite), 3 * self.vertices, 3 * self.vertices)

    def reduction(self, body: int = 0, potential: int = 0) -> tuple[Any, Array]:
        """A of a potential, z = A x with its elements' rows one after another, and w of each row [J/|z|^2]."""
        entries, weights = self.reduction_entries(body, potential)
        return _matrix(entries, len(weights), self.vertices), weights


def _matrix(entries: tuple[Array, npt.NDArray[np.int32], npt.NDArray[np.int32]], rows: int, columns: int) -> Any:
    from scipy import sparse  # type: ignore[import]

    values, i, j = entries
    return sparse.coo_matrix((values, (i, j)), shape=(rows, columns)).tocsr()
