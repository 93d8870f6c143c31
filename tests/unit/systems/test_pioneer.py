"""What Pioneer's specification says beyond one prompt: fingerprints, manifest, history, skills, tools."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import pytest

from cuecard import Engine, FileText, Message, Step, Turn
from cuecard.adapters.anthropic import request
from cuecard.config.history_spec import TokenHistory
from cuecard.config.sections.skills_spec import SkillsSpec
from cuecard.config.skills.skill_file import make_skills
from cuecard.files.folder import read_agent
from cuecard.files.skill_answers import read_skill
from cuecard.pipeline.history.selection import apply_summary, select, summary_due
from cuecard.types import Json, Summary, SummaryRequest
from cuecard.workbench.render import SplitPrompt, split_prompt
from shipped import read_models
from unit.pipeline.history.chat import assistant, reasons, talk, texts, user, words

PIONEER = Path(__file__).parents[3] / "prompts" / "pioneer"
CLAUDE = read_models().find("claude-opus-4-8")
MARKER = "\n<!-- PIONEER_PROMT_CACHE_BOUNDARY -->\n"
FILES = {"SOUL.md": "Voice: calm", "IDENTITY.md": "Name: Wren", "USER.md": "Name: Ines"}
STABLE = ("identity_base", "assistant_safety", "soul_core", "identity_core", "user_persona", "tool_recovery_policy")
DYNAMIC = (
    *("task_orchestration_policy", "recovery_continuation", "skills_runtime_prompt"),
    *("retry_runtime_instruction", "dynamic_context", "extra_system"),
)
EVERYTHING: dict[str, Json] = {
    "workspace": "/home/ines",
    "active_skills": ["meeting-notes"],
    "continue_generation_hint": True,
    "include_task_orchestration_policy": True,
    "retry_instruction": "Look at the folder first.",
    "dynamic_context": "The shop is closed.",
    "extra_system": "Shell: zsh",
    "os": "Debian 13",
}


@cache
def engine() -> Engine:
    return Engine.open(PIONEER)


def turn(inputs: dict[str, Json] | None = None, files: dict[str, str] | None = None) -> Turn:
    held = {path: FileText(path, text) for path, text in (FILES if files is None else files).items()}
    now = datetime(2026, 11, 20, 9, tzinfo=UTC)
    # The system compiles one text for each request: its host sets the system prompt, and nothing else.
    return Turn(inputs or {}, now=now, files=held, tools=(), host="system-only")


def step(turn: Turn) -> Step:
    return engine().prepare_step(engine().prepare_call(turn))


def compile_turn(turn: Turn) -> SplitPrompt:
    call = engine().prepare_call(turn)
    return split_prompt(engine().agent, call, engine().prepare_step(call))


# Sections, fingerprints, manifest


def test_all_twelve_sections_appear_in_their_order_on_their_side_of_the_boundary() -> None:
    made = compile_turn(turn(EVERYTHING))

    assert (made.stable_sections, made.dynamic_sections) == (STABLE, DYNAMIC)
    assert [line[3:] for line in made.full_text.splitlines() if line.startswith("## ")] == [
        *("Identity", "Safety", "Soul Core", "Identity Core", "User Persona", "Tool Recovery Policy"),
        *("Task Orchestration", "Recovery Continuation", "Skills Runtime"),
        *("Retry Instruction", "Dynamic Context", "Extra System"),
    ]


def test_stable_text_marker_and_dynamic_text_are_the_whole_prompt() -> None:
    made = compile_turn(turn(EVERYTHING))

    assert made.boundary == MARKER
    assert made.full_text == made.stable_text + MARKER + made.dynamic_text
    assert made.full_text.count(MARKER) == 1


@pytest.mark.parametrize("name", [name for name in EVERYTHING if name != "workspace"])
def test_an_input_of_a_dynamic_section_leaves_the_stable_fingerprint_unchanged(name: str) -> None:
    before, after = compile_turn(turn()), compile_turn(turn({name: EVERYTHING[name]}))

    assert after.stable_sha256 == before.stable_sha256
    assert after.dynamic_sha256 != before.dynamic_sha256
    assert after.full_sha256 != before.full_sha256


@pytest.mark.parametrize("file", FILES)
def test_a_changed_file_changes_the_stable_fingerprint_and_not_the_dynamic_one(file: str) -> None:
    before, after = compile_turn(turn(EVERYTHING)), compile_turn(turn(EVERYTHING, {**FILES, file: "Another text"}))

    assert after.stable_sha256 != before.stable_sha256
    assert after.dynamic_sha256 == before.dynamic_sha256


def test_a_provider_is_asked_to_cache_up_to_the_boundary() -> None:
    files = {**FILES, "SOUL.md": "Voice: calm, and never in a hurry. " * 300}  # enough for a cache to be worth it
    rounds = [compile_turn(turn({**EVERYTHING, "retry_instruction": text}, files)) for text in ("Look.", "Ask.")]
    bodies = [
        request(step(turn({**EVERYTHING, "retry_instruction": text}, files)), [], model=CLAUDE)
        for text in ("Look.", "Ask.")
    ]

    for made, body in zip(rounds, bodies, strict=True):
        first, second = body["system"]
        assert (first["text"], first["cache_control"]) == (made.stable_text, {"type": "ephemeral"})
        assert second["text"] == MARKER + made.dynamic_text
    assert bodies[0]["system"][0] == bodies[1]["system"][0]


def test_what_is_compiled_says_by_what_and_for_which_profile() -> None:
    made = compile_turn(replace(turn(), profile="minimal"))

    assert (made.agent, made.profile, made.variant) == ("pioneer", "minimal", "")
    assert (made.compiler, made.spec_sha256) == ("cuecard/1", engine().agent.sha256)


def test_full_and_minimal_differ_only_by_what_the_caller_passes() -> None:
    full, minimal = (compile_turn(replace(turn(EVERYTHING), profile=profile)) for profile in ("full", "minimal"))

    assert full == replace(minimal, profile="full")


def test_the_manifest_tells_which_sections_changed_between_two_rounds() -> None:
    rounds = [step(turn({"retry_instruction": text, "os": "Debian 13"})) for text in ("", "Look first.")]
    (first, second) = ({s.id: s.sha256 for s in each.manifest.sections} for each in rounds)

    assert set(second.items()) - set(first.items()) == {
        ("retry_runtime_instruction", second["retry_runtime_instruction"]),
        ("extra_system", second["extra_system"]),  # it has lost its place behind the boundary
    }


def test_the_manifest_holds_no_text_of_the_prompt() -> None:
    secret = "a-word-that-stands-nowhere-else"  # noqa: S105 - a text to look for
    said = turn({"retry_instruction": secret, "dynamic_context": secret}, dict.fromkeys(FILES, secret))
    made = step(said)

    assert made.system.count(secret) == 5
    assert secret not in json.dumps(made.manifest.to_json())


def test_a_file_that_the_host_could_not_read_is_a_diagnostic_and_no_failure() -> None:
    files = {"SOUL.md": FileText("SOUL.md", None, "permission denied"), "USER.md": FileText("USER.md", "Name: Ines")}
    made = compile_turn(replace(turn(), files=files))

    assert [each.code for each in made.diagnostics] == ["file_read_error", "missing_file"]
    assert [row.status for row in made.sources[:3]] == ["read_error", "missing", "loaded"]
    assert "Name: Ines" in made.stable_text


def test_the_shipped_limits_are_those_of_the_page() -> None:
    files = {"SOUL.md": "s" * 20_001, "IDENTITY.md": "i" * 20_000, "USER.md": "u" * 30_000}
    made = compile_turn(turn(files=files))

    assert [row.characters for row in made.sources[:3]] == [20_000, 20_000, 20_000]
    assert [each.code for each in made.diagnostics] == ["file_truncated", "file_truncated"]


# Tools


def test_tool_definitions_are_not_part_of_the_prompt() -> None:
    made = step(replace(turn(), tools=tuple(engine().tools)))

    assert made.active_tools == tuple(engine().tools)
    assert [card.name for card in engine().tools.values() if card.description in made.system] == []


def test_a_tool_that_the_prompt_names_is_not_callable_for_that() -> None:
    made = step(turn({"active_skills": ["*"]}))

    assert "read_skill" in made.system
    assert made.active_tools == ()


def test_a_tool_taken_off_the_list_is_gone_whatever_the_prompt_says() -> None:
    with_all = replace(turn({"active_skills": ["*"]}), tools=("read_skill", "shell_exec"))
    without = replace(with_all, tools=("shell_exec",))

    assert step(with_all).active_tools == ("read_skill", "shell_exec")
    assert step(without).active_tools == ("shell_exec",)
    assert step(without).system == step(with_all).system


# Skills


def test_read_skill_answers_the_exact_slug_with_the_whole_instructions() -> None:
    written = (PIONEER / "skills" / "csv-report" / "SKILL.md").read_text(encoding="utf-8")

    assert engine().read_skill("csv-report").text == written.split("---\n")[2].strip()
    assert not engine().read_skill("csv").found


def test_read_skill_answers_with_24_000_bytes_at_most() -> None:
    skills, _ = make_skills(read_agent(PIONEER).skills, skills_spec())
    long = [replace(skill, body="é" * 24_000) for skill in skills]

    assert len(read_skill(long, "csv-report").text.encode()) == 24_000


def skills_spec() -> SkillsSpec:
    return next(section.skills for section in engine().agent.spec.sections if section.skills)


# History


def spec() -> TokenHistory:
    history = engine().agent.spec.history
    assert isinstance(history, TokenHistory)
    return history


def small() -> TokenHistory:
    """The shipped policy with a budget that a reader can count: 1,000 words, 4 more for each message."""
    return spec().model_copy(update={"max_context": 1200, "reserve": 200})


def long_talk(messages: int = 8) -> list[Message]:
    return [(user if n % 2 else assistant)(f"{n} " + "word " * 99) for n in range(1, messages + 1)]


def test_tokens_are_counted_with_one_table_for_all_providers() -> None:
    assert engine().count.source.encoding == "cl100k_base"


def test_two_hundred_entries_of_user_and_assistant_are_looked_at() -> None:
    chosen = select(talk(402), "", spec(), words)

    assert texts(chosen.messages)[0] == "message 3"
    assert len(chosen.messages) == 400
    assert reasons(chosen.cuts) == {"history messages 1 to 2": "history.load: older than the newest 400 messages"}


def test_an_entry_may_lack_the_users_or_the_assistants_part() -> None:
    conversation = [user("Hello"), user("Anyone there?"), assistant("Yes."), assistant("What can I do?")]

    assert list(select(conversation, "", spec(), words).messages) == conversation


def test_the_budget_is_what_the_reserve_leaves() -> None:
    assert spec().budget == 128_000 - 16_000


def test_below_eighty_percent_the_summary_and_everything_is_sent() -> None:
    call = engine().prepare_call(replace(turn(), messages=tuple(talk(6)), summary="The mill.", message=user("Go on")))

    assert texts(call.prompt.messages[1:]) == [
        "Summary of earlier conversation:\nThe mill.",
        *texts(talk(6)),
        "Go on",
    ]
    assert summary_due(talk(6), "The mill.", spec(), words) is None


def test_compression_is_asked_for_from_eighty_percent_on() -> None:
    seven = [*long_talk(7), user("word " * 67)]  # 7 * 104 + 71 = 799 of 1000

    assert summary_due(seven, "", small(), words) is None
    assert summary_due([*seven[:-1], user("word " * 68)], "", small(), words) is not None


def test_the_summarizer_is_given_everything_and_a_tenth_of_the_budget() -> None:
    conversation = [user("u" * 5000), assistant("a" * 5000), *long_talk()]
    request = summary_due(conversation, "The mill is in Retz.", small(), words)

    assert request is not None
    assert (request.max_tokens, request.temperature) == (100, 0.3)
    assert "Previous summary: The mill is in Retz." in request.text
    assert "u" * 5000 in request.text
    assert "a" * 3000 + "...[truncated]" in request.text
    assert all(f"{n} word" in request.text for n in range(1, 9))


@pytest.mark.parametrize("kept", ["decisions", "file paths", "corrected", "still open"])
def test_the_summarizer_is_reported_what_to_keep(kept: str) -> None:
    request = summary_due(long_talk(), "", small(), words)

    assert request is not None
    assert kept in request.system


def test_after_a_compression_one_system_message_stands_for_everything() -> None:
    chosen = apply_summary(long_talk(), "", small(), words, "All of it, in short.")

    assert chosen.messages == ()
    assert chosen.as_message == Message(
        "system", "Summary of earlier conversation:\nAll of it, in short.", persist=False
    )
    assert chosen.store == Summary("All of it, in short.", 8)


def test_the_stored_summary_is_used_again_on_later_turns() -> None:
    stored = apply_summary(long_talk(), "", small(), words, "All of it, in short.").store
    later = (*long_talk(), user("And now?"), assistant("Now this."))
    call = engine().prepare_call(replace(turn(), messages=later, summary=stored))

    assert texts(call.prompt.messages[1:]) == [
        "Summary of earlier conversation:\nAll of it, in short.",
        "And now?",
        "Now this.",
    ]


def engine_with(history: TokenHistory) -> Engine:
    agent = engine().agent
    return replace(engine(), agent=replace(agent, spec=agent.spec.model_copy(update={"history": history})))


def test_compressed_before_the_request_the_summary_goes_alone_before_the_message() -> None:
    asked: list[SummaryRequest] = []

    def summarizer(request: SummaryRequest) -> str:
        asked.append(request)
        return "All of it, in short."

    small_engine = engine_with(small())
    before = replace(turn(), messages=tuple(long_talk()), summary="The mill.", message=user("Go on"))
    after = small_engine.summarize(before, summarizer)

    assert len(asked) == 1
    assert texts(small_engine.prepare_call(after).prompt.messages[1:]) == [
        "Summary of earlier conversation:\nAll of it, in short.",
        "Go on",
    ]
    assert small_engine.summarize(after, summarizer) == after, "nothing is due any more"


@pytest.mark.parametrize(
    ("answer", "code"),
    [(ConnectionError("no answer"), "summarizer_failed"), (" ", "summarizer_empty"), (None, "summarizer_failed")],
)
def test_when_compression_fails_the_newest_messages_that_fit_are_sent(answer: object, code: str) -> None:
    def broken(_: SummaryRequest) -> str:
        if isinstance(answer, Exception):
            raise answer
        return answer  # type: ignore[return-value]

    small_engine = engine_with(small())
    before = replace(turn(), messages=tuple(long_talk(12)), summary="The mill.", message=user("Go on"))
    call = small_engine.prepare_call(small_engine.summarize(before, broken))

    assert texts(call.prompt.messages[1:]) == [
        "Summary of earlier conversation:\nThe mill.",
        *texts(long_talk(12)[3:]),  # nine of about 105 tokens fit into 1000
        "Go on",
    ]
    assert [each.code for each in call.record.diagnostics] == [code]
    assert "history messages 1 to 3" in reasons(call.record.cuts)


def test_a_failure_without_a_stored_summary_does_not_lose_the_history() -> None:
    assert texts(apply_summary(long_talk(12), "", small(), words, None).messages) == texts(long_talk(12)[3:])
