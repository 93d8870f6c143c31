"""The promises of docs/guarantees.md, each quoted where it is proved, on lists of sections of every shape."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Call, Engine, Entity, FileText, Memory, Message, Step, ToolCard, ToolResult, Turn
from cuecard.agent import build_agent
from cuecard.config.documents.sources import AgentSources, SourceText
from cuecard.files.clock import utc_now
from cuecard.files.folder import read_agent
from cuecard.types import Summary
from cuecard.workbench.render import split_prompt
from property.engines import counter

NOW = datetime(2026, 11, 21, 9, tzinfo=UTC)
TOOLS = """\
tools:
  tool_search: {before: None required, after: Look, next: none, gotcha: none}
  get_page: {before: Search first, after: Show the page, next: none, gotcha: none}
  put_page: {before: Get the page, after: Say so, next: none, gotcha: none}
"""
Spec = dict[str, Any]


def made(spec: Spec, files: Iterable[tuple[str, str]] = ()) -> Engine:
    """The engine of an agent file that is on no disk; JSON is YAML."""
    sources = AgentSources(
        SourceText("agent.yaml", "agent.yaml", json.dumps(spec)),
        instructions=(SourceText("t.yaml", "t.yaml", TOOLS),) if "tools" in spec else (),
        files=tuple(SourceText(path, path, text) for path, text in files),
    )
    agent = build_agent(sources)
    return Engine(agent, agent.spec.delivery, counter(agent.spec.tokens.encoding), utc_now)


# What a tolerant reader of a prompt takes for its structure.


@dataclass(frozen=True)
class Look:
    """A layout, and how its marks look to somebody who reads the prompt line by line."""

    heading: str
    separator: str
    marker: str
    is_heading: str
    is_line: str


LOOKS = (
    Look("## {{title}}\n", "\n\n", "\n<!-- cache below -->\n", r"##(\s|\Z)", ""),
    Look("[ {{title}} ]\n", "\n\n---\n\n", "\n\n=== DYNAMIC ===\n\n", r"\[(\s|\Z)", r"-{3,}\s*\Z"),
    Look("# {{title}} #\n", "\n* * *\n", "\n%%boundary%%\n", r"#(\s|\Z)", r"\* \* \*\s*\Z"),
)
IDS = ("said", "memory", "summary", "facts", "rows", "files", "told", "deep", "plain", "tail")
BREAKS = "[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]"


@cache
def looking(look: Look, escaping: str = "text") -> Engine:
    """An agent that shows every kind of data under this layout; `tail` writes an element, too."""
    sections: list[Spec] = [
        {"id": "said", "text": "{{{said}}}"},
        {"id": "memory", "text": "{{{workingMemory}}}"},
        {"id": "summary", "text": "{{{conversationSummary}}}"},
        {"id": "facts", "facts": {"others": "facts", "labels": {"said": "Said"}}},
        {"id": "rows", "rows": {"input": "rows", "lines": "keep"}},
        {"id": "files", "files": {"supplied": True, "entries": [{"path": "s.md"}], "item": "{{{content}}}"}},
        {"id": "told", "text": "They said {{{said}}} and\n{{{said}}}\nor so."},
        {"id": "deep", "text": "{{#each rows}}- {{{this}}}\n{{/each}}{{#each facts}}{{{@key}}} {{{this}}}\n{{/each}}"},
        {"id": "plain", "text": "Always here."},
        {"id": "tail", "text": "<rules>\n{{{said}}}\n</rules>{{said}}"},
    ]
    return made(
        {
            "agent": "a",
            "inputs": {
                "said": {"default": ""},
                "facts": {"type": "object", "default": {}},
                "rows": {"type": "list", "default": []},
            },
            "layout": {
                "heading": look.heading,
                "separator": look.separator,
                "escaping": escaping,
                "boundary": {"marker": look.marker, "before": "rows"},
            },
            "sections": [{**section, "title": f"The {section['id']}"} for section in sections],
        }
    )


MARKS = st.sampled_from(
    [
        *("#", "##", "## ", "## The plain", "# ", "[", "[ The plain ]", "-", "---", "- - -", "* * *", "*"),
        *("<!-- cache below -->", "<!-- CACHE", " below -->", "=== DYNAMIC ===", "=== dyn", "amic ===", "%%boundary%%"),
        *(
            "%%bound",
            "ary%%",
            "%",
            "<",
            "\\",
            "\u200b",
            "\u00a0",
            "\u3000",
            " ",
            "   ",
            "    ",
            "\t",
            "\n",
            "\n\n",
            "\r",
        ),
        *("<rules>", "</rules>", "rules", "/", ">", "\u2039", "RULES ", "</context-update>", "context-", "update"),
        *("\r\n", "\u2028", "\u2029", "\x85", "a", "\U000e0041", "{{said}}", "&lt;"),
    ]
)
HOSTILE = st.lists(MARKS, max_size=9).map("".join)
FILES = st.lists(MARKS | st.sampled_from(["\x0c", "\x1d", "\x00", "\x1b["]), max_size=9).map("".join)


def turns() -> st.SearchStrategy[Turn]:
    """Hostile text wherever data comes in."""
    facts = st.dictionaries(st.text("ab#[ -*", min_size=1, max_size=4), HOSTILE, max_size=2)
    return st.builds(
        Turn,
        inputs=st.fixed_dictionaries({"said": HOSTILE, "facts": facts, "rows": st.lists(HOSTILE, max_size=2)}),
        memory=st.builds(Memory, st.lists(st.builds(Entity, HOSTILE, HOSTILE, HOSTILE), max_size=2).map(tuple)),
        summary=st.builds(Summary, HOSTILE),
        files=st.fixed_dictionaries({"s.md": st.builds(FileText, st.just("s.md"), FILES)}),
        now=st.just(NOW),
    )


def lines(text: str) -> list[str]:
    """The lines of any reader, each without the blanks that Markdown allows before a mark."""
    return [re.sub(r"\A\s{0,3}", "", line) for line in re.split(BREAKS, text)]


def cut_up(look: Look, prompt: str) -> tuple[list[str], int, int]:
    """The headings of a prompt, its separators and its boundaries, found by nothing but their looks."""
    found = lines(prompt)
    headings = [line.strip() for line in found if re.match(look.is_heading, line)]
    separators = [line for line in found if look.is_line and re.match(look.is_line, line)]
    return headings, len(separators), prompt.lower().count(look.marker.strip().lower())


@given(turn=turns(), look=st.sampled_from(LOOKS))
def test_promise_3_no_value_can_fake_the_layout(turn: Turn, look: Look) -> None:
    """Any string put into a template comes out as data: it cannot open or close a section."""
    engine = looking(look)
    call = engine.prepare_call(turn)
    step = engine.prepare_step(call)
    speaking = [name for name in IDS if call.prompt.shown[name]]
    behind = [name for name in speaking if IDS.index(name) >= IDS.index("rows")]
    headings, separators, boundaries = cut_up(look, step.system)

    assert headings == [look.heading.replace("{{title}}", f"The {name}").strip() for name in speaking]
    assert separators == (max(0, len(speaking) - len(behind) - 1) + len(behind) - 1 if look.is_line else 0)
    assert boundaries == 1
    bodies = [segment.text for segment in step.segments]
    assert [body.endswith(call.prompt.shown[name]) for body, name in zip(bodies, speaking, strict=True)] == [
        True
    ] * len(bodies)


@given(turn=turns(), later=turns(), escaping=st.sampled_from(["text", "names"]))
def test_promise_3_no_value_can_open_or_close_an_element(turn: Turn, later: Turn, escaping: str) -> None:
    """Any string put into a template comes out as data: it cannot open or close a section, or become a role."""
    engine = looking(LOOKS[0], escaping)
    first = engine.prepare_call(turn)
    step = engine.prepare_step(engine.prepare_call(replace(later, profile=""), previous=first))
    blocks = [block.text for block in step.appended]
    names = re.compile(r"[<\u2039]\s*/?\s*(rules|context-update)(?![-\w.:·])[^>]*>", re.IGNORECASE)
    own = ["rules", "rules"]

    assert [found[1] for found in names.finditer(step.system)] == own
    for block in blocks:
        found = [tag[1] for tag in names.finditer(block)]
        assert found in (["context-update", *own, "context-update"], ["context-update"] * 2)


# Lists of sections of any shape.

SEPARATORS = st.sampled_from(["", " ", "/", "\n", "\n\n", "//", " \n", "\n/", "\n\n---\n\n", "\r\n", "\n ", "."])
BODIES = st.lists(
    st.sampled_from(
        ["", " ", "/", "\n", "\n\n", "//", "a", "the", " the", "1", "22", "...", "'s", "\u00e9", "\U0001f3ac", "\t"]
    ),
    max_size=6,
).map("".join)
SMALL = st.sampled_from(["", "one", "two words", "a line\nand another\nand a third", " ", "/path", "x\n"])
NUMBERS = tuple(f"s{number}" for number in range(6))


@st.composite
def layouts(draw: st.DrawFn) -> Spec:
    layout: Spec = {
        "heading": draw(st.sampled_from(["", "## {{title}}\n", "{{title}}", "\n{{title}}: ", "/{{title}}/"])),
        "separator": draw(SEPARATORS),
        "trim": draw(st.booleans()),
    }
    if draw(st.booleans()):
        layout["boundary"] = {
            "marker": draw(st.sampled_from(["\n<!-- x -->\n", "<<x>>", "//--", "\n--/\n//"])),
            "before": draw(st.sampled_from(NUMBERS)),
        }
    return layout


SAID: st.SearchStrategy[Any] = st.tuples(
    st.sampled_from([{}, {"title": "T"}]),
    st.sampled_from([{}, {}, {"when": "s0"}, {"when": {"not": "s1"}}, {"when": {"tool": "map"}}]),
    st.sampled_from([{}, {}, {"priority": 1}, {"priority": 2}]),
    st.sampled_from([{}, {}, {"budget": 1}, {"budget": 3}]),
    st.sampled_from([{}, {}, {}, {"role": "user"}, {"role": "assistant"}]),
)
"""What is said of a section; made once, because a strategy is checked when it draws for the first time."""
SOME = st.lists(st.sampled_from(NUMBERS), unique=True)


@st.composite
def shapes(draw: st.DrawFn) -> Spec:
    """An agent of six sections that read an input each, with conditions, budgets, priorities, roles and profiles."""
    sections = []
    for name in NUMBERS:
        section: Spec = {"id": name, "text": f"{{{{{{{name}}}}}}}"}
        for more in draw(SAID):
            section |= more
        sections.append(section)
    spec: Spec = {
        "agent": "a",
        "layout": draw(layouts()),
        "inputs": {name: {"default": "", "trust": "author"} for name in NUMBERS},
        "sections": sections,
        "profiles": {"p": {"include": draw(SOME)}},
        "variants": {"v": {"exclude": draw(SOME), "sections": [{"id": "s2", "text": "Patched."}]}},
        "budget": draw(st.sampled_from([{}, {}, {"total": 1}, {"total": 9}])),
    }
    return spec


VALUES = st.fixed_dictionaries(dict.fromkeys(NUMBERS, SMALL))
CHOSEN = st.tuples(st.sampled_from(["", "p"]), st.sampled_from(["", "v"]))


@given(layout=layouts(), bodies=st.fixed_dictionaries(dict.fromkeys(NUMBERS, BODIES)), data=st.data())
def test_promise_6_exact_sums(layout: Spec, bodies: dict[str, str], data: st.DataObject) -> None:
    """The token count of the prompt is the sum of its sections' counts, for the bundled encodings."""
    encoding = data.draw(st.sampled_from(["o200k_base", "cl100k_base"]))
    spec: Spec = {
        "agent": "a",
        "layout": layout,
        "tokens": {"encoding": encoding},
        "inputs": {name: {"default": "", "trust": "author"} for name in NUMBERS},
        "sections": [{"id": name, "title": name, "text": f"{{{{{{{name}}}}}}}"} for name in NUMBERS],
    }
    engine = made(spec)
    step = engine.prepare_step(engine.prepare_call(Turn(bodies, now=NOW)))

    assert sum(segment.tokens for segment in step.segments) == engine.count(step.system) == step.manifest.tokens.system
    assert "".join(segment.text for segment in step.segments) == step.system


@given(spec=shapes(), values=VALUES, chosen=CHOSEN)
def test_promise_7_no_silent_cut(spec: Spec, values: dict[str, str], chosen: tuple[str, str]) -> None:
    """Whatever a budget, a condition, a trust rule or a missing file left out is in the manifest, with the reason."""
    engine = made(spec)
    call = engine.prepare_call(Turn(values, now=NOW, profile=chosen[0], variant=chosen[1]))
    step = engine.prepare_step(call)
    shown = [segment.id for segment in step.segments] + [message.id for message in step.messages if message.id]
    cuts = {cut.what: cut.reason for cut in step.manifest.cuts}
    total = spec["budget"].get("total", 10**9)

    assert set(NUMBERS) <= {*shown, *cuts}
    assert all(cuts.values())
    assert len(shown) == len(set(shown))
    assert {segment.id for segment in step.segments} & {message.id for message in step.messages} == set()
    assert not any(cut.what in shown and not cut.reason.startswith("budget: ") for cut in step.manifest.cuts)
    removable = [s["id"] for s in spec["sections"] if "priority" in s and s.get("role", "system") == "system"]
    assert step.manifest.tokens.system <= total or not {segment.id for segment in step.segments} & set(removable)
    for section in spec["sections"]:
        assert engine.count(call.prompt.shown.get(section["id"], "")) <= section.get("budget", 10**9)


@given(spec=shapes(), values=VALUES, chosen=CHOSEN)
def test_promise_4_same_inputs_same_bytes(spec: Spec, values: dict[str, str], chosen: tuple[str, str]) -> None:
    """Equal spec and turn give equal prompt, manifest and fingerprints, on any machine."""
    turn = Turn(values, now=NOW, profile=chosen[0], variant=chosen[1], message=Message("user", "Hi"))
    one, other = made(spec), made(json.loads(json.dumps(spec)))
    call = one.prepare_call(turn)

    assert one.prepare_step(call) == other.prepare_step(Call.from_json(json.loads(json.dumps(call.to_json()))))
    assert call.to_json() == other.prepare_call(turn).to_json()


@cache
def on_disk(name: str) -> Path:
    """A list of sections with layers, texts, files, skills and tools, in a folder of this name."""
    folder = Path(mkdtemp()) / name
    for path, text in {
        "org/agent.yaml": "agent: a\nsections: [{id: rules, title: Rules, text: Be kind.}]\nbudget: {total: 900}\n",
        "mine/agent.yaml": """\
extends: ../org
layout: {heading: "## {{title}}\\n", boundary: {marker: "\\n<!-- x -->\\n", before: one}}
tools: {instructions: t.yaml, core: [tool_search]}
inputs: {one: {default: ""}, two: {default: ""}, who: {default: ""}, mode: {default: ""}}
sections:
  - {id: text, title: Text, file: text.md}
  - {id: notes, title: Notes, files: {entries: [{path: n.md}, {path: gone.md}]}}
  - {id: skills, title: Skills, skills: {roots: [skills]}}
  - {id: one, title: One, text: "{{{one}}}"}
  - {id: two, title: Two, when: two, text: "{{{two}}}"}
  - {id: who, role: user, text: "{{{who}}}"}
  - {id: memory, title: Memory, text: "{{{workingMemory}}}"}
  - {id: time, title: Time, clock: {zone: UTC}}
  - {id: p, title: Tools, text: "{{{activeProtocols}}}"}
profiles: {lean: {exclude: [two, memory, notes]}}
""",
        "mine/text.md": "A text.\n",
        "mine/n.md": "A note.\n",
        "mine/skills/bake/SKILL.md": "---\nname: bake\ndescription: Bakes bread\n---\nKnead.\n",
        "mine/skills/brew/SKILL.md": "---\nname: brew\ndescription: Brews tea\n---\nBoil.\n",
        "mine/t.yaml": TOOLS,
    }.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return folder / "mine"


@cache
def sha256_of(name: str) -> str:
    return read_agent(on_disk(name)).sha256()


@cache
def engine() -> Engine:
    return Engine.open(on_disk("here"))


@cache
def elsewhere() -> Engine:
    return Engine.open(on_disk("there and further"))


PROFILES = st.sampled_from(["", "", "lean"])
FOUND = st.lists(st.lists(st.sampled_from(["get_page", "put_page", "nowhere"]), max_size=2), max_size=2)
TALKS = st.lists(st.tuples(PROFILES, SMALL, SMALL, SMALL, FOUND, st.integers(0, 3)), min_size=1, max_size=5)
Talk = list[tuple[str, str, str, str, list[list[str]], int]]


def play(one: Engine, talk: Talk) -> list[Step]:
    """Every step of a conversation, whose messages the host hands over each time."""
    history: list[ToolResult] = []
    said: tuple[Message, ...] = ()
    previous: Call | None = None
    steps, now = [], NOW
    for number, (profile, first, second, who, searches, hours) in enumerate(talk):
        now += timedelta(hours=hours)
        message = Message("user", f"Message {number}", id=str(number))
        inputs = {"one": first, "two": second, "who": who}
        turn = Turn(inputs, now=now, profile=profile, messages=said, message=message)
        call = one.prepare_call(turn, history, previous=previous)
        steps.append(one.prepare_step(call, history))
        for names in searches:
            history.append(ToolResult("tool_search", {"tools": names}, f"call-{len(history)}"))
            steps.append(one.prepare_step(call, history))
        said = (*said, message, Message("assistant", f"Answer {number}", id=f"a{number}"))
        previous = Call.from_json(json.loads(json.dumps(call.to_json())))
    return steps


@given(talk=TALKS)
def test_promises_4_and_5_on_any_machine_and_append_only(talk: Talk) -> None:
    """Equal spec and turn give equal prompt, manifest and fingerprints, on any machine.

    Under `append` delivery, the serialized request n starts with the serialized request n-1.
    """
    steps = play(engine(), talk)

    assert sha256_of("here") == sha256_of("there and further")
    assert steps == play(elsewhere(), talk)
    for before, after in pairwise(steps):
        assert after.system == before.system
        assert after.messages[: len(before.messages)] == before.messages
        assert after.appended[: len(before.appended)] == before.appended
        assert after.messages[0].content == after.system


@given(talk=TALKS)
def test_what_the_model_saw_last_of_a_section_is_what_holds(talk: Talk) -> None:
    step = play(engine(), talk)[-1]
    profile, first, second, *_ = talk[-1]
    hours = sum(each[-1] for each in talk)
    fresh = engine().prepare_call(
        Turn({"one": first, "two": second}, now=NOW + timedelta(hours=hours), profile=profile)
    )
    whole = step.system + "".join(block.text for block in step.appended)

    for name, title in (("rules", "Rules"), ("one", "One"), ("two", "Two"), ("time", "Time")):
        body, seen = fresh.prompt.shown.get(name, ""), whole.rfind(f"## {title}\n")
        gone = [at.start() for at in re.finditer(rf"<withdrawn-sections>\n(.*, )?{title}(, .*)?\n</", whole)]
        if body:
            assert whole[seen:].startswith(f"## {title}\n{body}")
            assert not gone or gone[-1] < seen
        else:
            assert seen < 0 or gone[-1] > seen


@given(first=SMALL, second=SMALL, other=SMALL, mode=PROFILES, hours=st.integers(0, 30))
def test_only_stable_inputs_change_the_stable_text(first: str, second: str, other: str, mode: str, hours: int) -> None:
    """The text before the boundary is the same bytes, whatever stands behind it."""
    one = engine()
    calls = [
        one.prepare_call(Turn({"one": first}, now=NOW, profile=mode)),
        one.prepare_call(
            Turn({"one": second, "two": other, "who": other}, now=NOW + timedelta(hours=hours), profile=mode)
        ),
    ]
    before, after = (split_prompt(one.agent, call, one.prepare_step(call)) for call in calls)

    assert before.stable_text == after.stable_text
    assert before.stable_sha256 == after.stable_sha256
    assert before.full_text == before.stable_text + before.boundary + before.dynamic_text


@given(talk=TALKS)
def test_under_rewrite_a_conversation_says_what_a_fresh_call_says(talk: Talk) -> None:
    spare = ToolCard("spare")  # which nobody finds, so that each call has a search
    rewriting = replace(engine().with_tools([spare]), delivery="rewrite")
    last = play(rewriting, talk)[-1]
    profile, first, second, who, *_ = talk[-1]
    found = [name for each in talk for names in each[4] for name in names if name != "nowhere"]
    turn = Turn(
        {"one": first, "two": second, "who": who},
        now=NOW + timedelta(hours=sum(each[-1] for each in talk)),
        profile=profile,
        discovered=tuple(dict.fromkeys(found)),
    )

    assert last.system == rewriting.prepare_step(rewriting.prepare_call(turn)).system
    assert last.appended == ()
