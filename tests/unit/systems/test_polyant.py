"""Polyant's specification beyond one prompt: windows over time, runs of several kinds, what a turn leaves behind."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cuecard import Call, Engine, Gates, Message, ToolResult, Turn, compare_manifests
from cuecard.config.history_spec import HistorySpec
from cuecard.files.summarizer import summarize
from cuecard.pipeline.history.selection import apply_summary, summary_due
from cuecard.types import Summary, SummaryRequest
from cuecard.workbench.step import call_from
from unit.pipeline.history.chat import assistant, talk, texts, user, words

ROOT = Path(__file__).parents[3]
POLYANT = ROOT / "prompts" / "polyant"
NOW = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
SUPERVISOR = Gates(harness=("supervisor",))
SEPARATOR = "\n\n---\n\n"
EIGHT = [
    "01-identity",
    "02-soul",
    "03-tooling",
    "04-safety",
    "05-skills",
    "06-memory",
    "07-user-identity",
    "08-datetime",
]
BLOCKS = ["current-channel", "conversation-context", "conversation-summary"]
NOTE = (
    "Note: this is a summary of earlier messages. When tool results from the current turn contain data (dates, names, "
    "figures), always use the current tool results — they take precedence over this summary."
)
"""The note with which Polyant closes a summary, word for word."""

EVERYTHING = Turn(
    now=NOW,
    inputs={"channel": "telegram", "channelId": "7", "context": "An event."},
    messages=tuple(talk(16)),
    summary="They greeted each other.",
    message=user("Go on."),
    gates=SUPERVISOR,
)


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(POLYANT, delivery="rewrite")  # the form of the system itself


@pytest.fixture(scope="module")
def room() -> Engine:
    return Engine.open(POLYANT / "room.yaml", delivery="rewrite")


def system(engine: Engine, turn: Turn) -> str:
    return engine.prepare_step(engine.prepare_call(turn)).system


def bodies(call: Call) -> dict[str, str]:
    return {name: text for name, text in call.prompt.shown.items() if text}


def from_file(engine: Engine, turn: str) -> Call:
    return call_from(engine, discovered="", values=[], turn=POLYANT / "turns" / f"{turn}.yaml")[0]


def policy(engine: Engine) -> HistorySpec:
    assert engine.agent.spec.history is not None
    return engine.agent.spec.history


def test_the_system_prompt_is_a_join_of_eight_sections_in_a_fixed_order(engine: Engine) -> None:
    call = engine.prepare_call(Turn(now=NOW))

    assert list(bodies(call)) == EIGHT
    assert "".join(segment.text for segment in call.prompt.segments) == SEPARATOR.join(bodies(call).values())


def test_every_section_has_a_text_of_its_own_that_can_be_edited(engine: Engine) -> None:
    files = {section.id: section.file for section in engine.agent.spec.sections[:8]}

    assert files == {name: f"sections/{name}.md" for name in EIGHT}


def test_the_three_blocks_follow_the_eighth_section_in_their_order(engine: Engine) -> None:
    call = engine.prepare_call(EVERYTHING)
    prompt = system(engine, EVERYTHING)

    assert list(bodies(call)) == [*EIGHT, *BLOCKS]
    assert prompt.count(SEPARATOR) == 10
    assert prompt.split(SEPARATOR)[8:] == [
        "## Current channel\n\nYou are talking via telegram.\n- Channel ID: 7\n- User name: unknown",
        "## Conversation Context\n\nAn event.",
        f"## Previous conversation context (summary)\n\nThey greeted each other.\n\n{NOTE}",
    ]


def test_nothing_appears_before_the_first_section_or_after_the_last(engine: Engine) -> None:
    call = engine.prepare_call(Turn(now=NOW))
    first, *_, last = SEPARATOR.join(bodies(call).values()).split(SEPARATOR)

    assert engine.prepare_step(call).system == SEPARATOR.join(bodies(call).values())
    assert (first.splitlines()[0], last.rpartition(" (")[2]) == ("## Identity", "time zone: UTC).")


def test_an_edited_section_is_in_the_next_engine_and_changes_no_other(tmp_path: Path) -> None:
    folder = shutil.copytree(POLYANT, tmp_path / "polyant")
    before = bodies(Engine.open(folder).prepare_call(EVERYTHING))
    (folder / "sections" / "02-soul.md").write_text("## Soul\n\nCheerful since yesterday.\n", encoding="utf-8")
    after = bodies(Engine.open(folder).prepare_call(EVERYTHING))

    assert after == {**before, "02-soul": "## Soul\n\nCheerful since yesterday."}


def test_switching_memory_off_removes_the_section_with_its_separator(engine: Engine) -> None:
    without = replace(EVERYTHING, inputs={**EVERYTHING.inputs, "memoryEnabled": False})
    memory = (POLYANT / "sections" / "06-memory.md").read_text(encoding="utf-8").strip()

    assert system(engine, without) == system(engine, EVERYTHING).replace(memory + SEPARATOR, "")


def test_memory_that_nobody_mentions_is_on(engine: Engine) -> None:
    asked = replace(EVERYTHING, inputs={**EVERYTHING.inputs, "memoryEnabled": True})

    assert system(engine, asked) == system(engine, EVERYTHING)


def test_each_kind_of_run_has_other_tools(engine: Engine) -> None:
    def tools(*harness: str) -> set[str]:
        return set(engine.prepare_call(Turn(now=NOW, gates=Gates(harness=harness))).tools.available)

    chat = tools("supervisor")

    assert tools("supervisor", "room") - chat == {"postToRoom", "skipCycle"}
    assert tools("supervisor", "webhook") - chat == {"answerEvent"}
    assert chat - tools() == {"spawnTask"}


def test_a_sub_agent_cannot_spawn_another_even_if_the_tool_is_switched_on(engine: Engine) -> None:
    call = engine.prepare_call(Turn(now=NOW, profile="sub-agent", gates=Gates(enabled=("spawnTask", "webSearch"))))

    assert call.tools.available == ("webSearch",)
    assert "spawnTask" not in "".join(call.prompt.shown.values())


@pytest.mark.parametrize("profile", ["sub-agent", "sub-agent-alone"])
def test_no_gate_of_the_host_gives_a_sub_agent_the_tool_that_its_profile_excludes(engine: Engine, profile: str) -> None:
    gates = Gates(enabled=("spawnTask",), harness=("supervisor", "room"), allowed=("spawnTask", "webSearch"))
    turn = Turn(now=NOW, tools=("spawnTask", "webSearch"), discovered=("spawnTask",), gates=gates)
    call = engine.prepare_call(replace(turn, profile=profile))
    step = engine.prepare_step(call, [ToolResult("tool_search", {"tools": ["spawnTask"]}, "s1")])

    assert "spawnTask" in engine.prepare_call(turn).tools.available
    assert call.tools.available == ()
    assert "spawnTask" not in (*step.active_tools, *"".join(str(m.content) for m in step.messages).split("**"))
    assert f"the profile `{profile}` excludes it" in [
        c.reason for c in step.manifest.cuts if c.what == "tool spawnTask"
    ]


def test_a_sub_agent_has_the_identity_soul_and_safety_of_its_supervisor(engine: Engine) -> None:
    of_supervisor = bodies(engine.prepare_call(EVERYTHING))
    of_sub_agent = bodies(engine.prepare_call(replace(EVERYTHING, profile="sub-agent", gates=Gates())))
    shared = ["01-identity", "02-soul", "04-safety", "05-skills", "06-memory", "conversation-summary"]

    assert {name: of_sub_agent[name] for name in shared} == {name: of_supervisor[name] for name in shared}
    assert sorted({*shared, "03-tooling"}) == sorted(of_sub_agent)


def test_a_sub_agent_inherits_the_window_unless_it_is_reported_otherwise(engine: Engine) -> None:
    inherited = engine.prepare_call(replace(EVERYTHING, profile="sub-agent"))
    alone = engine.prepare_call(replace(EVERYTHING, profile="sub-agent-alone", messages=(), summary=""))

    assert texts(inherited.prompt.messages[1:]) == [*texts(talk(16)[-10:]), "Go on."]
    assert texts(alone.prompt.messages[1:]) == ["Go on."]
    assert list(bodies(alone)) == ["01-identity", "02-soul", "03-tooling", "04-safety"]


@pytest.mark.parametrize("kind", ["plain-chat", "channel", "overflow", "webhook-event", "sub-agent", "multimodal"])
def test_the_messages_are_the_system_prompt_the_window_and_the_new_turn(engine: Engine, kind: str) -> None:
    call = from_file(engine, kind)
    roles = [message.role for message in call.prompt.messages]

    assert roles[0] == "system"
    assert call.prompt.messages[0].content == "".join(segment.text for segment in call.prompt.segments)
    assert roles[-1] == "user"
    assert "system" not in roles[1:]


def test_parts_of_a_multimodal_message_change_nothing_else(engine: Engine) -> None:
    plain, parts = from_file(engine, "channel"), from_file(engine, "multimodal")

    assert parts.prompt.messages[0] == plain.prompt.messages[0]
    assert isinstance(parts.prompt.messages[-1].content, tuple)
    assert [part["type"] for part in parts.prompt.messages[-1].content] == ["text", "image", "file"]


def test_the_context_of_an_event_is_gone_with_its_turn(engine: Engine) -> None:
    said = replace(EVERYTHING, inputs={"channel": "webhook", "context": "An event."})
    next_turn = replace(EVERYTHING, inputs={"channel": "webhook"})
    before = system(engine, next_turn)
    during = system(engine, said)

    assert "An event." in during
    assert system(engine, next_turn) == before
    assert "An event." not in before


def test_the_copy_of_a_context_in_the_history_neither_counts_nor_is_reported_again(engine: Engine) -> None:
    copied = (Message("system", "An event."), *talk(15))
    call = engine.prepare_call(Turn(now=NOW, messages=copied, message=user("Go on.")))

    assert texts(call.prompt.messages[1:]) == [*texts(talk(15)), "Go on."]


def test_a_summary_is_written_after_the_reply_and_shown_from_the_next_turn_on(engine: Engine) -> None:
    """Summarizing never keeps the reply waiting, and the turn after the first overflow has its result."""
    asked: list[SummaryRequest] = []

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return f"Summary {len(asked)}."

    history: list[Message] = []
    stored: str | Summary = ""
    shown: list[str] = []
    sent: list[int] = []
    for number in range(1, 13):
        turn = Turn(now=NOW, messages=tuple(history), summary=stored, message=user(f"question {number}"))
        call = engine.prepare_call(turn)
        shown.append(call.prompt.shown.get("conversation-summary", "").partition("\n")[0])
        sent.append(len(call.prompt.messages) - 2)
        history += [user(f"question {number}"), assistant(f"answer {number}")]
        stored = engine.summarize(turn, summarizer).summary

    assert sent == [0, 2, 4, 6, 8, 10, 12, 14, 10, 10, 10, 10]
    assert shown == [*[""] * 9, "Summary 1.", "Summary 2.", "Summary 3."]
    assert asked[0].text.splitlines()[:2] == ["Messages to summarize:", "User: question 1"]
    assert asked[1].text.startswith("Previous summary: Summary 1.\n\nMessages to summarize:\nUser: question 2\n")


@pytest.mark.parametrize("answer", ["", "  \n"])
def test_a_summarizer_that_says_nothing_leaves_the_stored_summary(engine: Engine, answer: str) -> None:
    request = summary_due(talk(16), "They greeted.", policy(engine), words)
    assert request is not None
    reply = summarize(request, lambda _: answer, timeout=10)

    assert apply_summary(talk(16), "They greeted.", policy(engine), words, reply.text).store.text == "They greeted."


def test_a_summarizer_that_fails_does_not_reach_the_user(engine: Engine) -> None:
    def broken(_: SummaryRequest) -> str:
        raise ConnectionError("no network")

    request = summary_due(talk(16), "They greeted.", policy(engine), words)
    assert request is not None
    reply = summarize(request, broken, timeout=10)

    assert reply.text is None
    assert reply.diagnostic is not None
    assert reply.diagnostic.code == "summarizer_failed"
    assert apply_summary(talk(16), "They greeted.", policy(engine), words, reply.text).store.text == "They greeted."


@pytest.mark.parametrize(("stored", "sent"), [(0, 0), (16, 16), (50, 50), (51, 50), (80, 50)])
def test_a_room_gets_its_last_fifty_messages(room: Engine, stored: int, sent: int) -> None:
    call = room.prepare_call(Turn(now=NOW, messages=tuple(talk(stored)), summary="Old.", message=user("Go on.")))

    assert texts(call.prompt.messages[1:]) == [*texts(talk(stored)[stored - sent :]), "Go on."]
    assert "conversation-summary" not in bodies(call)


def test_a_room_never_asks_for_a_summary(room: Engine) -> None:
    assert summary_due(talk(80), "Old.", policy(room), words) is None


def test_a_room_differs_from_a_chat_in_nothing_but_its_history(engine: Engine, room: Engine) -> None:
    turn = replace(EVERYTHING, messages=(), summary="")

    assert system(room, turn) == system(engine, turn)


def test_what_tools_find_is_announced_in_messages_and_never_in_the_system_prompt(engine: Engine) -> None:
    found = [
        ToolResult("searchMemory", {"found": "Jana takes sugar."}, "1"),
        ToolResult("searchKnowledge", {"found": "38 euros"}, "2"),
    ]
    call = engine.prepare_call(EVERYTHING, found)

    assert engine.prepare_step(call, found).system == system(engine, EVERYTHING)
    assert engine.prepare_step(call, found).appended == ()


def test_one_conversation_sees_nothing_of_another(engine: Engine) -> None:
    other = replace(EVERYTHING, messages=(), summary="", inputs={"channel": "whatsapp", "userName": "Ali"})
    before = engine.prepare_call(other).to_json()
    engine.prepare_call(EVERYTHING)

    assert engine.prepare_call(other).to_json() == before


def test_the_skills_that_are_not_in_the_prompt_can_be_read(engine: Engine) -> None:
    turn = Turn(now=NOW, environment=())
    found = engine.read_skill("travel-planning", turn)

    written = (POLYANT / "skills" / "travel-planning" / "SKILL.md").read_text(encoding="utf-8")

    assert found.text.strip() == written.split("---\n")[2].strip()
    assert "Ask for the budget first." not in system(engine, turn)
    assert "<name>travel-planning</name>" in system(engine, turn)


def test_a_skill_that_the_environment_does_not_allow_can_neither_be_seen_nor_read(engine: Engine) -> None:
    without, with_it = (Turn(now=NOW, environment=names) for names in ((), ("BILLING_TOKEN",)))

    listed = [re.findall("<name>(.*)</name>", system(engine, turn)) for turn in (without, with_it)]

    assert listed[1] == [*listed[0], "unpaid-invoices"]
    assert not engine.read_skill("unpaid-invoices", without).found
    assert engine.read_skill("unpaid-invoices", with_it).found


def test_the_clock_is_asked_again_in_every_turn(engine: Engine) -> None:
    now, later = NOW, NOW + timedelta(minutes=1)
    difference = compare_manifests(
        engine.prepare_step(engine.prepare_call(Turn(now=now))).manifest,
        engine.prepare_step(engine.prepare_call(Turn(now=later))).manifest,
    )

    assert "9:05\u202fAM" in system(engine, Turn(now=now))
    assert "9:06\u202fAM" in system(engine, Turn(now=later))
    assert [change.id for change in difference.changes if change.kind != "same"] == ["08-datetime"]


def test_within_a_minute_the_prompt_stays_the_same(engine: Engine) -> None:
    assert system(engine, Turn(now=NOW)) == system(engine, Turn(now=NOW + timedelta(seconds=59)))
