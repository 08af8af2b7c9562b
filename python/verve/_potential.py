"""Potentials of one's own: constitutive laws as functions of arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Union

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Energy = Callable[[Array], "tuple[Array, Array]"]
Projection = Callable[[Array], Array]

_dimensions = {"tetrahedra": 3, "triangles": 2, "edges": 1}


class Potential:
    """E = sum of V Psi(F) over the elements of a body, by a function of the deformation gradients of all of them.

    F is (n, 3, d) with d = 3 for tetrahedra, 2 for triangles (in axes of the triangle at rest), 1 for edges. Either

    - `energy(F)` returns (Psi, dPsi/dF), (n,) [J/m^3; J/m^2 of triangles, J/m of edges] and (n, 3, d), with
      `stiffness` about the largest second derivative of Psi that it reaches: the global step takes it in its place, and
      searches for the length of its steps; or
    - `projection(F)` returns the nearest F that costs nothing, (n, 3, d): Psi = stiffness/2 |F - projection(F)|^2.

    >>> def rotations(F):
    ...     u, _, vt = np.linalg.svd(F)
    ...     u[:, :, 2] *= np.linalg.det(u @ vt)[:, None]
    ...     return u @ vt
    >>> corotated = verve.Potential(projection=rotations, stiffness=2e4)
    >>> sim = verve.Simulation(scene, potentials={"cube": corotated})

    `stiffness` in Pa (triangles N/m, edges N). `check()` says what is wrong with it.
    """

    def __init__(
        self,
        *,
        energy: Energy | None = None,
        projection: Projection | None = None,
        stiffness: float,
        elements: str = "tetrahedra",
    ) -> None:
        if (energy is None) == (projection is None):
            found = "neither" if energy is None else "both"
            raise ValueError(f"Potential: found {found}, expected energy or projection")
        if elements not in _dimensions:
            raise ValueError(f'elements: found "{elements}", expected one of {", ".join(_dimensions)}')
        if not (stiffness > 0 and np.isfinite(stiffness)):
            raise ValueError(f"stiffness: found {stiffness}, expected a number > 0")
        self.energy, self.projection = energy, projection
        self.stiffness, self.elements = float(stiffness), elements

    @property
    def dimension(self) -> int:
        """3, 2 or 1: d."""
        return _dimensions[self.elements]

    def psi(self, F: npt.ArrayLike) -> tuple[Array, Array]:
        """Psi and dPsi/dF at F, (n, 3, d), whichever way it was given."""
        F = np.asarray(F, float)
        if self.energy is not None:
            value, slope = self.energy(F)
            return np.asarray(value, float), np.asarray(slope, float)
        assert self.projection is not None
        gap = F - self.projection(F)
        return 0.5 * self.stiffness * (gap**2).sum((1, 2)), self.stiffness * gap

    def check(self, F: npt.ArrayLike | None = None, seed: int = 0) -> list[str]:
        """The contract of potentials, at F (n, 3, d) or at random around no deformation; every fault, in words.

        Shapes; finite; dPsi/dF the slope of Psi; the same however the body is turned, so that no net torque arises (no
        net force arises from any function of F); no energy below that at rest nearby; a projection that is idempotent.
        """
        d = self.dimension
        random = np.random.default_rng(seed)
        rest = np.eye(3)[:, :d]
        F = rest + 0.15 * random.standard_normal((64, 3, d)) if F is None else np.array(F, float)
        n = len(F)
        faults: list[str] = []
        if self.projection is not None:
            nearest = np.asarray(self.projection(F))
            if nearest.shape != F.shape:
                return [f"projection: found an array of shape {nearest.shape}, expected {F.shape}"]
            again = np.asarray(self.projection(nearest))
            if not np.allclose(again, nearest, atol=1e-9):
                moved = np.abs(again - nearest).max()
                faults.append(f"projection: moves its own result by up to {moved:.2g}, expected to leave it")
        else:
            assert self.energy is not None
            found = self.energy(F)
            if not isinstance(found, tuple) or len(found) != 2:
                return [f"energy: found {type(found).__name__}, expected (Psi, dPsi/dF)"]
            for what, array, shape in (("Psi", found[0], (n,)), ("dPsi/dF", found[1], F.shape)):
                if np.shape(array) != shape:
                    faults.append(f"energy: {what}: found an array of shape {np.shape(array)}, expected {shape}")
            if faults:
                return faults
        value, slope = self.psi(F)
        if not (np.isfinite(value).all() and np.isfinite(slope).all()):
            return [*faults, "found values that are not finite"]
        scale = max(float(np.abs(slope).max()), 1e-300)

        step = 1e-6
        way = random.standard_normal(F.shape)
        difference = (self.psi(F + step * way)[0] - self.psi(F - step * way)[0]) / (2 * step)
        error = np.abs(difference - (slope * way).sum((1, 2)))
        # round-off of the difference, and its error of second order
        tolerance = 1e-5 * scale * np.sqrt(3 * d) + 1e-9 * np.abs(value).max() / step
        if (error > tolerance).mean() > 0.05:  # a few may lie across an edge of a set
            faults.append(f"dPsi/dF: differs from the slope of Psi by up to {error.max() / scale:.2g} of its size")

        turn, _ = np.linalg.qr(random.standard_normal((3, 3)))
        turn *= np.sign(np.linalg.det(turn))
        turned = self.psi(turn @ F)
        change = np.abs(turned[0] - value).max() / max(float(np.abs(value).max()), 1e-300)
        if change > 1e-6:
            faults.append(f"Psi: changes by {change:.2g} of itself where the body is turned, expected no change")
        elif np.abs(turned[1] - turn @ slope).max() > 1e-5 * scale:
            faults.append("dPsi/dF: does not turn with the body")

        at_rest, pull = self.psi(rest[None])
        if np.abs(pull).max() > 1e-9 * max(scale, self.stiffness):
            faults.append(f"dPsi/dF: {np.abs(pull).max():.2g} at rest, expected 0: the body would deform by itself")
        near = rest + 1e-3 * random.standard_normal((64, 3, d))
        if (self.psi(near)[0] < at_rest[0] - 1e-9 * self.stiffness).any():
            faults.append("Psi: less nearby than at rest")
        return faults

    def __repr__(self) -> str:
        by = "energy" if self.energy is not None else "projection"
        return f"Potential({by}, stiffness={self.stiffness:g}, elements={self.elements!r})"


Potentials = Mapping[str, Union[Potential, Sequence[Potential]]]


def laws_of(potentials: Potentials | None) -> list[tuple[str, int, float, Energy | None, Projection | None]]:
    """As the compiled part takes them."""
    out = []
    for body, given in (potentials or {}).items():
        for each in [given] if isinstance(given, Potential) else given:
            out.append((body, each.dimension, each.stiffness, each.energy, each.projection))
    return out
