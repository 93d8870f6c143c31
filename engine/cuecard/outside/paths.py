"""Questions about paths that never fail: an impossible name, such as one that is too long, does not exist."""

from __future__ import annotations

import os
from pathlib import Path


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
