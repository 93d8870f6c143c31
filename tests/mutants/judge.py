"""Asks tests whether they notice a mistake: a process that has frameworks imported forks one for each mistake.

It reads lines of JSON, `{"tests": [...], "seconds": ...}`, from its standard input, and answers each with a line:
`{"noticed": "..."}`, which is empty where all the tests pass.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import pytest

FRAMEWORKS = ("hypothesis", "pydantic", "pydantic_ai", "rich.console", "ruamel.yaml", "tiktoken", "lxml.etree", "mcp")
MEMORY = 6 << 30
"""The bytes that tests may have; a mistake that eats more is noticed."""


class Chosen:
    """Runs the chosen tests in their order, and remembers the first that fails."""

    def __init__(self, tests: Sequence[str]) -> None:
        self._order = {test: place for place, test in enumerate(tests)}
        self.failed = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the others out."""
        items[:] = sorted((item for item in items if self._place(item) >= 0), key=self._place)

    def _place(self, item: pytest.Item) -> int:
        """Where it stands among the chosen, which may be whole functions and files; -1 where it does not."""
        names = (item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])
        return next((self._order[name] for name in names if name in self._order), -1)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See who notices."""
        if report.failed:
            self.failed = self.failed or report.nodeid

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module of tests that cannot be imported notices as well."""
        if report.failed:
            self.failed = self.failed or f"the import of {report.nodeid}"


def run(tests: Sequence[str]) -> str:
    """What notices; nothing where all pass."""
    chosen = Chosen(tests)
    files = [*dict.fromkeys(test.partition("::")[0] for test in tests)]
    # Of plugins that are imported already, as the frameworks bring some.
    quiet = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
    options = [*quiet, "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "--tb=no", "--no-header"]
    code = pytest.main([*options, *files], plugins=[chosen])
    return chosen.failed or ("" if code == pytest.ExitCode.OK else f"pytest, with {code!r}")


def judged(tests: Sequence[str], seconds: float) -> str:
    """What notices, by a process of its own, which is ended when it takes too long."""
    reading, writing = os.pipe()
    pid = os.fork()
    if not pid:
        os.setsid()
        os.close(reading)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        try:
            told = run(tests)
        except BaseException as error:  # noqa: BLE001 - whatever ends pytest itself is noticed
            told = f"the end of its process: {error!r}"
        os.write(writing, told.encode()[:4000] or b"-")
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        ready, _, _ = select.select([answers], [], [], seconds)
        told = answers.read1(4096).decode(errors="replace") if ready else f"the limit of {seconds:.0f} s"
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return "" if told == "-" else told or "the end of its process"


def main() -> None:
    """Answer each line."""
    for name in FRAMEWORKS:
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"noticed": judged(asked["tests"], asked["seconds"])}), flush=True)


if __name__ == "__main__":
    main()
