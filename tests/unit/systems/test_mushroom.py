"""MushroomAgent: what its specification says of more than one prompt: layers, limits, the window of messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from cuecard import Engine, FileText, Gates, Message, Turn
from cuecard.types import Json, ToolCall

NOW = datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
ROOT = Path(__file__).parents[3]
LAYERS = ["skeleton", "user", "persona", "skills", "knowledge_context", "conversation_summary", "response_format"]
LAYERS += ["runtime_facts", "workspace_context", "heartbeat"]
EVERYTHING: dict[str, Json] = {
    "user_name": "Ines",
    "persona": "Dry.",
    "knowledge": [{"text": "No celery."}],
    "conversation_topics": [{"topic": "Garlic", "summary": "ordered"}],
    "response_format": "json_object",
    "heartbeat": True,
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    # The form of the system itself, and a clock that stands still: prompts hold the time to the second.
    return Engine.open(ROOT / "prompts/mushroom/agent.yaml", delivery="rewrite", clock=lambda: NOW)


def held(**texts: str) -> dict[str, FileText]:
    return {f"{name}.md": FileText(f"{name}.md", text) for name, text in texts.items()}


def system(engine: Engine, turn: Turn) -> str:
    return engine.prepare_step(engine.prepare_call(turn)).system


def sections(engine: Engine, turn: Turn) -> list[str]:
    return [segment.id for segment in engine.prepare_step(engine.prepare_call(turn)).segments]


def contents(engine: Engine, turn: Turn) -> list[str]:
    return [str(message.content) for message in engine.prepare_step(engine.prepare_call(turn)).messages[1:]]


def test_earlier_layers_appear_first(engine: Engine) -> None:
    turn = Turn(EVERYTHING, files=held(SOUL="Calm."), ephemeral="Be brief.", message=Message("user", "Hello."))
    call = engine.prepare_call(turn)

    assert sections(engine, turn) == LAYERS
    assert [(m.role, m.content, m.persist) for m in call.prompt.messages[1:]] == [
        ("system", "Be brief.", False),
        ("user", "Hello.", True),
    ]


@pytest.mark.parametrize(
    ("name", "section"),
    [
        ("user_name", "user"),
        ("persona", "persona"),
        ("knowledge", "knowledge_context"),
        ("conversation_topics", "conversation_summary"),
        ("response_format", "response_format"),
        ("heartbeat", "heartbeat"),
    ],
)
def test_a_section_is_there_only_with_its_data(engine: Engine, name: str, section: str) -> None:
    plain = sections(engine, Turn())

    assert plain == ["skeleton", "skills", "runtime_facts"]
    assert set(sections(engine, Turn({name: EVERYTHING[name]}))) - set(plain) == {section}


def test_another_response_format_asks_for_nothing(engine: Engine) -> None:
    assert system(engine, Turn({"response_format": "text"})) == system(engine, Turn())


def test_without_memory_neither_knowledge_nor_summary_is_shown(engine: Engine) -> None:
    off = sections(engine, Turn({**EVERYTHING, "memory_enabled": False}))

    assert {"knowledge_context", "conversation_summary"}.isdisjoint(off)


def test_a_sub_agent_has_its_goal_and_nobody_to_delegate_to(engine: Engine) -> None:
    turn = Turn(EVERYTHING, files=held(AGENTS="Rules."), variant="sub-agent", ephemeral="Find garlic.")
    call = engine.prepare_call(turn)

    gone = ["knowledge_context", "conversation_summary", "workspace_context"]
    assert sections(engine, turn) == [name for name in LAYERS if name not in gone]
    assert "delegate_task" not in call.tools.available
    delegating = Turn(gates=Gates(harness=("delegation",)))
    assert "delegate_task" in engine.prepare_call(delegating).tools.available
    assert "delegate_task" not in engine.prepare_call(replace(delegating, variant="sub-agent")).tools.available


def test_blocked_tools_beat_allowed_ones(engine: Engine) -> None:
    gates = Gates(allowed=("web_search", "read_file"), blocked=("read_file",))

    assert engine.prepare_call(Turn(gates=gates)).tools.available == ("web_search",)


def test_the_ephemeral_prompt_is_gone_with_its_turn(engine: Engine) -> None:
    first = engine.prepare_call(Turn(ephemeral="Be brief.", message=Message("user", "Hello.")))
    stored = tuple(message for message in first.prompt.messages if message.persist)

    assert [message.content for message in stored] == ["Hello."]
    assert "Be brief." not in str(contents(engine, Turn(messages=stored, message=Message("user", "And?"))))


def test_twelve_messages_go_in_each_with_time_and_speaker(engine: Engine) -> None:
    history = tuple(
        Message("user", f"line {n}", timestamp=f"2026-11-20 09:{n:02}", speaker="Ines", id=f"m{n}") for n in range(15)
    )
    shown = contents(engine, Turn(messages=history, message=Message("user", "line 15")))

    assert shown == [*(f"[2026-11-20 09:{n:02}] Ines: line {n}" for n in range(3, 15)), "line 15"]


def test_results_keep_to_their_calls_and_orphans_are_left_out(engine: Engine) -> None:
    history = (
        Message("tool", "an orphan", tool_call_id="c0"),
        Message("assistant", "", (ToolCall("c1", "web_search", {}),), id="a"),
        Message("user", "Meanwhile?", speaker="Ines"),
        Message("tool", "found", tool_call_id="c1"),
        Message("assistant", "", (ToolCall("c2", "read_file", {}),), id="b"),
    )
    call = engine.prepare_call(Turn(messages=history, message=Message("user", "Go on.")))
    shown = [(m.role, m.content) for m in call.prompt.messages[1:]]

    assert shown == [("assistant", ""), ("tool", "found"), ("user", "Ines: Meanwhile?"), ("user", "Go on.")]
    assert len([cut for cut in call.record.cuts if cut.what.startswith("history message")]) == 2


def test_the_root_of_the_workspace_comes_before_its_prompts_folder(engine: Engine) -> None:
    files = {
        "SOUL.md": FileText("SOUL.md", "From the root."),
        "prompts/SOUL.md": FileText("prompts/SOUL.md", "From the folder."),
        "prompts/IDENTITY.md": FileText("prompts/IDENTITY.md", "Self."),
    }
    prompt = system(engine, Turn(files=files))

    assert "From the folder." not in prompt
    assert prompt.index("## SOUL.md") < prompt.index("From the root.") < prompt.index("## IDENTITY.md")


@pytest.mark.parametrize("long", [4000, 4001])
def test_a_file_of_4000_characters_is_whole(engine: Engine, long: int) -> None:
    call = engine.prepare_call(Turn(files=held(AGENTS="ä" * long)))
    printed = engine.prepare_step(call).system.partition("off limits.\n")[2]

    assert len(printed) == 4000
    assert printed.endswith("[... cut here]") is (long > 4000)
    status = "truncated" if long > 4000 else "loaded"
    assert [row.status for row in call.record.sources if row.name == "AGENTS.md"] == [status]


def test_no_file_of_the_workspace_is_looked_at_when_they_are_skipped(engine: Engine) -> None:
    call = engine.prepare_call(Turn({"skip_context_files": True}, files=held(AGENTS="Rules.")))

    assert engine.prepare_step(call).system == system(engine, Turn({"skip_context_files": True}))
    assert [row for row in call.record.sources if row.name in {"AGENTS.md", "SOUL.md", "IDENTITY.md"}] == []


def test_heartbeat_file_is_looked_at_on_heartbeats_only(engine: Engine) -> None:
    def rows(inputs: dict[str, Json]) -> list[str]:
        call = engine.prepare_call(Turn(inputs, files=held(HEARTBEAT="Frost?", APPROACH_GREETING="Hello, you.")))
        prompt = engine.prepare_step(call).system
        assert ("HEARTBEAT_OK" in prompt, "Frost?" in prompt) == (bool(inputs), bool(inputs))
        assert "Hello, you." not in prompt
        return [row.status for row in call.record.sources if row.name == "HEARTBEAT.md"]

    assert rows({"heartbeat": True}) == ["loaded"]
    assert rows({}) == []


def test_skills_are_listed_and_never_loaded(engine: Engine) -> None:
    prompt = system(engine, Turn({"workspace": "/w"}, message=Message("user", "Use $expenses.")))

    assert prompt.count("<skill>\n<name>") == 3
    assert "<location>/w/skills/admin/backups/SKILL.md</location>" in prompt
    assert "One line for each receipt" not in prompt
    assert "## Skills" not in system(engine, Turn({"skills_enabled": False}))
