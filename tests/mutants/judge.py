"""Asks tests whether they notice a mistake, in a process forked for each of them.

With tests as arguments, it collects these once and reads lines of JSON from its standard input,
`{"tests": [...], "seconds": ..., "file": "...", "text": "..."}`: a fork gives the functions of the module the code of
the text, which takes milliseconds. Each line is answered with one: `{"noticed": [...]}`, which is empty where all the
tests pass, and null where nothing but an import could make the mistake, that of a default, say. It ends with the first
that notices, or when `"functions": 2` of them have.

Without arguments, it has nothing but frameworks imported and reads `{"tests": [...], "seconds": ...}`: a fork imports
what stands in the files. Where more functions than one are wanted, it asks all.
"""

from __future__ import annotations

import gc
import inspect
import json
import os
import resource
import select
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from pathlib import Path
from types import CodeType, FunctionType
from typing import TextIO

import pytest

FRAMEWORKS = ("hypothesis", "pydantic", "pydantic_ai", "rich.console", "ruamel.yaml", "tiktoken", "lxml.etree", "mcp")
MEMORY = 6 << 30
"""The bytes that tests may have; a mistake that eats more is noticed."""

ENDED = '["the end of its process"]'
"""What a process says that is ended before it says anything."""

# Of plugins that are imported already, as the frameworks bring some.
OPTIONS = (*("-W", "ignore::pytest.PytestAssertRewriteWarning"), "-p", "no:cacheprovider", "-q", "-n", "0", "--tb=no")


class Noticed:
    """Remembers the tests that fail."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See who notices."""
        if report.failed and report.nodeid not in self.failed:
            self.failed.append(report.nodeid)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module of tests that cannot be imported notices as well."""
        if report.failed:
            self.failed.append(f"the import of {report.nodeid}")


class Chosen(Noticed):
    """Runs the chosen tests in their order."""

    def __init__(self, tests: Sequence[str]) -> None:
        super().__init__()
        self._tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Leave the others out."""
        items[:] = chosen(items, self._tests)


def chosen(items: Iterable[pytest.Item], tests: Sequence[str]) -> list[pytest.Item]:
    """Those of these names, which may be whole functions and files, in the order of the names."""
    order = {test: place for place, test in enumerate(tests)}

    def place(item: pytest.Item) -> int:
        names = (item.nodeid, item.nodeid.partition("[")[0], item.nodeid.partition("::")[0])
        return next((order[name] for name in names if name in order), -1)

    return sorted((item for item in items if place(item) >= 0), key=place)


def run(tests: Sequence[str], functions: int) -> list[str]:
    """What notices what stands in the files; nothing where all pass."""
    asked = Chosen(tests)
    files = [*dict.fromkeys(test.partition("::")[0] for test in tests)]
    code = pytest.main([*OPTIONS, *(("-x",) if functions == 1 else ()), "--no-header", *files], plugins=[asked])
    return asked.failed or ([] if code == pytest.ExitCode.OK else [f"pytest, with {code!r}"])


def codes(code: CodeType) -> Iterator[CodeType]:
    """A code and all within it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from codes(each)


def own(code: CodeType) -> tuple[object, ...]:
    """What a code does, without those within it."""
    constants = [(type(each), each) for each in code.co_consts if not isinstance(each, CodeType)]
    return code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, repr(constants)


def exchanged(path: str, before: str, after: str) -> dict[tuple[str, int], CodeType] | None:
    """The new codes of the functions of a module, by name and line; None where something else is changed as well."""
    old, new = ([*codes(compile(text, path, "exec", dont_inherit=True))] for text in (before, after))
    if [each.co_qualname for each in old] != [each.co_qualname for each in new]:
        return None
    pairs = [*zip(old, new, strict=True)]
    changed = [one for one, other in pairs if own(one) != own(other)]
    if not all(one.co_flags & inspect.CO_OPTIMIZED for one in changed):  # a class or the module itself
        return None
    if any(one.co_freevars != other.co_freevars for one, other in pairs):
        return None
    return {(one.co_qualname, one.co_firstlineno): other for one, other in pairs if one != other}


class Collected(Noticed):
    """Answers each line once the tests are collected, instead of running them."""

    def __init__(self, lines: TextIO, answers: TextIO) -> None:
        super().__init__()
        self._lines, self._answers = lines, answers

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Answer each line."""
        gc.unfreeze()  # what tests/conftest.py hides from the collector is hidden from this search as well
        functions = defaultdict[str, list[FunctionType]](list)
        for each in gc.get_objects():
            if isinstance(each, FunctionType):
                functions[each.__code__.co_filename].append(each)
        gc.freeze()  # what is here already is never copied by a fork that looks for garbage
        for line in self._lines:
            asked = json.loads(line)
            made = self._made(functions, asked)
            items = chosen(session.items, asked["tests"])
            told = (
                None
                if made is None
                else judged(partial(self._run, made, items, asked.get("functions", 1)), asked["seconds"])
            )
            print(json.dumps({"noticed": told}), file=self._answers, flush=True)
        return True

    @staticmethod
    def _made(functions: Mapping[str, Sequence[FunctionType]], asked: Mapping[str, str]) -> Callable[[], None] | None:
        """What makes the mistake in a fork; None where it cannot be made there."""
        if not asked.get("file"):
            return lambda: None
        path = Path(asked["file"]).resolve()
        new = exchanged(str(path), path.read_text(encoding="utf-8"), asked["text"])
        if new is None:
            return None
        known = [(each, (each.__code__.co_qualname, each.__code__.co_firstlineno)) for each in functions[str(path)]]
        there = [(each, new[place]) for each, place in known if place in new]

        def made() -> None:
            for function, code in there:
                function.__code__ = code

        return made if there else None

    def _run(self, made: Callable[[], None], items: Sequence[pytest.Item], functions: int) -> list[str]:
        made()
        for item, following in zip(items, [*items[1:], None], strict=True):
            item.ihook.pytest_runtest_protocol(item=item, nextitem=following)
            if len({each.partition("[")[0] for each in self.failed}) >= functions:
                break
        return self.failed


def judged(ask: Callable[[], list[str]], seconds: float) -> list[str]:
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
            told = ask()
        except BaseException as error:  # noqa: BLE001 - whatever ends pytest itself is noticed
            told = [f"the end of its process: {error!r}"]
        with os.fdopen(writing, "w") as answer:
            print(json.dumps(told), file=answer)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answers:
        ready, _, _ = select.select([answers], [], [], seconds)
        told = json.loads(answers.readline() or ENDED) if ready else [f"the limit of {seconds:.0f} s"]
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return told


def main() -> None:
    """Answer each line."""
    if tests := sys.argv[1:]:
        lines, answers = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        pytest.main([*OPTIONS, *tests], plugins=[Collected(lines, answers)])
        return
    for name in FRAMEWORKS:
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        asked = json.loads(line)
        print(
            json.dumps({"noticed": judged(partial(run, asked["tests"], asked.get("functions", 1)), asked["seconds"])}),
            flush=True,
        )


if __name__ == "__main__":
    main()
