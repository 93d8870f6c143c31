"""Which files are YAML: both endings that people use count, everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

ENDINGS = ("*.yaml", "*.yml")
"""What the names of YAML files look like."""


def in_folder(path: Path, name: str) -> Path:
    """The file that a folder stands for: `name.yaml` in it, or `name.yml` where only that is there."""
    if not path.is_dir():
        return path
    plain, short = path / f"{name}.yaml", path / f"{name}.yml"
    return short if short.is_file() and not plain.exists() else plain


def yaml_files(folder: Path) -> Iterator[Path]:
    """The YAML files of a folder, by name."""
    yield from sorted(path for ending in ENDINGS for path in folder.glob(ending))
