"""Looks for known vulnerabilities in every lock: `python .ci/audit.py` with pip-audit installed.

Where its database cannot be reached, a lock is skipped by name: a machine without a network knows nothing of it.
"""

# ruff: noqa: INP001, T201 - a script, which prints what it finds

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

UNREACHED = ("ConnectionError", "ServiceError", "Timeout", "Could not connect", "NameResolutionError")
AUDIT = ["-m", "pip_audit", "--disable-pip", "--require-hashes", "--progress-spinner", "off", "--format", "json"]


def audited(lock: Path) -> list[dict[str, Any]] | None:
    """What pip-audit says of each package of a lock; None where it cannot reach its database.

    Raises:
        RuntimeError: when it fails for another reason.
    """
    done = subprocess.run([sys.executable, *AUDIT, "-r", str(lock)], capture_output=True, text=True, check=False)
    try:
        packages: list[dict[str, Any]] = json.loads(done.stdout)["dependencies"]
    except (ValueError, LookupError):
        if any(word in done.stderr for word in UNREACHED):
            return None
        raise RuntimeError(f"pip-audit failed on {lock.name}:\n{done.stderr}") from None
    # A mirror without the database answers as if it knew none of them.
    return None if packages and all("skip_reason" in each for each in packages) else packages


def main(folder: Path) -> int:
    """Audit every lock of a folder; 1 if there is a vulnerability, or a package that was not looked at."""
    found = False
    for lock in sorted(folder.glob("*.lock")):
        packages = audited(lock)
        if packages is None:
            print(f"skipped: {lock.name}: the database of pip-audit cannot be reached")
            continue
        print(f"audited: {lock.name}: {len(packages)} packages")
        for each in packages:
            told = [each["skip_reason"]] if "skip_reason" in each else []
            told += [f"{flaw['id']}, fixed in {', '.join(flaw['fix_versions'])}" for flaw in each.get("vulns", [])]
            found |= bool(told)
            for line in told:
                print(f"  {each['name']} {each.get('version', '')}: {line}")
    return int(found)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parents[1] / "requirements"))
