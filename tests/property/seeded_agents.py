"""The agents of seeded conversations: their files, as somebody edits them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from cuecard import Engine
from property.engines import opened

Json = dict[str, Any]
TOLD = tuple(f"t{n}" for n in range(7))
PLAIN = ("p0", "p1")
CORE = ("find", "done")
NAMES = (*TOLD, *PLAIN)
LONG = {"t2": 60, "t5": 200}
"""How many more words the instructions of a tool have."""

HEAD = (
    "<agent>\n<role>\nv{edition}\n</role>\n<memory>\n{{{workingMemory}}}\n</memory>\n<day>\n{{currentDate}}\n</day>\n"
)
USES = (
    "<use>\n{{{activeProtocols}}}\n</use>\n</agent>\n",
    "<use>\nRead this.\n{{{activeProtocols}}}\nOn {{currentDate}}.\n</use>\n</agent>\n",
)
LATE = {"cues": {"on_discovery": ["before", "gotcha"], "on_result": ["after", "next"]}}


def seeds(usual: Sequence[int]) -> Sequence[int]:
    """These, unless `CUECARD_CONVERSATIONS` says how many or `CUECARD_SEED` which is the first."""
    first, count = os.environ.get("CUECARD_SEED"), os.environ.get("CUECARD_CONVERSATIONS")
    if not first and not count:
        return usual
    begin = int(first or 0)
    return range(begin, begin + int(count or len(usual)))


@dataclass(frozen=True)
class Setting:
    """An agent's files, but for what somebody edits."""

    delivery: str
    policy: str
    use: int
    late: bool
    ahead: bool
    protocols: int | None
    total: int | None

    @property
    def budgeted(self) -> bool:
        return self.protocols is not None or self.total is not None


@cache
def engine_of(setting: Setting, edition: int, versions: tuple[int, ...]) -> Engine:
    return opened(texts_of("a", setting, edition, versions))


def texts_of(name: str, setting: Setting, edition: int, versions: tuple[int, ...]) -> dict[str, str]:
    """The agent's files, by their paths; the first is its agent file."""
    told = {name: _instructions(name, version) for name, version in zip(TOLD, versions, strict=True) if version}
    told |= {"find": {"before": "B-find-v1", "after": "none", "next": "none", "gotcha": "none"}}
    tools: Json = {"instructions": "t.yaml", "core": list(CORE), "search": {"tool": "find"}}
    tools |= LATE if setting.late else {}
    tools |= {"ahead": {}} if setting.ahead else {}
    budget = {key: value for key, value in (("protocols", setting.protocols), ("total", setting.total)) if value}
    spec = {"agent": name, "template": "a.xml", "tools": tools, "delivery": setting.delivery, "reload": setting.policy}
    described = {name: {"description": name} for name in (*NAMES, "done") if name not in told}
    return {
        "agent.yaml": json.dumps({**spec, **({"budget": budget} if budget else {})}),
        "a.xml": HEAD.replace("{edition}", str(edition)) + USES[setting.use],
        "t.yaml": json.dumps({"tools": told, "described": described}),
    }


def _instructions(name: str, version: int) -> Json:
    more = " word" * LONG.get(name, 3)
    cues = {"before": "B", "after": "A", "next": "N", "gotcha": "G"}
    return {cue: f"{letter}-{name}-v{version}{more}" for cue, letter in cues.items()}
