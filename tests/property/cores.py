"""XML cores of any shape, as texts that make a template in a row, and as the same texts in a list of sections."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from cuecard import Engine
from cuecard.agent import build_agent
from cuecard.agent.world import Memo
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.files.clock import utc_now
from cuecard.types import DeliveryWish
from property.engines import counter

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
TOOLS = """\
tools:
  tool_search: {before: None required, after: Look, next: none, gotcha: none}
  get_page: {before: Search first, after: "Show the <page>", next: none, gotcha: none}
  put_page: {before: Get the page, after: Say so, next: none, gotcha: none}
"""
PARTIALS = {"manners": "<manners>\nBe kind to {{who}}.\n</manners>\n", "short": "{{#if flag}}In short.{{/if}}"}
INPUTS = {
    "said": {"default": ""},
    "who": {"default": "Ann"},
    "flag": {"type": "boolean", "default": False},
    "rows": {"type": "list", "default": []},
}
NAMES = ("a", "b", "c", "d", "e", "f")
Spec = dict[str, Any]


@dataclass(frozen=True)
class Core:
    """A root and its children: `parts` are their ids with their texts, which make the template in a row."""

    opening: str
    parts: tuple[tuple[str, str], ...]
    closing: str = "</agent>\n"

    @property
    def template(self) -> str:
        return self.opening + "".join(text for _, text in self.parts) + self.closing

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.parts)

    def listed(self, said: Mapping[str, Spec]) -> list[Spec]:
        """The same texts as a list, each with what is said of it."""
        parts = [{"id": name, "text": text, **said.get(name, {})} for name, text in self.parts]
        return [{"id": "opening", "text": self.opening}, *parts, {"id": "closing", "text": self.closing}]


LINES = st.sampled_from(
    [
        *(
            "Be brief.",
            "A &amp; B &lt; C",
            "You help {{{said}}}",
            "{{{said}}}",
            "{{said}}{{{who}}}",
            "<b>bold</b> words",
        ),
        *("{{#if flag}}\n<yes>\n{{{said}}}\n</yes>\n{{else}}\nNo.\n{{/if}}", "{{#each rows}}- {{{this}}}\n{{/each}}"),
        *("<deep>\n<er>\n{{{said}}}\n</er>\n</deep>", "{{> short}}", "{{> manners}}", "{{{workingMemory}}}", "", "  "),
        *("{{currentDate}}", "<!-- a comment -->", "<![CDATA[ <x> & ]]>", "/slash", "{{! nothing }}", "é\U0001f3ac"),
    ]
)
ATTRIBUTES = st.sampled_from(["", "", ' kind="x"', ' for="{{who}}"'])
BEHIND = st.sampled_from(["\n", "\n", "\n", "\n\n", "\nwords between\n", "\n<!-- between -->\n", "", " ", " tail\n"])
BARE = {
    "manners": "{{> manners}}\n",
    "if-flag": "{{#if flag}}\nOnly words.\n{{/if}}\n",
    "in": "{{#if flag}}\n<in>\nshort\n</in>\n<more>x</more>\n{{else}}\n<out>\nlong\n</out>\n{{/if}}\n",
    "each-rows": "{{#each rows}}\n{{{this}}}\n{{/each}}\n",
}


STILL = st.sampled_from(["<agent>\n", "<!-- x -->\n<agent>\n", "<agent>\nIntro.\n"])
OPENINGS = STILL | st.just('<agent for="{{who}}">\nIntro.\n')


BODIES = st.lists(LINES, max_size=4)
AROUND = st.sampled_from(["\n", "\n", ""])
INDENTS = st.sampled_from(["", "", "  "])
NAMED = {
    bare: st.lists(st.sampled_from([*NAMES, *(BARE if bare else ())]), unique=True, min_size=1, max_size=6)
    for bare in (True, False)
}
"""Made once, because a strategy is checked when it draws for the first time."""


@st.composite
def elements(draw: st.DrawFn, name: str) -> str:
    attributes, body = draw(ATTRIBUTES), "\n".join(draw(BODIES))
    around = draw(AROUND)
    inner = f"{around}{body}{around}"
    return f"<{name}{attributes}>{inner}</{name}>" if inner or attributes else f"<{name}/>"


@st.composite
def cores(draw: st.DrawFn, openings: st.SearchStrategy[str] = OPENINGS, *, bare: bool = True) -> Core:
    """Elements on lines of their own or not, with text, blocks and partials between them, one of protocols."""
    opening = draw(openings)
    parts: list[tuple[str, str]] = []
    for name in draw(NAMED[bare]):
        fresh = (parts[-1][1] if parts else opening).endswith("\n")
        if name in BARE:
            if fresh:
                parts.append((name, BARE[name]))
            continue
        indent = draw(INDENTS) if fresh else ""
        parts.append((name, indent + draw(elements(name)) + draw(BEHIND)))
    at = draw(st.integers(0, len(parts)))
    tools = ("tools", "<tools>\n{{{activeProtocols}}}\n</tools>\n")
    while at and not parts[at - 1][1].endswith("\n"):
        at -= 1
    return Core(opening, (*parts[:at], tools, *parts[at:]))


_MEMO = Memo()


def engine_of(
    spec: Spec, template: str = "", delivery: DeliveryWish = "append", child: Spec | None = None, *, anew: bool = False
) -> Engine:
    """The engine of an agent file that is on no disk, and of one that extends it.

    What all of them read, tools and partials, is parsed once, but where everything is to be made `anew`.
    """
    agent = build_agent(sources_of(spec, template, child), Memo() if anew else _MEMO)
    _MEMO.forget_unused()
    return Engine(agent, delivery, counter(agent.spec.tokens.encoding), utc_now)


def sources_of(spec: Spec, template: str, child: Spec | None = None) -> AgentSources:
    """Their texts; JSON is YAML."""
    texts = [
        SourceText(f"{name}.yaml", f"{name}.yaml", json.dumps(each, ensure_ascii=False))
        for name, each in (("a", spec), ("b", child))
        if each
    ]
    return AgentSources(
        texts[-1],
        SourceText("a.xml", "a.xml", template) if template else None,
        tuple(SourceText(f"p/{name}.hbs", f"p/{name}.hbs", text) for name, text in PARTIALS.items()),
        (SourceText("t.yaml", "t.yaml", TOOLS),),
        layers=tuple(texts[:-1]),
    )


def with_template(said: Mapping[str, Spec], **more: Any) -> Spec:
    """An agent file beside a template, with what is said of its sections."""
    sections = [{"id": name, **each} for name, each in said.items() if each]
    spec: Spec = {"agent": "a", "inputs": INPUTS, "tools": {"instructions": "t.yaml", "core": ["tool_search"]}, **more}
    return {**spec, "template": {"file": "a.xml", "partials": "p"}, **({"sections": sections} if sections else {})}


def with_list(core: Core, said: Mapping[str, Spec], **more: Any) -> Spec:
    """The same agent as a list of sections."""
    layout = {"separator": "", "trim": False, "partials": "p"}
    spec: Spec = {"agent": "a", "inputs": INPUTS, "tools": {"instructions": "t.yaml", "core": ["tool_search"]}, **more}
    return {**spec, "layout": layout, "sections": core.listed(said)}


__all__ = ["NOW", "STILL", "Core", "cores", "engine_of", "sources_of", "with_list", "with_template"]
