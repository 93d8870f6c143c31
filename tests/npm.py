"""Locked packages of npm, for the tests that need Node."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

_MARK = ".locked"
_FILES = ("package.json", "package-lock.json", ".npmrc")


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not an error
    """Node, npm or a package is not to be had here."""


def install(folder: Path, seconds: float = 120) -> None:
    """The locked packages of `folder` in its `node_modules`: installed once, and again when the lock has changed.

    Raises:
        Unavailable: without Node or npm, or when the packages cannot be installed.
    """
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    if _installed(folder):
        return
    with tempfile.TemporaryDirectory(dir=folder, prefix=".install-") as made:
        for name in _FILES:
            shutil.copy(folder / name, made)
        command = ["npm", "ci", "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=made, capture_output=True, text=True, timeout=seconds, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable(f"npm ci took more than {seconds:g} seconds") from None
        if done.returncode:
            raise Unavailable(f"npm ci failed: {done.stderr.strip()[-200:]}")
        shutil.copy(folder / "package-lock.json", Path(made) / "node_modules" / _MARK)
        _put_in_place(folder, Path(made) / "node_modules")


def _installed(folder: Path) -> bool:
    found = folder / "node_modules" / _MARK
    return found.exists() and found.read_bytes() == (folder / "package-lock.json").read_bytes()


def _put_in_place(folder: Path, modules: Path) -> None:
    """Another test process may do the same at the same time: the first one wins."""
    target = folder / "node_modules"
    if target.exists() and not _installed(folder):
        target.rename(modules.parent / "old")
    try:
        modules.rename(target)
    except OSError:
        if not _installed(folder):
            raise
