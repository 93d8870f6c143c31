"""Agents to attack: the five shipped systems, and small ones of any make. Each with its slots for data."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

from hypothesis import strategies as st

from cuecard import Engine
from cuecard.types import Json
from property.engines import opened

PROMPTS = Path(__file__).parents[2] / "prompts"

Take: TypeAlias = Callable[[], str]
"""Gives the next value of a palette."""


@dataclass(frozen=True, repr=False)
class Target:
    """An agent with hostile texts in its skills, and its twin with harmless ones.

    Attributes:
        engines: both; the same one where skills are an author's.
        inputs: inputs filled from a palette.
        files: paths of files that the host supplies as data.
        begins: what lines of a heading begin with that Markdown does not know.
        entries: what the entries of a section's list begin with.
        lines: lines that stand alone, such as separators.
        forgets: whether each message begins a conversation of its own. Helpers make different values alike, such as
            those that begin with the same twelve characters: an update would come on one side only.
    """

    engines: tuple[Engine, Engine]
    inputs: Callable[[Take], dict[str, Json]]
    files: Sequence[str] = ()
    begins: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    entries: Mapping[str, str] = field(default_factory=dict)
    switches: Sequence[dict[str, Json]] = field(default_factory=lambda: [{}])
    name: str = ""
    forgets: bool = False

    def __repr__(self) -> str:
        return self.name


def _none(_: Take) -> dict[str, Json]:
    return {}


def _mistermorph(take: Take) -> dict[str, Json]:
    rows = [{"date": take(), "summary": take(), "path": take()} for _ in range(2)]
    lists = {"mention_users": [take(), take()], "reaction_emojis": [take()]}
    return {"memory_long_term": take(), "memory_recent": rows, **lists}


def _mushroom(take: Take) -> dict[str, Json]:
    names = ("user_name", "agent_id", "agent_name", "user_id", "channel", "channel_user_id", "chat_type", "group_id")
    return {
        **{name: take() for name in (*names, "workspace")},
        "knowledge": [{"text": take(), "source": take()} for _ in range(2)],
        "conversation_topics": [{"topic": take(), "summary": take()}],
        "turn_variables": {f"{take()} 1": take(), f"{take()} 2": [take(), {take(): take()}]},
    }


def _pioneer(take: Take) -> dict[str, Json]:
    return {name: take() for name in ("workspace", "retry_instruction", "dynamic_context", "os", "extra_system")}


def _polyant(take: Take) -> dict[str, Json]:
    return {name: take() for name in ("channel", "channelId", "userName", "context")}


_SWITCHES: dict[str, list[dict[str, Json]]] = {
    "mistermorph": [{"is_group": False}, {"is_group": True}, {"channel": "slack"}],
    "mushroom": [{}, {"heartbeat": True}, {"response_format": "json_object"}],
    "pioneer": [{}, {"active_skills": ["*"]}, {"continue_generation_hint": True}],
}
_BEGINS: dict[str, tuple[str, ...]] = {
    "mistermorph": ("[ ",),
}


@cache
def system(name: str) -> Target:
    """A shipped system; `bare` is Polyant for a host that brings its own tools."""
    path = {"bare": "polyant/bare.yaml"}.get(name, name)
    engine = Engine.open(PROMPTS / path, cache=False)
    fills = {"cms": _none, "mistermorph": _mistermorph, "mushroom": _mushroom, "pioneer": _pioneer}
    files = ("SOUL.md", "IDENTITY.md", "USER.md") if name == "pioneer" else ()
    lines = {"pioneer": ("<!-- PIONEER_PROMT_CACHE_BOUNDARY -->",), "bare": ("---",), "polyant": ("---",)}.get(name, ())
    fill, switches = fills.get(name, _polyant), _SWITCHES.get(name, [{}])
    return Target((engine, engine), fill, files, _BEGINS.get(name, ()), lines, switches=switches, name=name)


SYSTEMS = ("cms", "mistermorph", "mushroom", "pioneer", "polyant", "bare")

_INPUTS = {
    "x": {"default": ""},
    "y": {"default": ""},
    "list": {"type": "list", "default": []},
    "deep": {"type": "object", "default": {}},
    "flag": {"type": "boolean", "default": False},
}
_TEXTS = (
    *("You help {{{x}}}.", "{{{x}}}{{{y}}}", "#{{{x}}}", "-{{{x}}}\n-{{{y}}}", "{{x}} and {{{y}}}", "*{{{x}}}\nMore."),
    *(
        "{{#each list}}- {{{this}}}\n{{/each}}End.",
        "{{#each deep}}{{{@key}}}: {{{this}}}\n{{/each}}End.",
        "a < {{{x}}} > b",
    ),
    *('<notes kind="{{x}}">{{{y}}}</notes>', "```\n{{{x}}}\n```\nBehind.", "<!-- fixed -->\n{{{x}}}", "Plain words."),
    *(
        "{{{workingMemory}}}",
        "{{{conversationSummary}}}",
        "{{#if flag}}{{{x}}}{{else}}{{{y}}}{{/if}}\nEnd.",
        "{{{x}}}\n{{{y}}}",
    ),
)
_HELPED = (
    *("{{{upper x}}}", "{{{lower x}}}: {{{trim y}}}", "You help {{{truncate x 12}}}.", "{{{middle x 9}}}\nEnd."),
    *(
        '{{{join list "\\n"}}}',
        '{{{join list ", "}}}.',
        "{{{json deep indent=2}}}",
        "{{{json list}}}",
        "{{{indent x 2}}}",
    ),
    *(
        '{{{replace x "e" y}}}',
        '{{{replace "a-b" "-" x}}}',
        "{{{default x y}}}",
        "{{{one_line x}}}{{{first_sentence y}}}",
    ),
    *(
        '{{{xml x "b-c"}}}',
        '{{#if (contains x "a")}}Has.{{else}}Has.{{/if}} {{{x}}}',
        '{{{upper (replace x (default y "e") x)}}}',
    ),
)
"""Helpers make new texts of values: what each value could not say, all of them together cannot say either."""
_ALL = (*_TEXTS, *_HELPED)
_XML = tuple(text for text in _ALL if not set("#`*") & {text[0]} and " < " not in text)
_SOURCES: tuple[dict[str, Any], ...] = (
    {"rows": {"input": "list", "item": "- {{{item}}}"}},
    {"rows": {"input": "list", "item": "Item: {{{item}}}", "lines": "keep", "separator": "\n***\n"}},
    {"facts": {"labels": {"x": "X", "y": "Y"}, "others": "deep"}},
    {"tools": {"item": "- **{{{name}}}**: {{{description}}}", "lines": "keep"}},
    {
        "files": {
            "supplied": True,
            "entries": [{"path": "a.md"}, {"path": "b.md"}],
            "item": "=== {{{name}}} ===\n{{{content}}}",
        }
    },
    {
        "skills": {
            "roots": "s",
            "trust": "data",
            "item": "<skill>{{{name}}}: {{{description}}}</skill>\n",
            "mentions": False,
        }
    },
)
_HEADINGS = ("## {{title}}\n", "# {{title}}\n\n", "<{{title}}>\n", "[ {{title}} ]\n", "")
_SEPARATORS = ("\n\n", "\n\n---\n\n", "\n", "\n* * *\n")
_PROTOCOLS = "<tools>\n{{{activeProtocols}}}\n</tools>"
_INSTRUCTIONS = "tools:\n" + "".join(
    f"  {name}: {{before: b, after: a, next: none, gotcha: none}}\n" for name in ("tool_search", "tool_a", "tool_b")
)


@st.composite
def small_agents(draw: st.DrawFn, skill: st.SearchStrategy[str]) -> Target:
    """A core template or a list of sections in any layout, filled from any sources."""
    escaping, compact = draw(st.sampled_from(["text", "names"])), draw(st.sampled_from(["keep", "compact"]))
    is_core = draw(st.booleans())
    texts = draw(st.lists(st.sampled_from(_XML if is_core else _ALL), min_size=1, max_size=4))
    sources = draw(st.lists(st.sampled_from(_SOURCES), max_size=3))
    spec: dict[str, Any] = {
        "agent": "a",
        "inputs": _INPUTS,
        "delivery": draw(st.sampled_from(["append", "rewrite", "frozen"])),
    }
    spec |= {"tools": {"instructions": "t.yaml", "core": ["tool_search"]}, "whitespace": compact}
    filled = [{"id": f"s{place}", "title": f"Title {place}", **source} for place, source in enumerate(sources)]
    template = ""
    if is_core:
        parts = "".join(f"<p{place}>\n{text}\n</p{place}>\n" for place, text in enumerate(texts))
        template = f'<agent for="{{{{x}}}}">\n{parts}<rules>\nBe kind.\n</rules>\n{_PROTOCOLS}\n</agent>\n'
        spec |= {"template": {"file": "a.xml", "escaping": escaping}}
        added = [{**{key: each[key] for key in each if key != "title"}, "after": "p0"} for each in filled]
        spec |= {"sections": added} if added else {}
    else:
        own = [{"id": f"t{place}", "title": f"Text {place}", "text": text} for place, text in enumerate(texts)]
        last = {"id": "last", "text": f"### Fixed\n{_PROTOCOLS}\n<rules>Be kind.</rules>"}
        layout = {"heading": draw(st.sampled_from(_HEADINGS)), "separator": draw(st.sampled_from(_SEPARATORS))}
        bound = {"boundary": {"marker": "\n<!-- cut -->\n", "before": "last"}} if draw(st.booleans()) else {}
        spec |= {"layout": {**layout, **bound, "escaping": escaping}, "sections": [*own, *filled, last]}
        if layout["heading"].startswith("<"):
            spec["sections"] = [{**each, "title": each.get("title", "").replace(" ", "")} for each in spec["sections"]]
    said = draw(skill)
    engines = tuple(_engine(spec, template, text) for text in (said, "word"))
    begins = ("[ ",) if '"[ {{title}}' in json.dumps(spec) else ()
    starts = {each["id"]: mark for each in filled for mark, form in _STARTS if form in json.dumps(each)}
    told = json.dumps(spec)
    lines = tuple(mark for mark, form in _LINES if form in told)
    return Target(
        (engines[0], engines[1]),
        _small,
        ("a.md", "b.md"),
        begins,
        lines,
        starts,
        name=f"{template}{json.dumps(spec)} {said!r}",
        forgets=any(text in _HELPED for text in texts),
    )


_LINES = (("---", "n---"), ("* * *", "n* * *"), ("<!-- cut -->", "<!-- cut -->"))
_STARTS = (("=== ", '"files"'), ("Item: ", '"Item: '), ("- **", "- **"))


def _small(take: Take) -> dict[str, Json]:
    return {
        "x": take(),
        "y": take(),
        "list": [take(), take()],
        "deep": {f"{take()} 1": take(), f"{take()} 2": take()},
    }


def _engine(spec: dict[str, Any], template: str, skill: str) -> Engine:
    text = f"---\nname: one\ndescription: {json.dumps(skill)}\n---\nBody.\n"
    core = {"a.xml": template} if template else {}
    return opened({"a.yaml": json.dumps(spec), **core, "t.yaml": _INSTRUCTIONS, "s/one/SKILL.md": text})
