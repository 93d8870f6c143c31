"""Where links may lead, and questions about paths.

The roots are the agent's own folder, the folders that its YAML names, and those it lists as `roots`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from cuecard.errors import Problem, SpecError, visible
from cuecard.records import dataclass


def is_there(path: Path) -> bool:
    """Whether anything exists; links are followed."""
    return os.path.exists(path)  # noqa: PTH110 - `Path.exists` raises for such names


def is_folder(path: Path) -> bool:
    """Whether it is a folder."""
    return os.path.isdir(path)  # noqa: PTH112 - the same


def is_file(path: Path) -> bool:
    """Whether it is a regular file; links are followed."""
    return os.path.isfile(path)  # noqa: PTH113 - the same


def shown(path: Path) -> str:
    """The path as people would type it: relative to the current folder if it is below, otherwise as given."""
    full = Path(os.path.normpath(path.absolute()))
    here = Path.cwd()
    return full.relative_to(here).as_posix() if full.is_relative_to(here) else full.as_posix()


LINK_RULE = (
    "a link may only point into the agent's folder, the folders that its YAML names, and those listed as `roots`\n"
    "copy its target, or add the target's folder to `roots`"
)


@dataclass(frozen=True, slots=True)
class RealPlace:
    """A place with all links resolved: a real folder, and the names below it.

    Attributes:
        root: the folder.
        parts: the names below it.
        is_linked: whether the requested path went through a link.
    """

    root: str
    parts: tuple[str, ...] = ()
    is_linked: bool = False

    @property
    def path(self) -> Path:
        """The place as one path."""
        return Path(self.root, *self.parts)

    def below(self, name: str) -> RealPlace:
        """The place with this name below it."""
        return RealPlace(self.root, (*self.parts, name), self.is_linked)


@dataclass(frozen=True, slots=True)
class Roots:
    """The folders that links may lead into; `home` is the folder that relative paths start from. All are resolved."""

    home: str
    folders: tuple[str, ...]

    @classmethod
    def of(cls, home: Path, named: Iterable[str] = (), listed: Iterable[str] = ()) -> Roots:
        """The roots of an agent.

        Args:
            home: its folder.
            named: what its YAML names; a folder counts if it is not reached through a link.
            listed: folders that it lists as roots; since they are listed, links to them are followed.
        """
        real = _real(home)
        plain = [path for path in (_lexical(real, place) for place in named) if _real(path) == path]
        folders = [path for path in plain if is_folder(Path(path))]
        further = [_real(_lexical(real, each)) for each in listed]
        return cls(real, tuple(dict.fromkeys((real, *folders, *further))))

    @classmethod
    def anywhere(cls, home: Path) -> Roots:
        """All folders, for files that were read by the rule before and are only compared."""
        return cls(_real(home), (Path(_real(home)).anchor,))

    def find(self, place: str) -> RealPlace:
        """Where a path finally leads.

        Raises:
            SpecError: when a link on the way leads out of the roots; the error names the link and its target.
        """
        path = _lexical(self.home, place)
        real = _real(path)
        if real == path:
            return self.inside(real) or RealPlace(os.fspath(Path(real).parent), (Path(real).name,))
        found = self.inside(real)
        if found is None:
            raise SpecError(link_outside(_first_link(path), real))
        return RealPlace(found.root, found.parts, is_linked=True)

    def inside(self, real: str) -> RealPlace | None:
        """A resolved path as a place below one of the roots; None if it is below none."""
        return next((place for root in self.folders if (place := _below(root, real))), None)


def link_outside(link: str, target: str) -> Problem:
    """The error for a link that leads out of the roots."""
    message = f"a link that points outside of the roots, to {visible(target)}"
    return Problem("link-outside", message, LINK_RULE, shown(Path(link)))


def parts_below(root: str, path: str) -> tuple[str, ...] | None:
    """The names that lead from one resolved path to another below it; None if it is not below it."""
    return Path(path).relative_to(root).parts if Path(path).is_relative_to(root) else None


def _below(root: str, real: str) -> RealPlace | None:
    parts = parts_below(root, real)
    return None if parts is None else RealPlace(root, parts)


def _lexical(home: str, place: str) -> str:
    """The path without following links in the part that was named; folders above an absolute path are resolved."""
    path = os.path.normpath(Path(home, place))
    if not Path(place).is_absolute():
        return path
    return os.fspath(Path(_real(Path(path).parent), Path(path).name))


def _real(path: str | Path) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):  # an impossible name
        return os.fspath(path)


def _first_link(path: str) -> str:
    on_the_way = (*reversed(Path(path).parents), Path(path))
    return next((os.fspath(each) for each in on_the_way if each.is_symlink()), path)
