"""MisterMorph with any files and values: the same bytes each time, nothing twice, nothing gone without a record."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Call, Engine, FileText, Message, Step, Turn
from cuecard.types import Json
from property.alphabets import VISIBLE

AGENT = Path(__file__).parents[2] / "prompts/mistermorph/agent.yaml"
PERSONA = "state/IDENTITY.md", "state/SOUL.md"

WORDS = st.text(VISIBLE, max_size=20)
LINES = st.lists(WORDS | st.sampled_from(["## Rules", "[ Memory ]", "---", "status: draft", "<Memory:X>"]), max_size=4)
TEXTS = LINES.map("\n".join)
FILES = st.dictionaries(
    st.sampled_from([*PERSONA, "state/SCRIPTS.md"]),
    st.one_of(st.none(), TEXTS, TEXTS.map("---\nstatus: draft\n---\n{}".format)),
)
MEMORIES = st.lists(st.fixed_dictionaries({"date": st.dates().map(str), "summary": TEXTS, "path": WORDS}), max_size=5)
INPUTS = st.fixed_dictionaries(
    {
        "channel": st.sampled_from(["", "telegram", "slack", "line", "lark", "irc"]),
        "is_group": st.booleans(),
        "mention_users": st.lists(TEXTS, max_size=2),
        "memory_long_term": TEXTS,
        "memory_recent": MEMORIES,
        "skills": st.sampled_from([[], ["*"], ["invoices"]]),
    }
)
TOOLS = st.none() | st.lists(st.sampled_from(["plan_create", "todo_update", "read_file"]), unique=True).map(tuple)
HISTORY = st.lists(st.builds(Message, st.sampled_from(["system", "user", "assistant"]), TEXTS), max_size=4).map(tuple)


METADATA = st.dictionaries(WORDS, TEXTS, max_size=2)
TASKS = st.none() | st.builds(Message, st.just("user"), TEXTS)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    files = {path: FileText(path, text) for path, text in draw(FILES).items()}
    return Turn(
        draw(INPUTS),
        tools=draw(TOOLS),
        files=files,
        messages=draw(HISTORY),
        metadata=draw(METADATA),
        message=draw(TASKS),
    )


@cache
def engine() -> Engine:
    return Engine.open(AGENT)


def made(turn: Turn, opened: Engine | None = None) -> tuple[Call, Step]:
    call = (opened or engine()).prepare_call(turn)
    return call, (opened or engine()).prepare_step(call)


@given(turns())
def test_the_same_turn_gives_the_same_bytes(turn: Turn) -> None:
    once, again = made(turn)[1], made(turn, _second())[1]

    assert once.messages == again.messages
    assert once.manifest == again.manifest


@cache
def _second() -> Engine:
    return Engine.open(AGENT)


@given(turns(), turns())
def test_persona_tools_and_skills_do_not_change_with_channel_memory_and_history(one: Turn, other: Turn) -> None:
    mixed = Turn(
        {**other.inputs, "skills": one.inputs["skills"]},
        tools=one.tools,
        files=one.files,
        messages=other.messages,
        metadata=other.metadata,
        message=one.message,
    )
    (call, first), (other_call, second) = made(one), made(mixed)
    stays = {"persona", "available_tools", "available_skills", "local_tool_notes", "response_format", "rules"}

    assert _bodies(call, stays) == _bodies(other_call, stays)
    assert "".join(segment.text for segment in first.segments) == first.system
    assert [s.sha256 for s in first.segments if s.id == "rules"] == [
        s.sha256 for s in second.segments if s.id == "rules"
    ]


def _bodies(call: Call, names: set[str]) -> dict[str, str]:
    return {name: text for name, text in call.prompt.shown.items() if name in names}


@given(turns())
def test_the_default_identity_appears_exactly_where_no_persona_file_is_used(turn: Turn) -> None:
    call, step = made(turn)
    used = [row.name for row in call.record.sources if row.path in PERSONA and row.status == "loaded"]

    assert ("You are MisterMorph, an assistant" in step.system) == (not used)
    assert [name for name in ("IDENTITY.md", "SOUL.md") if f">>> BEGIN OF {name} <<<\n" in step.system] == used


@given(turns())
def test_headings_come_from_the_layout_alone(turn: Turn) -> None:
    call, step = made(turn)
    authored = {"persona", "local_tool_notes"}  # people write these files, with headings of their own
    there = [s for s in engine().agent.spec.sections if call.prompt.shown.get(s.id)]
    titles = [s.title for s in there if not s.group]
    groups = [s.title for s in there if s.group]
    lines = "".join(segment.text for segment in step.segments if segment.id not in authored).split("\n")
    skipped = {"Persona", "Local Tool Notes"}

    found = [line for line in lines if line.startswith("## ")]
    assert [line for line in found if line != "## Additional Context"] == [
        f"## {t}" for t in titles if t not in skipped
    ]
    assert [line for line in lines if line.startswith("[ ")] == [f"[ {t} ]" for t in groups if t not in skipped]


MARK = "Wq7zXk"


@given(turns(), st.sampled_from([*PERSONA, "state/SCRIPTS.md", "memory_long_term", "history", "task", "metadata"]))
def test_nothing_appears_twice_or_vanishes_without_a_record(turn: Turn, place: str) -> None:
    call, step = made(_with(turn, place))
    everything = "".join(str(message.content) for message in step.messages)

    assert everything.count(MARK) == (0 if _recorded(call, place) else 1)


def _with(turn: Turn, place: str) -> Turn:
    inputs: dict[str, Json] = dict(turn.inputs)
    files, messages, metadata, message = dict(turn.files), turn.messages, dict(turn.metadata), turn.message
    if place.startswith("state/"):
        old = files.get(place)
        files[place] = FileText(place, f"{(old and old.text) or ''}\n{MARK}")
    elif place == "memory_long_term":
        inputs[place] = MARK
    elif place == "history":
        messages = (*messages, Message("user", MARK))
    elif place == "task":
        message = Message("user", MARK)
    else:
        metadata["note"] = MARK
    return Turn(inputs, tools=turn.tools, files=files, messages=messages, metadata=metadata, message=message)


def _recorded(call: Call, place: str) -> bool:
    """Whether the manifest says that it is not there."""
    told = {cut.what for cut in call.record.cuts}
    name = place.rpartition("/")[2]
    return bool(told & {f"file {name}", "history message", f"metadata {place}", place})
