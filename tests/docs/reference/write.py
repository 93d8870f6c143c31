"""Writes what docs/api says of each public name between its marks: `make api`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from docs.reference.rendering import rendered

FOLDER = Path(__file__).parents[3] / "docs" / "api"
MARK = re.compile(r"^<!-- made: (cuecard[\w.]+) -->\n.*?^<!-- end -->$", re.MULTILINE | re.DOTALL)


def current(page: str) -> str:
    """The page with what is between its marks as the sources have it now."""
    return MARK.sub(lambda mark: f"<!-- made: {mark[1]} -->\n\n{rendered(mark[1])}\n\n<!-- end -->", page)


def main() -> None:
    """Write every page anew."""
    for path in sorted(FOLDER.glob("*.md")):
        path.write_text(current(path.read_text(encoding="utf-8")), encoding="utf-8")
    sys.stdout.write(f"wrote {FOLDER}\n")


if __name__ == "__main__":
    main()
