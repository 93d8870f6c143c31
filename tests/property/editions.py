"""An agent whose files somebody goes on editing, as texts: what may differ from one state of them to the next."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from cuecard import Engine
from cuecard.types import DeliveryWish, ReloadPolicy
from property.engines import opened

TOOLS = ("t_1", "t_2", "t_3", "t_4")
SEARCHES = ("tool_search", "find_tools")


@dataclass(frozen=True)
class Edition:
    """One state of the files: variants by number; a tool of variant 0 has no instructions, one of -1 is not there."""

    role: int = 0
    extra: int = 0
    slot: str = "instructions"
    around: int = 0
    mixed: bool = False
    note: bool = True
    root: str = "agent"
    search: str = "tool_search"
    core: tuple[str, ...] = ()
    tools: tuple[int, ...] = (1, 1, 1, 1)
    policy: ReloadPolicy = "next-call"
    delivery: DeliveryWish = "append"
    more: dict[str, Any] = field(default_factory=dict, hash=False)

    @property
    def template(self) -> str:
        extra = f"<extra>\nExtra {self.extra} of {{{{who}}}}.\n</extra>\n" if self.extra else ""
        note = "<note>\n{{{said}}}\n</note>\n" if self.note else ""
        words = f"Words {self.around}.\n" if self.around else ""
        who = "For {{{who}}}.\n" if self.mixed else ""
        slot = f"<{self.slot}>\n{words}{who}{{{{{{activeProtocols}}}}}}\n</{self.slot}>\n"
        return f"<{self.root}>\n<role>\nRole {self.role}.\n</role>\n{extra}{note}{slot}</{self.root}>\n"

    @property
    def texts(self) -> dict[str, str]:
        variants = dict(zip(TOOLS, self.tools, strict=True))
        told = {name: _instructions(name, variant) for name, variant in variants.items() if variant > 0}
        told[self.search] = _instructions(self.search, 1)
        described = {name: {"description": name} for name, variant in variants.items() if variant == 0}
        spec = {
            "agent": "edited",
            "template": "a.xml",
            "inputs": {"said": {"default": ""}, "who": {"default": "Ann"}},
            "tools": {
                "instructions": "t.yaml",
                "core": [self.search, *(name for name in self.core if variants[name] >= 0)],
                "search": {"tool": self.search},
            },
            "reload": self.policy,
            "delivery": self.delivery,
            **self.more,
        }
        return {
            "agent.yaml": json.dumps(spec),
            "a.xml": self.template,
            "t.yaml": json.dumps({"tools": told, "described": described}),
        }

    def write(self, folder: Path) -> None:
        """The same as files."""
        for name, text in self.texts.items():
            (folder / name).write_text(text, encoding="utf-8")

    @property
    def engine(self) -> Engine:
        return _opened(self)


@lru_cache(maxsize=512)
def _opened(edition: Edition) -> Engine:
    """Talks draw the same states of the files again and again."""
    return opened(edition.texts)


def _instructions(name: str, variant: int) -> dict[str, str]:
    return {"before": "None required", "after": f"Say {variant} of {name}", "next": "none", "gotcha": "none"}


# Made once, because a strategy is checked when it draws for the first time.
DRAWN: dict[str, st.SearchStrategy[Any]] = {
    "role": st.integers(0, 1),
    "extra": st.integers(0, 2),
    "slot": st.sampled_from(["instructions", "instructions", "instructions", "usage"]),
    "around": st.integers(0, 1),
    "mixed": st.sampled_from([False, False, True]),
    "note": st.sampled_from([True, True, False]),
    "search": st.sampled_from([SEARCHES[0], SEARCHES[0], SEARCHES[1]]),
    "core": st.lists(st.sampled_from(TOOLS), unique=True, max_size=2).map(tuple),
    "tools": st.lists(st.sampled_from([1, 1, 2, 3, 0, -1]), min_size=4, max_size=4).map(tuple),
}
NAMES = st.lists(st.sampled_from(TOOLS), min_size=1, max_size=2).map(tuple)
FOUND = st.lists(NAMES, max_size=2).map(tuple)
GONE = st.sampled_from(["", "", "", *TOOLS])
SAID = st.sampled_from(["", "a", "b"])


@st.composite
def editions(draw: st.DrawFn, policy: ReloadPolicy = "next-call", delivery: DeliveryWish = "append") -> Edition:
    """A state of the files that another one can follow without a new root element or another search tool."""
    drawn = {name: draw(values) for name, values in DRAWN.items()}
    return Edition(**drawn, policy=policy, delivery=delivery)


@dataclass(frozen=True)
class Talk:
    """One call of a conversation: the state of the files, values, which tools exist, what each search finds."""

    edition: Edition
    said: str
    gone: str
    found: tuple[tuple[str, ...], ...]


@st.composite
def talks(draw: st.DrawFn, policy: ReloadPolicy = "next-call", delivery: DeliveryWish = "append") -> list[Talk]:
    """The calls of a conversation; most follow without an edit."""
    states = editions(policy, delivery)
    edition = draw(states)
    calls = []
    for _ in range(draw(st.integers(1, 6))):
        edition = draw(states) if draw(st.booleans()) else edition
        found, gone = draw(FOUND), draw(GONE)
        calls.append(Talk(edition, draw(SAID), gone, found))
    return calls
