"""Tool instructions as skills, for hosts that support skills but not cuecard: one per category."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import groupby

from cuecard.config.skills.packages import MAIN, SkillPackage, make_package
from cuecard.model import ToolCard

_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_DESCRIPTION = 1000


def tool_skills(agent: str, cards: Sequence[ToolCard], instructions: Mapping[str, str]) -> tuple[SkillPackage, ...]:
    """A skill for each category of tools with instructions, in the order of the catalogue.

    Args:
        agent: the agent's name.
        cards: its tools.
        instructions: by tool, the text that a model reads.
    """
    told = sorted((card for card in cards if card.name in instructions), key=lambda card: card.category)
    packages = []
    taken: set[str] = set()
    for category, group in groupby(told, key=lambda card: card.category):
        name = _name(agent, category, taken)
        taken.add(name)
        packages.append(_package(name, category or agent, list(group), instructions))
    return tuple(packages)


def _name(agent: str, category: str, taken: set[str]) -> str:
    plain = _NOT_PLAIN.sub("-", f"{agent}-{category or 'tools'}".lower()).strip("-")[:58].strip("-") or "tools"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}-{number}", number + 1
    return name


def _package(name: str, title: str, cards: Sequence[ToolCard], instructions: Mapping[str, str]) -> SkillPackage:
    listed = ", ".join(card.name for card in cards)
    description = f"How to use the {title} tools: {listed}"
    if len(description) > _DESCRIPTION:
        description = description[: _DESCRIPTION - 3] + "..."
    # Names of tools contain no spaces, so the list can be wrapped there.
    front = {"name": name, "description": description, "allowed-tools": " ".join(card.name for card in cards)}
    head = "".join(f"{key}: {json.dumps(value, ensure_ascii=False)}\n" for key, value in front.items())
    parts = [f"## {card.name}\n\n{_told(card)}{instructions[card.name].strip()}\n" for card in cards]
    text = f"---\n{head}---\n\n# {title}\n\n" + "\n".join(parts)
    return make_package({MAIN: text.encode()}, name, name)


def _told(card: ToolCard) -> str:
    return f"{' '.join(card.description.split())}\n\n" if card.description.strip() else ""
