"""Every case of a row of tests/cases/systems/README.md, in a conversation of at least two turns and on a host.

A case is a turn of a shipped system, and is played as the second turn of three, of which the others say nothing of
their own: its request says what the readable prompt of that turn says, and the third request nothing of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest

from cases.system_rows import (
    ROOT,
    WORDS,
    Asked,
    Play,
    chapters,
    in_a_loop,
    lines,
    on_pydantic_ai,
    opened,
    records,
    refused,
    rows_proved_by,
)
from cuecard import Turn
from cuecard.config.turn_file import to_turn
from cuecard.types import Delivery
from cuecard.workbench.played import past_results, read_turn

CASES = sorted({case for rows in chapters().values() for row in rows if not row.is_out for case in row.cases})
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
    def records(self) -> list[str]:
        """What the manifest says was left out, or is wrong."""
        manifest = self.golden.partition("=== manifest\n")[2].splitlines()
        return [line for line in manifest if line.startswith(("left out", "diagnostic"))]

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
    asked = Asked(to_turn(read, read.inputs), past_results(opened(agent), read, None).results)
    return Case(file.parent, agent, asked, golden.read_text(encoding="utf-8"))


def _is_subsequence(wanted: list[str], found: list[str]) -> bool:
    rest = iter(found)
    return all(line in rest for line in wanted)


def _ids(name: str) -> str:
    return f"{'+'.join(rows_proved_by(name))}-{name.removeprefix('tests/cases/systems/')}"


cases_of_rows = pytest.mark.parametrize("name", CASES, ids=_ids)


@cases_of_rows
def test_row_when_the_system_prompt_is_made_again(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but the prompt of that turn is said, in its order, and behind it the prompt is as before it."""
    case = case_of(name)
    monkeypatch.chdir(case.folder)
    if case.error:
        _is_refused(in_a_loop, case, "rewrite")
        return
    first, second, third = in_a_loop(opened(case.agent, "rewrite"), case.asks)
    wanted = {line for _, text in case.said for line in text}
    ordered = [line for head, text in case.said if not head.startswith("appended") for line in text]

    assert sorted({*second.lines} - OWN - LAYOUT) == sorted(wanted - OWN - LAYOUT)
    assert _is_subsequence(ordered, second.lines)
    assert sorted({*case.records} - {*records(second.step)}) == []
    assert first.system == third.system or case.lasts


@cases_of_rows
@pytest.mark.parametrize("play", [in_a_loop, on_pydantic_ai])
def test_row_on_a_host(name: str, play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    """Under the delivery that the system has: what the turn says is there, and what is of that turn alone goes."""
    if name == UNSAID and play is on_pydantic_ai:
        return
    case = case_of(name)
    monkeypatch.chdir(case.folder)
    if case.error:
        _is_refused(play, case)
        return
    first, second, third = play(opened(case.agent), case.asks)
    heard = [text for head, text in case.said if play is in_a_loop or head.startswith("appended")]
    wanted = {*case.system, *(line for text in heard for line in text)}
    blocks = second.step.appended
    passing = {line for block in blocks if not block.stays for line in lines(block.text)}
    staying = {line for block in blocks if block.stays for line in lines(block.text)}

    assert sorted(wanted - {*second.lines} - LAYOUT) == []
    assert sorted((passing - staying - {*lines(second.system), *first.lines}) & {*third.lines}) == []


def _is_refused(play: Play, case: Case, delivery: Delivery | None = None) -> None:
    """The turn is refused, and the conversation goes on without it."""
    engine, (plain, asked, again) = opened(case.agent, delivery), case.asks
    assert refused(play, engine, [plain, asked]) == case.error
    assert refused(play, engine, [plain, again]) == ""
