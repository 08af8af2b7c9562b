"""Scenes as plain data: the keys of scene files, by attribute or by item."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator, Mapping, MutableMapping, MutableSequence
from pathlib import Path
from typing import Any

from . import _core


def _plain(value: Any) -> Any:
    """What JSON can write: arrays as lists, meshes as `data`."""
    if isinstance(value, (Node, NodeList)):
        return _plain(value._data)
    if isinstance(value, _core.Mesh):
        return {"data": {key: getattr(value, key).tolist() for key in ("vertices", "tetrahedra", "triangles", "edges")}}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # arrays and numbers of NumPy
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return value


def _wrap(value: Any) -> Any:
    if isinstance(value, dict):
        return Node(value)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return NodeList(value)
    return value


class Node(MutableMapping[str, Any]):
    """An object of a scene: `node.key` and `node["key"]` are the same."""

    _data: dict[str, Any]

    def __init__(self, data: dict[str, Any]) -> None:
        object.__setattr__(self, "_data", data)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__"):
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f'no key "{key}" here; there are: {", ".join(self._data)}') from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value

    def __delattr__(self, key: str) -> None:
        del self[key]

    def __getitem__(self, key: str) -> Any:
        value = self._data[key]
        if isinstance(value, list) and not value and key in _lists_of_objects:
            return NodeList(value)
        return _wrap(value)

    def __setitem__(self, key: str, value: Any) -> None:
        self._data[key] = _plain(value)

    def __delitem__(self, key: str) -> None:
        del self._data[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({json.dumps(self._data, indent=2)})"


# lists that hold objects also while they are empty
_lists_of_objects = {"bodies", "anchors", "forces", "pushes", "winds", "colliders", "potentials", "pairs"}


class NodeList(MutableSequence[Node]):
    """A list of objects of a scene, by number or by name."""

    def __init__(self, data: list[Any]) -> None:
        self._data = data

    def _place(self, which: int | str) -> int:
        if isinstance(which, int):
            return which
        for place, item in enumerate(self._data):
            if item.get("name") == which or item.get("type") == which:
                return place
        names = ", ".join(str(item.get("name") or item.get("type")) for item in self._data)
        raise KeyError(f'found "{which}", expected one of {names}')

    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, slice):
            return NodeList(self._data[which])
        return _wrap(self._data[self._place(which)])

    def __setitem__(self, which: Any, value: Any) -> None:
        self._data[self._place(which)] = _plain(value)

    def __delitem__(self, which: Any) -> None:
        del self._data[self._place(which)]

    def __len__(self) -> int:
        return len(self._data)

    def insert(self, index: int, value: Any) -> None:
        self._data.insert(index, _plain(value))

    def __repr__(self) -> str:
        return f"NodeList({json.dumps(self._data, indent=2)})"


class Scene(Node):
    """What is to be simulated. From a built-in name, a scene file, a dict of the same keys, or empty.

    >>> scene = verve.Scene("cube")
    >>> scene.solver.tolerance = 1e-4
    >>> scene.bodies["cube"].initial.angular_velocity = [0, 3, 0]
    """

    def __init__(self, source: str | os.PathLike[str] | Mapping[str, Any] | None = None) -> None:
        object.__setattr__(self, "_origin", "scene")
        if source is None:
            data = json.loads(_core.empty_scene())
        elif isinstance(source, Scene):
            data = copy.deepcopy(source._data)
            object.__setattr__(self, "_origin", source._origin)
        elif isinstance(source, Mapping):
            data = {"version": 1, **_plain(source)}
        else:
            data = json.loads(_core.read_scene(os.fspath(source)))
            if Path(source).suffix:
                object.__setattr__(self, "_origin", os.fspath(source))
        super().__init__(data)

    def set(self, path: str, value: Any) -> Scene:
        """As `--set path=value` of the program: "solver.tolerance", "bodies[0].density", "bodies.cube.density"."""
        text = _core.resolve_scene(self.to_json(), self._origin, [(path, json.dumps(_plain(value)))])
        object.__setattr__(self, "_data", json.loads(text))
        return self

    def resolve(self) -> Scene:
        """Checked, with every key written out: reading it back gives the same run."""
        out = Scene(self)
        object.__setattr__(out, "_data", json.loads(_core.resolve_scene(self.to_json(), self._origin, [])))
        return out

    def add_body(self, name: str, mesh: Any, **keys: Any) -> Node:
        """Appends a body: `mesh` is a Mesh, a file or the name of a generator; further keys as in scene files."""
        if isinstance(mesh, str) and mesh in _core.generators():
            mesh = {"generator": mesh}
        elif isinstance(mesh, (str, os.PathLike)):
            mesh = {"file": os.path.abspath(os.fspath(mesh))}
        self._data.setdefault("bodies", []).append(_plain({"name": name, "mesh": mesh, **keys}))
        return Node(self._data["bodies"][-1])

    def to_json(self, indent: int | None = None) -> str:
        """The text of a scene file."""
        return json.dumps(self._data, indent=indent)

    def write(self, file: str | os.PathLike[str]) -> None:
        """As a scene file, checked, with every key."""
        Path(file).write_text(self.resolve().to_json(indent=2) + "\n")

    def __reduce__(self) -> Any:
        return Scene, (copy.deepcopy(self._data),)
