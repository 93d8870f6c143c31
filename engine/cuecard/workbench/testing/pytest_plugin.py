"""The pytest plugin: prompts compared with snapshots (extra `pytest`).

def test_first_message(render_turn, snapshot):
    assert render_turn("turns/first.yaml") == snapshot
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

from cuecard.workbench.testing.goldens import FOLDER, unused

if TYPE_CHECKING:
    from cuecard.engine import Engine
    from cuecard.errors import Problem
    from cuecard.model import Json, Turn
    from cuecard.workbench.testing.pytest_prompt import Prompt, PromptSnapshot, ScenarioRun


RenderTurn: TypeAlias = "Callable[..., Prompt]"

_ENGINES = pytest.StashKey[dict[Path, "Engine"]]()
_USED = "cuecard-snapshot"
_OTHER_SNAPSHOTS = ("syrupy", "pytest-snapshot", "snapshot", "snapshottest", "inline_snapshot")
"""Plugins with their own fixture `snapshot`, by their names in pytest."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options and the setting."""
    group = parser.getgroup("cuecard")
    group.addoption("--cue-update", action="store_true", help="Rewrite prompt snapshots.")
    group.addoption("--cue-prune", action="store_true", help="Delete prompt snapshots that no test uses.")
    parser.addini("cuecard_agent", "The agent file for the tests; defaults to the nearest agent.yaml above a test.")


def pytest_configure(config: pytest.Config) -> None:
    """The markers, and the short name of the snapshot fixture, unless another plugin has it."""
    config.stash[_ENGINES] = {}
    config.addinivalue_line("markers", "cuecard(agent, delivery): the agent of a test, and its delivery.")
    config.addinivalue_line("markers", "cue_scenario(assistant, name): plays a scenario for the fixture `played`.")
    if not any(config.pluginmanager.hasplugin(name) for name in _OTHER_SNAPSHOTS):
        config.pluginmanager.register(_ShortName(), "cuecard-snapshot")


class _ShortName:
    @pytest.fixture
    def snapshot(self, cue_snapshot: PromptSnapshot) -> PromptSnapshot:
        """The snapshot of this test: `assert prompt == snapshot`."""
        return cue_snapshot


@pytest.fixture
def cue_engine(request: pytest.FixtureRequest) -> Engine:
    """The engine of the test's agent, with a clock fixed at noon on 1 January 2026 (UTC)."""
    from cuecard.engine import Engine
    from cuecard.workbench.testing.pytest_prompt import agent_of
    from cuecard.workbench.testing.turns import MOMENT

    path = agent_of(request.node)
    engines = request.config.stash[_ENGINES]
    if path not in engines:
        engines[path] = replace(Engine.open(path), clock=lambda: MOMENT)
    marker = request.node.get_closest_marker("cuecard")
    delivery = marker.kwargs.get("delivery") if marker else None
    return replace(engines[path], delivery=delivery) if delivery else engines[path]


@pytest.fixture
def render_turn(request: pytest.FixtureRequest, cue_engine: Engine) -> RenderTurn:
    """Renders the prompt of a turn: `render_turn("turns/first.yaml", discovered=["cms_createPage"])`."""
    from cuecard.config.turn_file import TurnFile, to_turn
    from cuecard.model import ToolResult, Turn
    from cuecard.model.argument_problems import refuse
    from cuecard.model.boundary import taken
    from cuecard.workbench.played import past_results, placing, read_single, told_results
    from cuecard.workbench.step import unknown_tool
    from cuecard.workbench.testing.pytest_prompt import Prompt, find_file
    from cuecard.workbench.testing.snapshot import result_parts

    def render(
        turn: str | Turn | None = None, *, discovered: Sequence[str] = (), inputs: Mapping[str, Json] | None = None
    ) -> Prompt:
        problems: list[Problem] = []
        taken(str | Turn | None, turn, "turn", problems)
        names = taken(tuple[str, ...], discovered, "discovered", problems) or ()
        problems += (unknown_tool(name, cue_engine, "discovered") for name in names if name not in cue_engine.tools)
        refuse(problems)
        document = None
        if isinstance(turn, str) or turn is None:
            document, file = read_single(find_file(request.node, turn)) if turn else (None, TurnFile())
            turn = to_turn(file, {**file.inputs, **(inputs or {})})
        else:
            file, turn = TurnFile(), replace(turn, inputs={**turn.inputs, **(inputs or {})})
        found = [ToolResult(cue_engine.search_tool, {"tools": [*names]}, "search-1")] if names else []
        with placing(document, elsewhere=inputs or ()):
            call = cue_engine.prepare_call(turn)
        results = past_results(cue_engine, file, call).results
        return Prompt(
            cue_engine.prepare_step(call, [*results, *found]),
            result_parts(told_results(cue_engine, results), cue_engine.count),
        )

    return render


@pytest.fixture
def cue_snapshot(request: pytest.FixtureRequest) -> Iterator[PromptSnapshot]:
    """The snapshots of this test, in `snapshots/` next to it: `assert prompt == cue_snapshot`."""
    from cuecard.workbench.testing.goldens import FOLDER
    from cuecard.workbench.testing.pytest_prompt import PromptSnapshot

    node: pytest.Item = request.node
    folder = node.path.parent / FOLDER / node.path.stem
    found = PromptSnapshot(folder, _file_name(node), update=request.config.getoption("--cue-update"))
    yield found
    # Reports carry these from xdist's workers to the process that looks for unused snapshots.
    node.user_properties.extend((_USED, str(path)) for path in found.used)


@pytest.fixture
def played(request: pytest.FixtureRequest, tmp_path: Path) -> ScenarioRun:
    """The scenario that `@pytest.mark.cue_scenario(assistant, name)` names, played by its script."""
    from cuecard.workbench.testing.pytest_prompt import play_scenario

    return play_scenario(request.node, tmp_path)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """The differences between a prompt and its snapshot."""
    for each in (left, right):
        if op == "==" and type(each).__name__ == "PromptSnapshot" and hasattr(each, "explained"):
            lines: list[str] = each.explained()
            return lines
    return None


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Report snapshots that no test uses, and delete them on request."""
    if hasattr(config, "workerinput"):  # a worker of xdist knows only some of the tests
        return

    used = {value for reports in terminalreporter.stats.values() for value in _used(reports)}
    found = find_unused(terminalreporter.stats, config, {Path(path) for path in used}) if used else []
    if not found:
        return
    terminalreporter.section("cuecard")
    prune = config.getoption("--cue-prune")
    for path in found:
        told = path.relative_to(config.rootpath) if path.is_relative_to(config.rootpath) else path
        terminalreporter.line(f"{'removed' if prune else 'unused snapshot'}: {told}")
        if prune:
            path.unlink()
    if not prune:
        terminalreporter.line("delete them: pytest --cue-prune")


def _used(reports: Sequence[Any]) -> Iterator[str]:
    for report in reports:
        yield from (value for name, value in getattr(report, "user_properties", ()) if name == _USED)


def _file_name(node: pytest.Item) -> str:
    """The test's name as a file name; names that would be equal get a unique suffix."""
    inside = node.nodeid.split("::", 1)[-1].replace("::", ".")
    name = re.sub(r"[^\w.-]+", "_", inside, flags=re.ASCII).strip("_")
    plain = inside.replace("[", "_").replace("]", "")
    mark = "" if name == plain and len(name) <= 100 else f"-{sha256(inside.encode()).hexdigest()[:8]}"
    return f"{name[:100]}{mark}"


_PARTIAL = ("failed", "error", "skipped", "xfailed", "deselected")
"""Tests with one of these outcomes may not have reached all of their snapshots."""


def find_unused(stats: Mapping[str, Sequence[Any]], config: pytest.Config, used: set[Path]) -> list[Path]:
    """The unused snapshots of files whose tests have all passed.

    Args:
        stats: the reports of the terminal, by outcome.
        config: the configuration of the run; if it selected only some tests of a file, that file is skipped.
        used: the snapshots that were used.
    """
    if config.getoption("keyword") or config.getoption("lf", default=False):
        return []
    chosen = {_file(config, arg) for arg in config.args if "::" in arg}
    partial = {_file(config, each.nodeid) for name in _PARTIAL for each in stats.get(name, ())}
    passed = {_file(config, each.nodeid) for each in stats.get("passed", ())}
    return [
        path for test in sorted(passed - partial - chosen) for path in unused(test.parent / FOLDER / test.stem, used)
    ]


def _file(config: pytest.Config, nodeid: str) -> Path:
    return config.rootpath / nodeid.partition("::")[0]
