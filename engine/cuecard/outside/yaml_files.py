"""Which files are YAML: both common extensions count everywhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cuecard.outside.paths import is_folder, is_there

ENDINGS = ("*.yaml", "*.yml")
AGENT_FILES = ("agent.yaml", "agent.yml")
"""The patterns of names of YAML files."""


def in_folder(path: Path, name: str) -> Path:
    """The file that a folder stands for: its `name.yaml`, or `name.yml` if only that exists."""
    if not is_folder(path):
        return path
    plain, short = path / f"{name}.yaml", path / f"{name}.yml"
    return short if is_there(short) and not is_there(plain) else plain


def yaml_files(folder: Path) -> Iterator[Path]:
    """The YAML files of a folder, by name."""
    yield from sorted(path for ending in ENDINGS for path in folder.glob(ending))
