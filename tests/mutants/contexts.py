"""Which tests run a line: a plugin of pytest that writes it down, and the reading of what it wrote."""

from __future__ import annotations

import json
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import accumulate, chain
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

TIMES = "CUECARD_MUTANTS_TIMES"
"""The name of the variable with the file in which the seconds of each test that passed are written."""

MOST_FILES, MOST_SECONDS = 8, 10.0
"""What a mistake is asked at most: modules of tests, since each has to be imported, and seconds of their tests."""

FURTHER = 2
"""How many times as long those are asked that are further away, where none that is near has noticed."""

DRAWN = "tests/property/"
"""Those that draw their inputs: half of the time is theirs, since each of them takes long and looks at much."""

DECLARED = (
    "tests/unit/test_schemas.py::test_the_schemas_are_up_to_date",
    "tests/unit/server/test_openapi.py::test_the_copy_is_up_to_date",
)
"""Those that write out what classes declare: they run no line of it, as it was run by an import."""


def function_of(test: str) -> str:
    """The function of a test, without its parameters."""
    return test.partition("[")[0]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Write each line down under the test that runs it, with what is made for it."""
    if measuring := Coverage.current():
        measuring.switch_context(item.nodeid)
    result = yield
    if measuring:
        measuring.switch_context("")
    return result


class Passed:
    """The seconds of each test that passes."""

    def __init__(self, file: Path) -> None:
        self._file, self._seconds = file, dict[str, float]()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Add up what its parts take."""
        if report.passed:
            self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0) + report.duration
            if report.when == "teardown":
                with self._file.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps([report.nodeid, round(self._seconds.pop(report.nodeid), 4)]) + "\n")
        else:
            self._seconds.pop(report.nodeid, None)


def pytest_configure(config: pytest.Config) -> None:
    """Count in the process that hears of all tests."""
    if "PYTEST_XDIST_WORKER" not in os.environ and TIMES in os.environ:
        config.pluginmanager.register(Passed(Path(os.environ[TIMES])))


@dataclass(frozen=True)
class Contexts:
    """Which tests run each line, and what each of them takes."""

    seconds: Mapping[str, float]
    lines: Callable[[str], Mapping[int, Sequence[str]]]
    """Of a module, as `engine/cuecard/...`."""

    @classmethod
    def read(cls, data: Path, times: Path) -> Contexts:
        """What a run has written."""
        measured = CoverageData(str(data))
        measured.read()
        files = {f"engine/{file.rpartition('/engine/')[2]}": file for file in measured.measured_files()}
        told = map(json.loads, times.read_text(encoding="utf-8").splitlines())
        return cls(dict(told), cache(lambda file: measured.contexts_by_lineno(files[file]) if file in files else {}))

    def of(self, file: str, line: int) -> tuple[list[str], list[str]]:
        """The tests that run a line: those that are asked first, and those that are asked if none of these notices.

        A line that only an import runs, as that of a default, is asked of the tests that write out what classes
        declare, and of those that run anything of its module: which of them imported it first is chance.
        """
        lines = self.lines(file)
        imported = set(lines.get(min(lines, default=0), ()))
        runs = set(lines.get(line, ())) & self.seconds.keys()
        declared: list[str] = []
        if runs <= imported:
            runs = {*chain(*lines.values())} & self.seconds.keys()
            declared = [test for test in DECLARED if test in self.seconds]
        in_files = defaultdict[str, list[str]](list)
        for test in runs:
            in_files[test.partition("::")[0]].append(test)
        known = sorted(in_files, key=lambda name: (self._distance(name, in_files[name]), name))
        near = self._quickest((test for name in known[:MOST_FILES] for test in in_files[name]), MOST_SECONDS)
        rest, most = runs.difference(near), MOST_SECONDS * FURTHER / 2
        inputs = {test for test in rest if test.startswith(DRAWN)}
        return [*declared, *near], [*self._quickest(inputs, most), *self._quickest(rest - inputs, most)]

    def _quickest(self, tests: Iterable[str], most: float) -> list[str]:
        """As many as take so many seconds, one of each function before the second of any."""
        first, others, functions = list[str](), list[str](), set[str]()
        for test in sorted(tests, key=lambda test: (self.seconds[test], test)):
            (others if (function := function_of(test)) in functions else first).append(test)
            functions.add(function)
        ordered = [*first, *others]
        spent = accumulate(self.seconds[test] for test in ordered)
        return [test for test, until in zip(ordered, spent, strict=True) if until <= most] or ordered[:1]

    def _distance(self, name: str, hits: Sequence[str]) -> float:
        """How far a module of tests is from a line that so many of its tests run."""
        return sum(self.seconds[test] for test in hits) / len(hits) * self._sizes[name] / len(hits)

    @cached_property
    def _sizes(self) -> Counter[str]:
        return Counter(test.partition("::")[0] for test in self.seconds)
