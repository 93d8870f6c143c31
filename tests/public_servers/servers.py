"""Public MCP servers from npm, locked beside this file; installed once, and again when the lock has changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
_PACKAGES = HERE / "node_modules" / "@modelcontextprotocol"


class Unavailable(Exception):  # noqa: N818 - a reason to skip, not an error
    """Node, npm or the packages are not to be had here."""


def install() -> None:
    """Install the locked packages; scripts of packages are not run.

    Raises:
        Unavailable: without Node or npm, or when they cannot be installed.
    """
    for program in ("node", "npm"):
        if not shutil.which(program):
            raise Unavailable(f"{program} is not installed")
    if _installed():
        return
    with tempfile.TemporaryDirectory(dir=HERE, prefix=".install-") as folder:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(HERE / name, folder)
        command = ["npm", "ci", "--ignore-scripts", "--loglevel=error"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=180, check=False)
        except subprocess.TimeoutExpired:
            raise Unavailable("npm ci took more than three minutes") from None
        if done.returncode:
            raise Unavailable(f"npm ci failed: {done.stderr.strip()[-200:]}")
        _put_in_place(Path(folder) / "node_modules")


def script(package: str, path: str) -> str:
    """The program of a package, for `node`."""
    return str(_PACKAGES / package / path)


def _installed() -> bool:
    wanted = json.loads((HERE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    for name, version in wanted.items():
        found = HERE / "node_modules" / name / "package.json"
        if not found.exists() or json.loads(found.read_text(encoding="utf-8"))["version"] != version:
            return False
    return True


def _put_in_place(modules: Path) -> None:
    """Another test process may do the same at the same time: the first one wins."""
    target = HERE / "node_modules"
    if target.exists() and not _installed():
        target.rename(modules.parent / "old")
    try:
        modules.rename(target)
    except OSError:
        if not _installed():
            raise
