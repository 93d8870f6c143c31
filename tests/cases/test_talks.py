"""Conversations to the letter: each event with all that it says and the one before it did not.

`talks/NAME.txt` is golden: `make golden` writes it anew, and the difference is for people to read.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import pytest

from cuecard import (
    Conversation,
    Engine,
    Entity,
    FileText,
    Manifest,
    Memory,
    Message,
    ToolCard,
    ToolResult,
    Turn,
    compare_manifests,
)
from cuecard.types import Change, DeliveryWish, RunLimits, Summary
from unit.agent.section_lists.agents import opened

FOLDER = Path(__file__).parent / "talks"
NOW = datetime(2026, 11, 20, 9, 30, tzinfo=UTC)
AGENT = """\
agent: bakery
inputs: {event: {default: "", lifetime: turn}, retry: {default: "", tier: step}, name: {default: friend}}
tools:
  instructions: tools.yaml
  core: [tool_search, done]
  search: {limit: 3}
memory: {extract: [{at: "", type: loaf}], forget: {drop_*: {at: id, type: loaf}}}
sections:
  - {id: role, text: You answer for a bakery.}
  - {id: event, title: What has happened, text: "{{{event}}}", when: event}
  - {id: retry, title: Again, text: "{{{retry}}}", when: retry}
  - {id: memory, text: "{{{workingMemory}}}", when: workingMemory}
  - {id: person, text: "You speak with {{{name}}}.", priority: 1}
  - {id: protocols, title: Tools, text: "{{{activeProtocols}}}"}
"""
TOOLS = """\
category: shop
tools:
  tool_search: {before: none, after: none, next: none, gotcha: none}
  done: {before: none, after: none, next: none, gotcha: none}
  list: {phrases: [show the bread], before: none, after: Name at most five, next: bake, gotcha: none}
  bake: {phrases: [bake a loaf], before: list, after: Say how long it takes, next: sell, gotcha: Twelve at a time}
  sell: {phrases: [sell a loaf], before: list, after: Thank the customer, next: none, gotcha: Prices are in cents}
  drop_loaf: {phrases: [throw a loaf away], before: Ask first, after: Say so, next: none, gotcha: It stays away}
described:
  weigh: {description: Weigh a loaf., phrases: [weigh a loaf]}
"""
DESK = """\
agent: desk
inputs:
  event: {default: "", lifetime: turn}
  retry: {default: "", tier: step}
  who: {type: object, default: {}}
  tone: {default: plain, values: [plain, warm]}
layout:
  heading: "## {{title}}\\n"
  boundary: {marker: "-- changes below --", before: tone}
  groups: {ground: {title: Ground}}
tools: {instructions: tools.yaml, core: [tool_search, done]}
sections:
  - {id: role, text: You sit at the desk of a bakery.}
  - {id: rules, group: ground, title: Rules, budget: 10, text: "First rule.\\nThe second rule is longer.\\nThird."}
  - {id: list, group: ground, title: Tools, tools: {}}
  - id: tone
    choose:
      - {when: {equals: {tone: warm}}, text: Be warm.}
      - {model: "claude-*", text: Be brief.}
      - {when: {input: retry}, text: "Once more, since {{retry}}"}
  - {id: alone, when: {empty: who}, text: "Nobody has asked{{retry}}."}
  - {id: who, title: Who asks, when: who, text: "{{who.name}}, as before", priority: 2}
  - {id: notes, title: Notes, priority: 1, files: {supplied: true, entries: [{path: NOTES.md}, {path: "{{retry}}.md"}]}}
  - {id: event, title: What happened, when: event, text: "{{{event}}}", priority: 3}
  - {id: example, role: user, text: "Example: {{tone}}"}
  - {id: summary, when: conversationSummary, text: "{{{conversationSummary}}}"}
  - {id: now, clock: {precision: minute}}
  - {id: how, title: How, text: "{{{activeProtocols}}}"}
profiles: {small: {exclude: [notes, rules]}}
variants: {night: {exclude_tools: [bake], sections: [{id: role, text: You sit there at night.}]}}
"""
CUES = "  cues: {on_discovery: [before, gotcha], on_result: [after, next], pending: asks}\n"
CARDS = [
    ToolCard(name, "", {"type": "object", "properties": {"size": {"type": "string"}}}) for name in ("bake", "weigh")
]
OWN = ("tool_search", "done", "list", "bake", "sell")


def found(*names: str, call: str | None = "s1") -> ToolResult:
    return ToolResult("tool_search", {"tools": [*names]}, call)


def used(tool: str, call: str | None, **more: Any) -> ToolResult:
    return ToolResult(tool, {"id": f"loaf-{call}", "title": f"Loaf {call}", **more}, call)


@dataclass
class Played:
    """A conversation while it is played, and what each event says that the one before did not."""

    engine: Engine
    chat: Conversation
    lines: list[str] = field(default_factory=list)
    before: dict[str, dict[str, list[Any]]] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    last: Manifest | None = None
    day: int = 0

    def user(self, inputs: Mapping[str, Any] | None = None, *results: ToolResult, **turn: Any) -> None:
        self.day += 1
        call = self.chat.user(Turn(inputs or {}, now=NOW + timedelta(days=self.day), **turn), results)
        self.says("user", "call", call.to_json())

    def step(self, *results: ToolResult, **more: Any) -> None:
        step = self.chat.step(results, **more)
        self.says("step", "step", step.to_json())
        if self.chat.call:
            self.says("", "call", self.chat.call.to_json())
        if self.last:
            compared = compare_manifests(self.last, step.manifest)
            self.lines += [told_of(change) for change in compared.changes if change.kind != "same"]
            first = compared.first_break
            self.lines += [f"  broken at {first}, {first.placement}, {first.tokens} tokens"] if first else []
        self.last = step.manifest

    def search(self, query: str, limit: int | None = None) -> None:
        found = self.chat.search_tools(query, limit)
        self.says(f"search {query!r}", "search", found.to_json())
        self.lines += [f"  {each.code}: {each.message}" for each in found.diagnostics]

    def front(self, *names: str, **more: Any) -> None:
        step = self.chat.in_front(self.chat.step(), names, **more)
        self.says(f"in front {names} {more}", "step", step.to_json())

    def says(self, head: str, kind: str, made: Any) -> None:
        self.lines += [f"=== {head}"] if head else []
        now, before = dict(leaves(json.loads(json.dumps(made)), kind)), self.before.pop(kind, {})
        for path in dict.fromkeys((*before, *now)):
            old, new = before.get(path, []), now.get(path, [])
            matched = SequenceMatcher(None, [*map(str, old)], [*map(str, new)], autojunk=False)
            for what, first, last, start, end in matched.get_opcodes():
                if what != "equal":
                    rows = [self.short(row) for row in new[start:end]]
                    simple = len(rows) < 2 or not isinstance(new[start], dict)
                    self.lines.append(f"{path}[{first}:{last}] {', '.join(rows) if simple else ''}".rstrip())
                    self.lines += [] if simple else [f"  {row}" for row in rows]
        self.before[kind] = now if kind != "search" else {}

    def short(self, row: Any) -> str:
        """A row in which long texts that were told before are cut short."""
        if isinstance(row, dict):
            return ", ".join(f"{key}: {self.short(value)}" for key, value in row.items())
        if isinstance(row, str) and len(row) > LONG:
            if len(row) == 64 and row.isalnum():
                return "sha256"
            if row in self.told:
                return f"{json.dumps(row[:LONG], ensure_ascii=False)} ... {len(row)}"
            self.told.add(row)
        return json.dumps(row, ensure_ascii=False)


def told_of(change: Change) -> str:
    places = f"{change.placement} {change.at_before} -> {change.at_after}"
    tokens = f"{change.tokens_before} -> {change.tokens_after} tokens"
    return f"  {change.kind} {change.id}, {places}, {tokens}: {'; '.join(map(str, change.causes))}"


LONG = 30
KNOWN = {"format", "configuration", "origins", "origin", "inputs", "sha256", "system", "sources", "reads"}
KNOWN |= {"delivery", "active_tools", "initial_tools", "base_tools", "reminder", "shown", "definitions"}
"""What says the same as something else, or always: `tests/cases/stored` has all of it."""
NOTHING: tuple[Any, ...] = (None, "", [], {}, False, 0)


def leaves(made: Any, path: str) -> Iterator[tuple[str, list[Any]]]:
    """What is said, as rows by their path, without what says nothing."""
    if isinstance(made, dict):
        for key, value in made.items():
            if key not in KNOWN or (path == "step.manifest" and key in ("active_tools", "definitions")):
                yield from leaves(value, f"{path}.{key}")
    elif made not in NOTHING:
        yield path, [plain(each) for each in made] if isinstance(made, list) else [made]


def plain(row: Any) -> Any:
    if not isinstance(row, dict):
        return row
    kept = {key: plain(each) for key, each in row.items() if key not in KNOWN}
    return {key: each for key, each in kept.items() if each not in NOTHING}


def come_and_go(talk: Played) -> None:
    """The host loses tools within a run and has them again; one is its own, and one was never known to the model."""
    talk.user(tools=OWN)
    talk.step(found("bake", "sell"), tools=(*OWN, "clock"))
    talk.step(used("bake", "b1"), tools=("tool_search", "done", "list", "sell"))
    talk.step(tools=("tool_search", "done", "list", "sell"))
    talk.step(tools=("tool_search", "done", "list", "sell", "weigh"))
    talk.step(used("sell", "b2"), tools=(*OWN, "clock", "weigh", "drop_loaf"))
    talk.step(found("weigh", "drop_loaf", call="s2"), tools=(*OWN, "weigh", "drop_loaf"))
    talk.user(tools=("tool_search", "done", "list", "weigh"))
    talk.step(tools=("list", "weigh"))
    talk.step(tools=("tool_search", "done", "list", "weigh", "bake"))
    talk.chat.tools_changed(("tool_search", "done", "list", "bake"))
    talk.user()
    talk.step(used("list", "l1"), tools=OWN)
    talk.step(tools=(*OWN, "weigh"))
    talk.chat.tools_changed(("list", "weigh"))
    talk.user(tools=OWN, tools_before=("bake", "weigh"))
    talk.step(tools=(*OWN, "weigh"))
    talk.step(tools=(*OWN, "weigh", "drop_loaf"))


def compacted(talk: Played) -> None:
    """Messages are shortened twice; tools that had no room get some, and one that is away keeps its own."""
    talk.user(discovered=("sell",))
    talk.step(found("bake", "drop_loaf"), used("drop_loaf", "d1"))
    talk.step(found("list", "weigh", call="s2"))
    talk.user(discovered=("list", "weigh"), tools=("tool_search", "done", "list", "weigh", "bake", "sell"))
    talk.step(used("sell", "u1"), found("list", call="s9"))
    talk.chat.compacted(2)
    talk.user(tools=("tool_search", "done", "drop_loaf", "bake", "weigh"))
    talk.step(found("list", call="s3"))
    talk.user()
    talk.step()
    talk.chat.compacted(0)
    talk.user({"event": "It rains."}, ephemeral="Be brief.")
    talk.step(found("sell", "bake", call="s4"), inputs={"retry": "Cold."})
    talk.search("throw a loaf away")
    talk.search("sell a loaf or weigh a loaf", 1)
    for delivery in ("rewrite", "append"):
        talk.user(delivery=delivery)
        talk.step()


def cued(talk: Played) -> None:
    """First results come late, fail, ask for confirmation, have no id, or come with the next message."""
    talk.user(discovered=("weigh",))
    talk.step(found("bake", "sell"), used("bake", "b1", asks=True))
    talk.step(replace(used("sell", "e1"), is_error=True), used("bake", "b2", asks=False))
    talk.user({}, used("sell", "b3"))
    talk.step(found("drop_loaf", call=None))
    talk.step(used("drop_loaf", None), used("list", "l1"))
    talk.user({"name": "Ann"}, found("list", call=None), query="show the bread")
    talk.step(used("list", "l2"), used("list", "l3"))
    talk.step(replace(used("bake", "b3"), batch="x"), replace(used("sell", "b4"), batch="x"))
    talk.chat.compacted()
    talk.user()
    talk.step()


def bounded(talk: Played) -> None:
    """A run fails too often and reaches its limits; definitions stand in front and change."""
    talk.user({"retry": "First."})
    talk.step(found("bake"))
    talk.front("tool_search", "bake")
    talk.step(replace(used("bake", "f1"), is_error=True), replace(used("list", "f2"), is_error=True))
    talk.front("tool_search", "bake", deferred=("list",))
    talk.step(replace(used("bake", "f3"), is_error=True), inputs={"retry": "The oven is cold."})
    talk.front("tool_search", "sell", "done", "list", "a", "b", "c", "d", announced=("weigh",))
    talk.step(used("bake", "f4"), inputs={"retry": "The oven is hot."})
    talk.front("done", "tool_search")
    talk.user({"name": "Zoe"})
    talk.step(used("done", "g1"))
    talk.step(used("list", "g2"), calls={"w": "bake"})
    talk.step(ToolResult("", {"ok": 1}, "w"))
    talk.step(used("", "g2"), calls={"g2": "sell"})


def remembered(talk: Played) -> None:
    """What is remembered comes from the host, from results and from nobody any more."""
    rye = Entity("loaf", "loaf-0", "Rye <dark>", "rye")
    talk.user({"name": "Ann"}, memory=Memory((rye,)))
    talk.step(used("list", "m1"), used("list", "m1"), found("bake"))
    talk.user({"event": "A loaf\u200b fell."})
    talk.chat.remember([Entity("shop", "shop-1", "Corner")])
    talk.step(ToolResult("drop_loaf", {"id": "loaf-m1"}, "d"))
    talk.user()
    talk.chat.forget("rye", type="shop")
    talk.chat.forget("rye")
    talk.user(memory=Memory((Entity("shop", "shop-2", "Market"),)))
    talk.chat.forget()
    talk.user()
    talk.step()


def windowed(talk: Played) -> None:
    """The window over the history moves on, and back; its stored messages hold control characters."""
    said = [
        Message("user" if at % 2 == 0 else "assistant", f"said {at}", id=f"m{at}", speaker="Ann") for at in range(6)
    ]
    for upto in (1, 3, 5):
        talk.user(messages=tuple(replace(each, speaker="A\x07nn") for each in said[: upto - 1]), message=said[upto - 1])
        talk.step(found(("bake", "sell", "list")[upto // 2], call=f"s{upto}"))
    talk.user(messages=(*said[:2], *said[3:]), message=Message("user", "again"), summary=Summary("They met.", 2, "m1"))
    talk.step()
    talk.user(messages=(*said[:4], Message("user", "other"), said[5]), message=Message("user", "again"))
    talk.step()


def seated(talk: Played) -> None:
    """Sections come and go with their inputs, choices, files, profiles and room."""
    notes = {name: FileText(name, f"{name} says: closed on Mondays.\n" * 3) for name in ("NOTES.md", "cold.md")}
    talk.user({"tone": "warm", "event": "A <role> fell."}, files=notes)
    talk.step(found("bake"))
    talk.user({"who": {"name": "Ann"}}, files=notes, model="claude-opus-4-8", summary="They met.")
    talk.step(inputs={"retry": "cold"})
    talk.step(used("bake", "b1"), inputs={"retry": ""})
    talk.user({"who": {"name": "Ann"}, "retry": "No "}, profile="small", variant="night", ephemeral="Whisper.")
    talk.step(found("bake", "sell", call="s2"))
    talk.user({"event": "It rains."}, tools=("tool_search", "done", "sell"), message=Message("user", "And now?"))
    talk.step()


def mixed_up(talk: Played) -> None:
    """Results repeat ids, cannot be read or name what is unknown; a compaction keeps the tools that were used last."""
    talk.user()
    talk.step(found("bake", "nothing"), ToolResult("tool_search", "no names", "u1"), found("a\x1b", "b", call=None))
    talk.step(found("sell", call="s1"), used("bake", "s1"))
    talk.step(used("bake", "x"), used("sell", "x"), found("list", "nothing", "other", call="s2"))
    talk.step(replace(found("drop_loaf", call="e1"), is_error=True), replace(used("list", "e2"), is_error=True))
    talk.user({}, used("list", "s2"))
    talk.step(found("weigh", call="s3"), found("drop_loaf", call="s4"))
    talk.chat.compacted()
    talk.user(tools=(*OWN, "weigh"))
    talk.step()
    talk.step(found("list", call="s5"))
    talk.chat.compacted()
    talk.user(run=RunLimits(kept_tools=0))
    talk.step(used("done", "d1"))


LIMITS = (
    "run: {steps: 4, retries: 1, failures: 3, kept_tools: 2, first_tool: done, force_first: true, always: [list]}\n"
)
HISTORY = "history: {policy: blocks, limit: 4, block: 2, prefix: '[{speaker}] '}\n"
TALKS: list[tuple[str, Callable[[Played], None], DeliveryWish, str]] = [
    ("come_and_go", come_and_go, "append", ""),
    ("come_and_go_rewrite", come_and_go, "rewrite", ""),
    ("come_and_go_frozen", come_and_go, "frozen", ""),
    ("come_and_go_cues", come_and_go, "append", CUES),
    ("compacted", compacted, "append", "budget: {protocols: 60}\n"),
    ("compacted_total", compacted, "append", "budget: {total: 150}\n"),
    ("compacted_rewrite", compacted, "rewrite", "budget: {total: 150}\n"),
    ("compacted_definitions", compacted, "append", "budget: {definitions: 30}\n"),
    ("cued", cued, "append", CUES),
    ("cued_rewrite", cued, "rewrite", CUES),
    ("cued_ahead", cued, "append", f"{CUES}  ahead: {{limit: 1, confidence: 0.1}}\n"),
    ("bounded", bounded, "append", LIMITS),
    ("bounded_rewrite", bounded, "rewrite", LIMITS),
    ("remembered", remembered, "append", ""),
    ("seated", seated, "append", ""),
    ("seated_total", seated, "append", "budget: {total: 200}\n"),
    ("seated_rewrite", seated, "rewrite", "budget: {total: 260}\n"),
    ("mixed_up", mixed_up, "append", f"{CUES}run: {{kept_tools: 2}}\n"),
    ("mixed_up_rewrite", mixed_up, "rewrite", "run: {kept_tools: 2}\n"),
    ("windowed", windowed, "append", HISTORY),
    ("windowed_frozen", windowed, "frozen", HISTORY.replace("blocks, limit: 4, block: 2", "last, limit: 4")),
]


@pytest.mark.parametrize(("name", "play", "delivery", "more"), TALKS, ids=[name for name, *_ in TALKS])
def test_talk(name: str, play: Callable[[Played], None], delivery: DeliveryWish, more: str, tmp_path: Path) -> None:
    agent = DESK if play is seated else AGENT
    of_tools = "".join(line for line in more.splitlines(keepends=True) if line.startswith(" "))
    text = agent.replace("memory:", f"{of_tools}memory:") + more.removeprefix(of_tools)
    engine = opened(tmp_path, text, delivery=delivery, tools_yaml=TOOLS).with_tools(CARDS)
    talk = Played(engine, engine.conversation())
    play(talk)
    made, golden = "\n".join(talk.lines) + "\n", FOLDER / f"{name}.txt"
    if os.environ.get("CUECARD_GOLDEN"):
        golden.write_text(made, encoding="utf-8", newline="\n")

    assert made == golden.read_text(encoding="utf-8")
