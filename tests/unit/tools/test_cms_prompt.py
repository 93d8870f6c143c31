"""The lean core of the CMS assistant: its order, and what it costs."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from cuecard.model import Entity, Memory
from cuecard.outside.content import content_root
from cuecard.outside.tokens import bundled_counter
from cuecard.sections.memory import memory_text
from cuecard.sections.protocols import protocol, protocols_text
from cuecard.spec.agent_file import MemorySpec
from cuecard.tools import Catalogue

CORE = ["tool_search", "final_answer", "acknowledge"]
COUNT = bundled_counter("o200k_base")
ENTITIES = [
    ("page", "About Us"),
    ("section", "Opening hours"),
    ("image", "team-photo-2026.jpg"),
    ("post", "The old mill"),
]


@pytest.fixture(scope="module")
def template() -> str:
    return (content_root() / "prompts" / "cms" / "agent.xml").read_text(encoding="utf-8")


def prompt(template: str, cms: Catalogue, tools: Sequence[str], memory: Memory) -> str:
    text, cuts = memory_text(memory, MemorySpec())
    assert cuts == ()
    values = {
        "{{{workingMemory}}}": text,
        "{{currentDate}}": "2026-11-20",
        "{{{activeProtocols}}}": protocols_text(tools, {name: protocol(card) for name, card in cms.items()}),
    }
    return re.sub(r"\{+\w+\}+", lambda match: values[match[0]], template)


def test_what_changes_more_often_stands_later(template: str) -> None:
    assert re.findall(r"\{+\w+\}+", template) == ["{{{workingMemory}}}", "{{currentDate}}", "{{{activeProtocols}}}"]
    assert re.findall(r"^<([a-z-]+)>", template, re.MULTILINE) == [
        "agent",
        "identity",
        "react",
        "tool-discovery",
        "operational-knowledge",
        "working-memory",
        "current-datetime",
        "tool-usage-instructions",
    ]


def test_there_are_no_blank_lines_and_no_indented_sections(template: str) -> None:
    assert re.findall(r"\n\n|^\s+<|[ \t]$", template, re.MULTILINE) == []
    assert template.endswith("</agent>\n")


def test_with_nothing_discovered_the_prompt_costs_1200_to_1500_tokens(template: str, cms: Catalogue) -> None:
    assert 1200 <= COUNT(prompt(template, cms, CORE, Memory())) <= 1500


def test_with_the_ten_longest_protocols_and_ten_entities_it_costs_at_most_2400(template: str, cms: Catalogue) -> None:
    discoverable = [name for name in cms if name not in CORE]
    longest = sorted(discoverable, key=lambda name: -COUNT(protocol(cms[name])))[:10]
    memory = Memory(tuple(_entity(n) for n in range(10)))

    assert COUNT(prompt(template, cms, [*CORE, *longest], memory)) <= 2400


def _entity(number: int) -> Entity:
    kind, name = ENTITIES[number % len(ENTITIES)]
    return Entity(kind, f"{kind}-{number}", name)


def test_every_tool_that_the_core_names_is_a_core_tool(template: str, cms: Catalogue) -> None:
    assert {name for name in cms if name in template} == {"tool_search", "final_answer", "acknowledge"}
