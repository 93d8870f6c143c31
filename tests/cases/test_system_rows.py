"""Every row of docs/systems.md, in a conversation of at least two turns and on a host.

A row that names a turn of a shipped system is played as the second turn of three, of which the others say nothing of
their own: its request says what the readable prompt of that turn says, and the third request nothing of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest

from cases.system_rows import ROOT, WORDS, Asked, Sent, chapters, in_a_loop, lines, on_pydantic_ai, opened, refused
from cuecard import Engine, Turn
from cuecard.cli.turn_file import read_turn
from cuecard.config.turn_file import to_turn
from cuecard.model import Delivery

ROWS = {row.id: row for rows in chapters().values() for row in rows if not row.is_out}
CASES = [(row.id, case) for row in ROWS.values() for case in row.cases]
Play: TypeAlias = Callable[[Engine, Sequence[Asked]], list[Sent]]
OWN = {WORDS, "Done.", "Earlier."}


LAYOUT = {"## Additional Context", "---", "<!-- PIONEER_PROMT_CACHE_BOUNDARY -->"}
"""Lines between sections, which a block with one section does not have."""

UNSAID = "tests/cases/systems/polyant/turns/bare/no-tools.txt"
"""Nobody says which tools there are, but pydantic-ai always does."""


@dataclass(frozen=True)
class Case:
    """A turn of a shipped system, and its readable prompt: what stands in it, and where."""

    folder: Path
    agent: Path
    asked: Asked
    golden: str

    @property
    def error(self) -> str:
        return "" if self.golden.startswith("=== ") else self.golden

    @property
    def said(self) -> list[tuple[str, list[str]]]:
        """The texts of the prompt, by role, without calls of tools and their results."""
        parts = re.split(r"^=== (.*)\n", self.golden, flags=re.MULTILINE)
        said = [(head, lines(text)) for head, text in zip(parts[1::2], parts[2::2], strict=True)]
        kept = [(head, text) for head, text in said if head.split()[0] not in {"manifest", "tool"}]
        return [(head, [line for line in text if not line.startswith("-> ")]) for head, text in kept]

    @property
    def system(self) -> list[str]:
        head, text = self.said[0]
        return text if head == "system (not stored)" else []

    @property
    def asks(self) -> list[Asked]:
        """It, between two turns that say nothing of their own."""
        turn, needed = self.asked.turn, opened(self.agent).inputs
        inputs = {name: value for name, value in turn.inputs.items() if name in needed and needed[name].required}
        plain = Turn(inputs, now=turn.now, tools=turn.tools, gates=turn.gates, environment=turn.environment)
        if not self.error:
            plain = replace(plain, profile=turn.profile, variant=turn.variant)
        plain = replace(plain, host=turn.host, delivery=turn.delivery)
        return [Asked(plain), self.asked, Asked(plain)]

    @property
    def lasts(self) -> bool:
        """Whether it brings what stays with the conversation: things in memory, or tools that were found."""
        return bool(self.asked.results or self.asked.turn.memory.entities or self.asked.turn.discovered)


@cache
def case_of(named: str) -> Case:
    path, systems = (ROOT / named).with_suffix(""), ROOT / "tests/cases/systems"
    system, *rest = path.relative_to(systems).parts
    shipped = ROOT / "prompts" / system
    if rest[0] == "turns":
        file = shipped.joinpath(*rest).with_suffix(".yaml")
        agent = shipped / ("agent.yaml" if len(rest) == 2 else f"{rest[1]}.yaml")
        golden = path.with_suffix(".txt")
    else:
        folder = systems / system / rest[0]
        own, file, golden = folder / "agent.yaml", folder / "turn.yaml", folder / "expected.txt"
        agent = own if own.exists() else shipped / "agent.yaml"
    read = read_turn(file)
    asked = Asked(to_turn(read, read.inputs), read.tool_results())
    return Case(file.parent, agent, asked, golden.read_text(encoding="utf-8"))


def _is_subsequence(wanted: list[str], found: list[str]) -> bool:
    rest = iter(found)
    return all(line in rest for line in wanted)


def _refuses(play: Play, case: Case, delivery: Delivery | None = None) -> None:
    engine, (plain, asked, again) = opened(case.agent, delivery), case.asks
    assert refused(play, engine, [plain, asked]) == case.error
    assert refused(play, engine, [plain, again]) == ""


@pytest.mark.parametrize(("row", "case"), CASES)
def test_row_when_the_system_prompt_is_made_again(row: str, case: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the prompt of that turn is said, and behind it the prompt is as before it."""
    played = case_of(case)
    monkeypatch.chdir(played.folder)
    if played.error:
        return _refuses(in_a_loop, played, "rewrite")
    first, second, third = in_a_loop(opened(played.agent, "rewrite"), played.asks)
    wanted = {line for _, text in played.said for line in text}

    assert sorted({*second.lines} - OWN - LAYOUT) == sorted(wanted - OWN - LAYOUT)
    assert _is_subsequence(played.system, second.lines)
    assert first.system == third.system or played.lasts


@pytest.mark.parametrize(("row", "case"), CASES)
@pytest.mark.parametrize("play", [in_a_loop, on_pydantic_ai])
def test_row_on_a_host(row: str, case: str, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the delivery that the system has: what the turn says is there, and what is of that turn alone goes."""
    if case == UNSAID and play is on_pydantic_ai:
        pytest.skip("pydantic-ai always says which tools there are")
    played = case_of(case)
    monkeypatch.chdir(played.folder)
    if played.error:
        return _refuses(play, played)
    first, second, third = play(opened(played.agent), played.asks)
    heard = [(head, text) for head, text in played.said if play is in_a_loop or head.startswith("appended")]
    wanted = {*played.system, *(line for _, text in heard for line in text)}
    passing, staying = (
        {line for block in second.step.appended if block.stays is stays for line in lines(block.text)}
        for stays in (False, True)
    )

    assert sorted(wanted - {*second.lines} - LAYOUT) == []
    assert sorted((passing - staying - {*lines(second.system), *first.lines}) & {*third.lines}) == []
