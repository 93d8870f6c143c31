"""MushroomAgent with any files and values: the same bytes, limits that hold, layers in their order, nothing lost."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Call, Engine, FileText, Message, Step, Turn
from cuecard.types import Json
from property.alphabets import VISIBLE
from stable import stable_text

AGENT = Path(__file__).parents[2] / "prompts/mushroom/agent.yaml"
NOW = datetime(2026, 11, 20, 9, tzinfo=UTC)
NAMES = ("AGENTS.md", "SOUL.md", "IDENTITY.md")

WORDS = st.text(VISIBLE, max_size=12)
TEXTS = st.lists(WORDS | st.sampled_from(["## SOUL.md", "# Workspace Context", "</skill>"]), max_size=4).map("\n".join)
FILES = st.dictionaries(
    st.sampled_from([*NAMES, *(f"prompts/{name}" for name in NAMES), "HEARTBEAT.md"]),
    st.none() | st.builds(lambda text, times: (text + "x") * times, TEXTS, st.sampled_from([0, 1, 200, 900])),
)
INPUTS = st.fixed_dictionaries(
    {
        "user_name": TEXTS,
        "persona": WORDS,
        "skills_enabled": st.booleans(),
        "knowledge": st.lists(st.fixed_dictionaries({"text": TEXTS, "source": TEXTS}), max_size=2),
        "conversation_topics": st.lists(st.fixed_dictionaries({"topic": WORDS, "summary": TEXTS}), max_size=2),
        "response_format": st.sampled_from(["", "json_object"]),
        "channel": WORDS,
        "heartbeat": st.booleans(),
        "turn_variables": st.dictionaries(WORDS, TEXTS, max_size=2),
        "skip_context_files": st.booleans(),
    }
)
HISTORY = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), TEXTS, speaker=WORDS, timestamp=WORDS), max_size=15
).map(tuple)


VARIANTS = st.sampled_from(["", "sub-agent"])


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    return Turn(
        draw(INPUTS),
        now=NOW,
        variant=draw(VARIANTS),
        files={path: FileText(path, text) for path, text in draw(FILES).items()},
        messages=draw(HISTORY),
        message=Message("user", draw(TEXTS)),
        ephemeral=draw(TEXTS),
    )


@cache
def engine(number: int = 0) -> Engine:
    """The agent, opened once for each number."""
    assert number >= 0
    return Engine.open(AGENT)


def made(turn: Turn, number: int = 0) -> tuple[Call, Step]:
    call = engine(number).prepare_call(turn)
    return call, engine(number).prepare_step(call)


@given(turns())
def test_the_same_turn_gives_the_same_bytes(turn: Turn) -> None:
    first, second = made(turn)[1], made(turn, 1)[1]

    assert (first.messages, first.manifest) == (second.messages, second.manifest)


@given(turns(), turns())
def test_the_stable_text_is_the_same_for_every_turn(one: Turn, other: Turn) -> None:
    texts = {stable_text(made(turn)[1]) for turn in (one, other)}

    assert len(texts) == 1


@given(turns())
def test_layers_keep_their_order(turn: Turn) -> None:
    written = [section.id for section in engine().agent.sections]
    shown = [segment.id for segment in made(turn)[1].segments]

    assert shown == [name for name in written if name in shown]


@given(turns())
def test_files_keep_to_their_limits(turn: Turn) -> None:
    call, step = made(turn)
    rows = [row for row in call.record.sources if row.name in NAMES]
    text = "".join(segment.text for segment in step.segments if segment.id == "workspace_context")

    assert all(row.characters <= 4000 for row in rows)
    assert sum(row.characters for row in rows) <= 12_000
    assert len(text) <= 12_000 + 700  # what the layout writes around them
    assert bool(text) == any(row.characters for row in rows)


@given(turns())
def test_no_value_makes_a_heading(turn: Turn) -> None:
    call, step = made(turn)
    ours = {"workspace_context", "heartbeat", "persona"}  # raw, because they are the owner's
    text = "".join(segment.text for segment in step.segments if segment.id not in ours)
    titles = [
        s.title for s in engine().agent.spec.sections if call.prompt.shown.get(s.id) and s.id not in ours and s.title
    ]

    assert re.findall(r"^##? .*", text, re.MULTILINE) == [f"## {title}" for title in titles]


MARK = "Wq7zXk"
PLACES = [*NAMES, "HEARTBEAT.md", "user", "knowledge", "topic", "variable", "ephemeral", "history", "message"]


@given(turns(), st.sampled_from(PLACES))
def test_nothing_appears_twice_or_vanishes_without_a_record(turn: Turn, place: str) -> None:
    call, step = made(_with(turn, place))
    blocks = (block.text for block in step.appended)
    everything = "".join([*(str(message.content) for message in step.messages), *blocks])
    section = {"knowledge": "knowledge_context", "topic": "conversation_summary", "HEARTBEAT.md": "heartbeat"}
    section |= dict.fromkeys(NAMES, "workspace_context")
    left_out = section.get(place) in {cut.what for cut in call.record.cuts}

    assert everything.count(MARK) == (0 if left_out else 1)


def _with(turn: Turn, place: str) -> Turn:
    inputs: dict[str, Json] = dict(turn.inputs)
    files, history, said, ephemeral = dict(turn.files), turn.messages, turn.message, turn.ephemeral
    if place.endswith(".md"):
        files[place] = FileText(place, MARK)
    elif place == "user":
        inputs["channel"] = MARK
    elif place == "knowledge":
        inputs["knowledge"] = [{"text": MARK, "source": ""}]
    elif place == "topic":
        inputs["conversation_topics"] = [{"topic": MARK, "summary": "x"}]
    elif place == "variable":
        inputs["turn_variables"] = {"x": MARK}
    elif place == "ephemeral":
        ephemeral = MARK
    elif place == "history":
        history = (*history, Message("user", MARK))
    else:
        said = Message("user", MARK)
    return Turn(inputs, now=NOW, variant=turn.variant, files=files, messages=history, message=said, ephemeral=ephemeral)
