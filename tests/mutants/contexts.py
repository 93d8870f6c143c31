"""Which tests run a line: a plugin of pytest that writes it down, and the reading of what it wrote."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from coverage import Coverage, CoverageData

TIMES = "CUECARD_MUTANTS_TIMES"
"""The name of the variable with the file in which the seconds of each test that passed are written."""

MOST_FILES, MOST_SECONDS = 12, 20.0
"""What a mistake is asked at most: modules of tests, since each has to be imported, and seconds of their tests."""


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

    seconds: dict[str, float]
    lines: Mapping[str, Mapping[int, Sequence[str]]]
    """By module, as `engine/cuecard/...`."""

    @classmethod
    def read(cls, data: Path, times: Path) -> Contexts:
        """What a run has written."""
        measured = CoverageData(str(data))
        measured.read()
        lines = {
            f"engine{file.rpartition('/engine')[2]}": measured.contexts_by_lineno(file)
            for file in measured.measured_files()
        }
        told = map(json.loads, times.read_text(encoding="utf-8").splitlines())
        return cls(dict(told), lines)

    def of(self, file: str, line: int) -> list[str]:
        """The tests that run a line: those that know it best first, one of a function after the other."""
        hits = [test for test in self.lines.get(file, {}).get(line, ()) if test in self.seconds]
        in_files, functions = defaultdict[str, list[str]](list), set[str]()
        for test in sorted(hits, key=lambda test: (self.seconds[test], test)):
            in_files[test.partition("::")[0]].append(test)
        known = sorted(in_files, key=lambda name: (-len(in_files[name]) / self._sizes[name], name))[:MOST_FILES]
        first, others = list[str](), list[str]()
        for test in (test for name in known for test in in_files[name]):
            (others if (function := test.partition("[")[0]) in functions else first).append(test)
            functions.add(function)
        spent, chosen = 0.0, list[str]()
        for test in (*first, *others):
            spent += self.seconds[test]
            if spent > MOST_SECONDS and chosen:
                break
            chosen.append(test)
        return chosen

    @property
    def _sizes(self) -> dict[str, int]:
        sizes = defaultdict[str, int](int)
        for test in self.seconds:
            sizes[test.partition("::")[0]] += 1
        return sizes
