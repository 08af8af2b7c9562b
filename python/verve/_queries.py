"""Where something is, what touches, and what happened in a frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SurfacePoint:
    """A point of the surface of a body, or of a collider that a ray hits."""

    body: str | None  #: by its name; None: a collider
    collider: str | None  #: likewise
    vertices: tuple[int, int, int]  #: of a triangle, as the body's mesh counts them; of a rope the second twice
    weights: tuple[float, float, float]  #: of these
    tetrahedron: int  #: of the body's mesh, behind the triangle; -1: a sheet, a rope or a collider
    point: Array  #: [m]
    normal: Array  #: outward of a solid, of a sheet towards where it was asked from
    distance: float  #: from where it was asked [m]


@dataclass(frozen=True, eq=False)
class Contact:
    """All places at which a body touched another, or a collider, in the last frame, as one."""

    body: str  #: by its name
    other: str | None  #: another body; None: a collider
    collider: str | None  #: None: a body
    point: Array  #: mean, weighted by the force [m]
    normal: Array  #: the way `body` is pushed
    force: float  #: along the normals, at the end of the frame [N]; 0: they have parted
    impulse: float  #: in the frame [N s]; in impacts to about a seventh
    friction_loss: float  #: what friction took in the frame [J]


@dataclass(frozen=True)
class Event:
    """Something that happened in the last frame."""

    kind: str  #: "contact_begin", "contact_end", "torn", "asleep" or "awake"
    body: str  #: by its name
    other: str | None  #: of contacts with a body
    collider: str | None  #: of contacts with a collider
    torn: int  #: elements
