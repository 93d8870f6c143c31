"""A tool server with a family: a child that ignores every request to go, and a grandchild in a session of its own.

`python family_server.py FILE` writes the numbers of all three into the file, and ignores signals and the end of input.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
import time
from pathlib import Path


def stay() -> None:
    """Ignore what can be ignored, and stay for ten minutes."""
    time.sleep(600)


def main(file: Path) -> None:
    """Start the family, then serve."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if (child := os.fork()) == 0:
        if (grandchild := os.fork()) == 0:
            os.setsid()
            stay()
        file.with_suffix(".child").write_text(str(grandchild), encoding="utf-8")
        stay()
    while not (told := file.with_suffix(".child")).exists() or not told.read_text(encoding="utf-8"):
        time.sleep(0.01)
    written = file.with_suffix(".new")
    written.write_text(f"{os.getpid()} {child} {told.read_text(encoding='utf-8')}", encoding="utf-8")
    written.rename(file)
    runpy.run_path(str(Path(__file__).with_name("hostile_server.py")), run_name="__main__")
    stay()


if __name__ == "__main__":
    sys.argv, own = sys.argv[:1], sys.argv[1]
    main(Path(own))
