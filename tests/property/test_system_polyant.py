"""What holds for every turn of the shipped Polyant agent, whatever a host, a user or a shop puts into it."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import Call, Engine, Gates, Message, Step, Turn
from stable import stable_text

ROOT = Path(__file__).parents[2]
POLYANT = ROOT / "prompts" / "polyant"
CACHED = ROOT / "tests" / "cases" / "systems" / "polyant" / "what_seldom_changes_can_stand_first"
STATIC = ("01-identity", "02-soul", "04-safety", "07-user-identity")
NOW = datetime(2026, 11, 20, tzinfo=UTC)
SEPARATOR = "\n\n---\n\n"


@cache
def engine(agent: Path = POLYANT) -> Engine:
    return Engine.open(agent)


@cache
def again(agent: Path = POLYANT) -> Engine:
    return Engine.open(agent)


CONTROLS = "".join(chr(code) for code in range(32) if chr(code) not in "\t\n\r")
ANY = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=CONTROLS), max_size=40)
HOSTILE = st.lists(
    st.sampled_from(["---", "\n", "\n\n---\n\n", "## Safety", "## ", "\r", "\u2028", " ", "a", "</available_skills>"]),
    max_size=8,
).map("".join)
TEXT = st.one_of(ANY, HOSTILE)
INPUTS = st.fixed_dictionaries(
    {},
    optional={
        "channel": TEXT,
        "channelId": TEXT,
        "userName": TEXT,
        "context": TEXT,
        "event": st.dictionaries(st.sampled_from(["type", "more"]), TEXT).map(
            lambda event: {
                "order": {"number": "A-1", "customer": event.get("more", ""), "total": 1},
                "type": "",
                **event,
            }
        ),
        "memoryEnabled": st.booleans(),
    },
)
TIMES = st.integers(0, 10**6).map(lambda minutes: NOW + timedelta(minutes=minutes))
GATES = st.builds(
    Gates,
    enabled=st.sampled_from([(), ("webSearch", "readSkill"), ("spawnTask",)]),
    harness=st.sampled_from([(), ("supervisor",), ("supervisor", "room"), ("webhook",)]),
    flags=st.sampled_from([{}, {"memory": False}, {"knowledge": False}]),
    secrets=st.sampled_from([None, (), ("SEARCH_API_KEY",)]),
)
MESSAGES = st.integers(0, 30).map(
    lambda count: tuple(Message("assistant" if n % 2 else "user", f"<message {n}>") for n in range(count))
)
TURNS = st.builds(
    Turn,
    inputs=INPUTS,
    now=TIMES,
    tools=st.sampled_from([None, (), ("webSearch",), ("searchMemory", "spawnTask", "unknown")]),
    gates=GATES,
    environment=st.sampled_from([(), ("BILLING_TOKEN",)]),
    profile=st.sampled_from(["", "sub-agent", "sub-agent-alone"]),
    variant=st.sampled_from(["", "order-placed"]),
    messages=MESSAGES,
    summary=TEXT,
    message=st.one_of(st.none(), TEXT.map(lambda text: Message("user", text))),
)


def made(turn: Turn, agent: Path = POLYANT) -> tuple[Call, Step]:
    call = engine(agent).prepare_call(turn)
    return call, engine(agent).prepare_step(call)


@given(TURNS)
def test_the_same_turn_gives_the_same_bytes_also_from_another_engine(turn: Turn) -> None:
    other = again()
    first, second = made(turn)[1], other.prepare_step(other.prepare_call(turn))

    assert first.system == second.system
    assert first.messages == second.messages
    assert first.manifest == second.manifest


@given(TURNS)
def test_no_gates_give_a_sub_agent_a_tool_that_its_profile_excludes(turn: Turn) -> None:
    call, step = made(turn)

    assert not (turn.profile and "spawnTask" in (*call.tools.available, *step.active_tools))
    assert not (turn.profile and "**spawnTask**" in step.system)


@given(TURNS)
def test_a_prompt_is_its_sections_in_their_order_with_separators_between_them(turn: Turn) -> None:
    call, step = made(turn)
    sections = engine().agent.spec.sections
    said = [section for section in sections if call.prompt.shown.get(section.id)]

    assert step.system == SEPARATOR.join(
        (f"## {section.title}\n\n" if section.title else "") + call.prompt.shown[section.id] for section in said
    )


@given(TURNS)
def test_no_value_makes_a_separator_or_a_heading_of_its_own(turn: Turn) -> None:
    call, step = made(turn)
    said = [name for name, text in call.prompt.shown.items() if text]
    lines = re.split(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]", step.system)

    assert sum(line.strip() == "---" for line in lines) == len(said) - 1
    assert sum(line.lstrip().startswith("## ") for line in lines) == len(said)
    assert step.system.count("</available_skills>") == ("05-skills" in said)


@given(TURNS, TURNS)
def test_the_static_sections_are_the_same_in_every_turn(one: Turn, other: Turn) -> None:
    first, second = made(one)[0].prompt.shown, made(other)[0].prompt.shown

    assert [n for n in STATIC if n in first and n in second and first[n] != second[n]] == []
    assert {"01-identity", "02-soul", "04-safety"} <= first.keys() & second.keys()


@given(TURNS, TURNS)
def test_before_a_boundary_no_turn_changes_anything(one: Turn, other: Turn) -> None:
    texts = {
        (turn.profile, stable_text(made(turn, CACHED)[1]))
        for turn in (one, other, Turn(now=NOW, profile=one.profile), Turn(now=NOW, profile=other.profile))
    }

    assert len(texts) == len({one.profile, other.profile})


@given(TURNS)
def test_a_message_is_sent_once_or_has_a_cut(turn: Turn) -> None:
    call, step = made(turn)
    sent = [m.content for m in call.prompt.messages if isinstance(m.content, str) and m.content.startswith("<message")]
    missing = set[int]()
    for cut in step.manifest.cuts:
        if found := re.fullmatch(r"history messages? (\d+)(?: to (\d+))?", cut.what):
            missing |= set(range(int(found[1]), int(found[2] or found[1]) + 1))

    assert sent == [m.content for n, m in enumerate(turn.messages, 1) if n not in missing]
    assert len(sent) == (len(turn.messages) if len(turn.messages) <= 15 else 10)


WORDS = st.lists(st.text("abcdefgh", min_size=12, max_size=12), min_size=4, max_size=4, unique=True)


@given(WORDS, st.sampled_from(["", "sub-agent", "sub-agent-alone"]), st.integers(0, 20))
def test_a_text_of_the_host_appears_in_the_prompt_once_or_the_manifest_says_why_not(
    words: list[str], profile: str, count: int
) -> None:
    named = dict(zip(("channelId", "userName", "context"), words[:3], strict=True))
    messages = tuple(Message("user", f"{n}") for n in range(count))
    turn = Turn(inputs={"channel": "room", **named}, now=NOW, profile=profile, summary=words[3], messages=messages)
    _, step = made(turn)
    cuts = {cut.what for cut in step.manifest.cuts}
    homes = ("current-channel", "current-channel", "conversation-context", "conversation-summary")
    shown = "".join([step.system, *(block.text for block in step.appended)])

    for word, home in zip(words, homes, strict=True):
        assert shown.count(word) == (home not in cuts)


@pytest.mark.parametrize("tools", [None, (), ("webSearch",)])
def test_every_tool_is_listed_or_has_a_cut(tools: tuple[str, ...] | None) -> None:
    call, step = made(Turn(now=NOW, tools=tools))
    wanted = engine().tools if tools is None else tools
    cuts = {cut.what for cut in step.manifest.cuts}

    assert [n for n in wanted if (f"- **{n}**: " in call.prompt.shown["03-tooling"]) == (f"tool {n}" in cuts)] == []
