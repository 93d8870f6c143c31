"""Runs programs one after another in one process, each as `python PATH` does, and prints as JSON what each has said.

Most of the time of a program is the import of its framework, which several have in common.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path


def told(paths: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """By path, what a program has printed, and why it did not end well; empty where it did."""
    for path in paths:
        shown, wrong = StringIO(), ""
        sys.argv, sys.path[0] = [path], str(Path(path).parent)
        try:
            with redirect_stdout(shown):
                runpy.run_path(path, run_name="__main__")
        except SystemExit as ended:
            wrong = str(ended.code or "")
        except BaseException:  # noqa: BLE001 - whatever ends it, the others run
            wrong = traceback.format_exc()
        yield path, {"shown": shown.getvalue(), "wrong": wrong}


if __name__ == "__main__":
    print(json.dumps(dict(told(sys.argv[1:]))))
