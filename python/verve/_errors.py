"""What goes wrong, and how it is told."""

from __future__ import annotations

from typing import NamedTuple


class Diagnostic(NamedTuple):
    """One problem: where it is, what was found and what was expected."""

    severity: str
    where: str
    what: str

    def __str__(self) -> str:
        return f"{self.where}: {self.what}"


class SceneError(ValueError):
    """A scene, mesh or file that cannot be used; `diagnostics` has every problem at once."""

    def __init__(self, text: str, items: list[tuple[str, str, str]] | None = None) -> None:
        super().__init__(text.rstrip())
        self.diagnostics = [Diagnostic(*item) for item in items or []]

    def __reduce__(self) -> tuple[type, tuple[str, list[tuple[str, str, str]]]]:
        return type(self), (str(self), [(d.severity, d.where, d.what) for d in self.diagnostics])


class StepError(RuntimeError):
    """A step that failed: numbers that are not finite, a matrix that is not positive definite.

    The state is as before.
    """
