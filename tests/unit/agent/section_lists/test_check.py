"""What `cuecard check` finds in a list of sections that opens: what changes, what costs, what can never fit."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import problems
from cuecard import Problem
from property.engines import counter
from unit.agent.section_lists.agents import TOOLS, agent

TEN = counter()("Ten letters in here.")
STATIC = "{id: s, text: Ten letters in here.}"


def found(folder: Path, sections: str, more: str = "", /, **files: str) -> list[Problem]:
    text = (
        f"agent: a\ninputs: {{x: {{default: ''}}}}\n{more}sections: [{sections}, {{id: last, text: '{{{{{{x}}}}}}'}}]\n"
    )
    return problems(agent(folder, text, **files))


def told(folder: Path, sections: str, more: str = "", /, **files: str) -> list[str]:
    return [f"{p.code}: {p.message}" for p in found(folder, sections, more, **files)]


@pytest.mark.parametrize(
    ("first", "message"),
    [
        (
            "{id: a, text: '{{{x}}}'}",
            f"section-order: `a` changes with each user message, before {TEN} tokens of static text",
        ),
        (
            "{id: a, clock: {zone: UTC}}",
            f"section-order: `a` changes with each user message, before {TEN} tokens of static text",
        ),
        ("{id: a, text: a, when: x}", f"conditional-section: `a` comes and goes, before {TEN} tokens of static text"),
        (
            "{id: a, text: '{{{activeProtocols}}}'}",
            f"section-order: `a` changes with each model request, before {TEN} tokens of static text",
        ),
    ],
)
def test_what_changes_before_static_text_is_reported_with_what_that_costs(
    tmp_path: Path, first: str, message: str
) -> None:
    assert told(tmp_path, f"{first}, {STATIC}") == [message]
    assert told(tmp_path, f"{STATIC}, {first}") == []


def test_a_message_of_its_own_does_not_appear_before_static_text(tmp_path: Path) -> None:
    assert told(tmp_path, f"{{id: a, role: user, text: '{{{{{{x}}}}}}'}}, {STATIC}") == []
    assert told(tmp_path, f"{{id: a, text: '{{{{{{x}}}}}}'}}, {STATIC.replace('}', ', role: assistant}')}") == []


def test_text_that_looks_as_if_it_changed_is_shown_where_it_appears(tmp_path: Path) -> None:
    shown = found(
        tmp_path,
        "{id: a, text: 'Today is 2026-11-21.'}, {id: b, file: b.md}, {id: c, text: '{{{x}}} 2026-11-21'}",
        b_md="One\nCall 09:30 back.\n",
    )

    assert [(Path(p.name).name, p.code, p.severity, p.span.line, p.span.column) for p in shown if p.span] == [
        ("agent.yaml", "volatile-text", "warning", 3, 36),
        ("b.md", "volatile-text", "warning", 2, 6),
    ]


@pytest.mark.parametrize(
    ("section", "over"),
    [
        ("{id: a, text: Twelve more.}", True),
        ("{id: a, text: Twelve more., priority: 1}", False),
        ("{id: a, text: Twelve more., when: x}", False),
        ("{id: a, text: Twelve more., budget: 2}", False),
        ("{id: a, text: Twelve more., role: user}", False),
        ("{id: a, text: 'Twelve more.{{{x}}}'}", False),
    ],
)
def test_only_what_is_always_there_can_be_over_the_budget(tmp_path: Path, section: str, *, over: bool) -> None:
    codes = [p.code for p in found(tmp_path, f"{STATIC}, {section}", f"budget: {{total: {TEN + 2}}}\n")]

    assert ("over-budget" in codes) is over


@pytest.mark.parametrize(("delivery", "over"), [("append", False), ("frozen", True)])
def test_instructions_that_are_always_there_count(tmp_path: Path, delivery: str, *, over: bool) -> None:
    more = f"delivery: {delivery}\nbudget: {{total: 70}}\ntools: {{instructions: t.yaml, core: [tool_search]}}\n"
    codes = [p.code for p in found(tmp_path, "{id: p, text: '{{{activeProtocols}}}'}", more, t_yaml=TOOLS)]

    assert ("over-budget" in codes) is over


def test_a_mapping_that_is_walked_is_shown_where_it_is_written(tmp_path: Path) -> None:
    texts = (
        "agent: a\ninputs: {facts: {type: object, default: {}}, names: {type: list, default: []}}\nsections:\n"
        "  - id: walks\n    text: |\n      Known:\n      {{#each facts}}{{{this}}} {{/each}}\n"
        "  - {id: lists, text: '{{#each names}}{{{this}}} {{/each}}'}\n"
    )
    shown = problems(agent(tmp_path, texts))

    assert [(p.code, p.severity, p.span and (p.span.line, p.span.column)) for p in shown] == [
        ("unsorted-mapping", "warning", (7, 15))
    ]
