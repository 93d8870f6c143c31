"""Logs of other programs: one conversation in every form gives one transcript, and the forms are those of the SDKs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from cuecard import SpecError
from cuecard.config.transcript_file import RecordedTurn, TranscriptFile
from cuecard.workbench.transcripts.formats import LogForm, read_conversation

LOGS = Path(__file__).parents[3] / "cases" / "transcripts" / "logs"
NAMES = sorted(path.name for path in LOGS.iterdir())
FORMS: dict[str, LogForm] = {
    "anthropic.jsonl": "anthropic",
    "openai_chat.json": "openai",
    "openai_previous_response.json": "openai",
    "openai_responses.json": "openai",
    "pydantic_ai.json": "pydantic-ai",
}


def read(name: str, form: LogForm = "auto") -> TranscriptFile:
    return read_conversation((LOGS / name).read_text(encoding="utf-8"), name, form).transcript


def plain(turn: RecordedTurn) -> object:
    """What was said and done: results as values, whether they were written as text or not."""
    return turn.user, [
        (request.text, [(call.tool, call.args, value(call.result), call.is_error) for call in request.calls])
        for request in turn.requests
    ]


def value(result: Any) -> Any:
    return json.loads(result) if isinstance(result, str) else result


def one(records: object, form: LogForm = "auto") -> TranscriptFile:
    return read_conversation(json.dumps(records), "log.json", form).transcript


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


CONVERSATION = [
    (
        "Which pages are there?",
        [
            (
                "I look for a tool.",
                [
                    (
                        "tool_search",
                        {"query": "list pages"},
                        {"tools": ["list_pages"], "message": "Read their instructions."},
                        False,
                    )
                ],
            ),
            ("", [("list_pages", {}, [{"id": "p1", "title": "Home"}], False)]),
            ("There is one: Home.", []),
        ],
    ),
    ("Delete it", [("That cannot be undone. Shall I?", [])]),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_form_of_one_conversation_gives_the_same_transcript(name: str) -> None:
    turns = [plain(turn) for turn in read(name).turns]
    if name == "openai_chat.json":  # bare bodies: the last answer is not in the log
        assert turns == [CONVERSATION[0], ("Delete it", [("", [])])]
    else:
        assert turns == CONVERSATION


@pytest.mark.parametrize("name", NAMES)
def test_the_form_is_recognised_by_its_structure(name: str) -> None:
    assert read(name) == read(name, FORMS[name])
    assert read(name).source == FORMS[name]


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pydantic_ai.json"])
def test_the_tools_come_from_the_requests(name: str) -> None:
    tools = {tool.name: (tool.description, sorted(tool.input_schema)) for tool in read(name).tools}

    assert tools == {
        "tool_search": ("Find tools.", ["properties", "required", "type"]),
        "list_pages": ("List all pages.", ["properties", "type"]),
    }


def test_times_and_usage_go_to_the_request_they_belong_to() -> None:
    requests = list(read("anthropic.jsonl").requests())

    assert [request.at.second if request.at else None for request in requests] == [0, 10, 20, 30]
    assert [r.usage.input_tokens if r.usage else None for r in requests] == [1410, 1495, 1535, 1565]
    assert [r.usage.cached_tokens if r.usage else None for r in requests] == [0, 1400, 1490, 1530]


def test_usage_of_openai_counts_cached_tokens_within_the_input() -> None:
    usage = [request.usage for request in read("openai_responses.json").requests()]

    assert [(u.input_tokens, u.cached_tokens) for u in usage if u] == [
        (1450, 0),
        (1500, 1280),
        (1550, 1280),
        (1600, 1280),
    ]


def test_other_conversations_in_the_log_are_left_out() -> None:
    log = (LOGS / "anthropic.jsonl").read_text(encoding="utf-8")

    assert "Write a title" in log
    assert "Write a title" not in read("anthropic.jsonl").model_dump_json()


def test_prompts_and_reminders_of_the_host_are_left_out() -> None:
    for name in NAMES:
        said = read(name).model_dump_json()

        assert "BEFORE" in (LOGS / name).read_text(encoding="utf-8")
        assert "BEFORE" not in said
        assert "You help with pages" not in said


def test_a_request_whose_answer_is_not_logged_still_counts() -> None:
    assert len(one([{"model": "gpt-5", "messages": [user("Hello")]}]).turns[0].requests) == 1


def test_bare_messages_are_a_conversation_too() -> None:
    turns = one([user("Hello"), {"role": "assistant", "content": "Hi."}]).turns

    assert [plain(turn) for turn in turns] == [("Hello", [("Hi.", [])])]


def test_what_is_said_twice_before_an_answer_is_one_message() -> None:
    turns = one([{"messages": [user("Hello"), user("Are you there?")]}]).turns

    assert [turn.user for turn in turns] == ["Hello\nAre you there?"]


def test_arguments_that_are_not_json_are_kept_unchanged() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "go", "arguments": "{oops"}}
    messages = [user("Go"), {"role": "assistant", "content": "", "tool_calls": [call]}]

    assert one([{"messages": messages}]).turns[0].requests[0].calls[0].args == "{oops"


def test_a_failed_tool_is_an_error() -> None:
    use = {"type": "tool_use", "id": "t", "name": "go", "input": {}}
    failed = {"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": True}
    messages = [user("Go"), {"role": "assistant", "content": [use]}, {"role": "user", "content": [failed]}]
    retry = {"part_kind": "retry-prompt", "tool_name": "go", "tool_call_id": "t", "content": "no"}
    made = {"part_kind": "tool-call", "tool_name": "go", "tool_call_id": "t", "args": "{}"}
    history = [
        {"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "Go"}]},
        {"kind": "response", "parts": [made]},
        {"kind": "request", "parts": [retry]},
    ]

    for read_in in (one([{"messages": messages}]), one(history)):
        assert read_in.turns[0].requests[0].calls[0].is_error


def test_pictures_are_named_not_sent() -> None:
    picture = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    body = {
        "system": "x",
        "messages": [{"role": "user", "content": [picture, {"type": "text", "text": "What is it?"}]}],
    }

    assert one([body]).turns[0].user == "[image]\nWhat is it?"


@pytest.mark.parametrize(
    "text", ["{}", "[]", "3", '{"turns": 3}', '[{"kind": "request", "parts": []}]', '{"messages": []}']
)
def test_a_file_without_a_conversation_is_refused(text: str) -> None:
    with pytest.raises(SpecError):
        read_conversation(text, "log.json")


def test_a_broken_line_of_a_log_costs_that_line_and_is_reported_with_its_place() -> None:
    lines = (LOGS / "anthropic.jsonl").read_text(encoding="utf-8").splitlines()
    broken = ['{"messages": [}', *lines[:1], "", "nothing", *lines[1:]]
    whole, damaged = (read_conversation("\n".join(each), "log.jsonl") for each in (lines, broken))

    assert damaged.transcript == whole.transcript
    told = [problem for problem in damaged.warnings if problem not in whole.warnings]
    assert [(p.code, p.severity, p.span.line if p.span else 0) for p in told] == [
        ("json-syntax", "warning", 1),
        ("json-syntax", "warning", 4),
    ]


def test_a_log_without_a_conversation_tells_of_its_broken_lines_too() -> None:
    with pytest.raises(SpecError) as raised:
        read_conversation('{"messages": []}\n{"messages": [}\n\nnothing\n', "log.jsonl")

    assert [(p.code, p.span.line if p.span else 0) for p in raised.value.problems] == [
        ("no-conversation", 0),
        ("json-syntax", 2),
        ("json-syntax", 4),
    ]


def test_what_is_not_played_is_counted() -> None:
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    talk = [
        user("<system-reminder>Mind the gap.</system-reminder>"),
        user("Which pages?"),
        {"role": "assistant", "content": [thought, {"type": "text", "text": "Two."}]},
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image", "source": {}}, {"type": "text", "text": "And this?"}]},
    ]
    title = {"system": "x", "messages": [user("Make a title.")]}
    log = [{"system": "x", "messages": talk}, {"system": "x", "messages": talk[:2]}, title]
    read = read_conversation(json.dumps(log), "log.json")

    assert [problem.message for problem in read.warnings] == [
        "left out: 1 request of 1 other conversation",
        "left out of the conversation: 1 part of an unknown kind, 1 reminder, 1 system message, 1 thinking block",
    ]


def test_the_anthropic_log_has_the_shapes_of_its_package() -> None:
    create = pytest.importorskip("anthropic.types.message_create_params", reason="anthropic is not installed")
    types = pytest.importorskip("anthropic.types")
    for line in (LOGS / "anthropic.jsonl").read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        TypeAdapter(create.MessageCreateParamsNonStreaming).validate_python(record["request"])
        if "response" in record:
            types.Message.model_validate(record["response"])


@pytest.fixture(scope="module")
def responses_shapes() -> tuple[TypeAdapter[Any], TypeAdapter[Any]]:
    """Those of a request and of an item of the answer."""
    create = pytest.importorskip("openai.types.responses.response_create_params", reason="openai is not installed")
    kind: Any = pytest.importorskip("openai.types.responses").ResponseOutputItem
    return TypeAdapter(create.ResponseCreateParamsNonStreaming), TypeAdapter(kind)


@pytest.mark.parametrize("name", ["openai_responses.json", "openai_previous_response.json"])
def test_the_responses_log_has_the_shapes_of_its_package(
    name: str, responses_shapes: tuple[TypeAdapter[Any], TypeAdapter[Any]]
) -> None:
    requests, items = responses_shapes
    for record in json.loads((LOGS / name).read_text(encoding="utf-8")):
        requests.validate_python(record["request"])
        for item in record["response"]["output"]:
            items.validate_python(item)


def test_the_chat_log_has_the_shapes_of_its_package() -> None:
    create = pytest.importorskip("openai.types.chat.completion_create_params", reason="openai is not installed")
    bodies = TypeAdapter(create.CompletionCreateParamsNonStreaming)
    for body in json.loads((LOGS / "openai_chat.json").read_text(encoding="utf-8")):
        bodies.validate_python(body)


def test_the_history_has_the_shape_of_pydantic_ai() -> None:
    messages = pytest.importorskip("pydantic_ai.messages", reason="pydantic-ai is not installed")
    text = (LOGS / "pydantic_ai.json").read_text(encoding="utf-8")

    assert len(messages.ModelMessagesTypeAdapter.validate_json(text)) == 8
