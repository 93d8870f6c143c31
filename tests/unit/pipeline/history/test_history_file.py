"""The keys `history:` and `messages:` as people write them, and what is said about mistakes."""

from typing import Any

import pytest
from pydantic import Field, TypeAdapter

from cuecard import SpecError
from cuecard.config.documents.validation import FileModel, validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.history_spec import HistorySpec, StackSpec


class Agent(FileModel):
    """An agent file of these keys alone."""

    history: HistorySpec | None = Field(None, description="what of a conversation goes in")
    messages: StackSpec = Field(StackSpec(), description="the messages of a request")


def read(text: str) -> Agent:
    return validate(read_yaml(text, "agent.yaml"), Agent)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("history: {policy: window}", {"load": 16, "keep": 15, "on_overflow": 10, "summarize": "after"}),
        ("history: {policy: tokens}", {"threshold": 0.8, "target": 0.1, "summarize": "before"}),
        ("history: {policy: last}", {"limit": 50}),
        ("history: {policy: last, limit: 12}", {"limit": 12}),
        ("history: {policy: blocks}", {"limit": 60, "block": 30, "max_tokens": None}),
        ("history: {policy: window, drop: [blank]}", {"drop": ("blank",)}),
    ],
)
def test_the_policy_says_what_else_may_be_written(text: str, expected: dict[str, Any]) -> None:
    history = read(text).history

    assert {key: getattr(history, key) for key in expected} == expected


def test_the_summary_of_a_policy_is_shown_where_that_policy_shows_it_unless_the_file_says_otherwise() -> None:
    specs = [
        read(f"history: {{policy: {p}, summary: {{temperature: 0}}}}").history for p in ("window", "tokens", "blocks")
    ]

    assert [spec.summary.show for spec in specs if spec and spec.policy != "last"] == ["section", "message", "message"]


@pytest.mark.parametrize(
    "text",
    [
        "history: {policy: window, load: 3, keep: 2, on_overflow: 2}",
        "history: {policy: tokens, max_context: 2, reserve: 1}",
        "history: {policy: blocks, limit: 2, block: 2}",
        "messages: {order: [current, history, new, metadata, system, ephemeral]}",
    ],
)
def test_the_most_that_a_policy_allows_is_allowed(text: str) -> None:
    made = read(text)

    assert made.messages.sections == (("new",) if "new" in text else ())
    assert not made.history or made.history.policy != "tokens" or made.history.budget == 1


POLICY = "`history` should name its `policy`: window, tokens, last or blocks"
ONCE = "`messages.order` should hold system, metadata, history and current, each once"
ORDERED = "`history` should have `on_overflow` up to `keep`, and `keep` below `load`: otherwise nothing overflows"


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("history: {load: 4}", "agent.yaml:1:10", POLICY),
        ("history: {policy: sliding}", "agent.yaml:1:10", POLICY),
        ("history: {policy: {window: 4}}", "agent.yaml:1:10", POLICY),
        ("history: {policy: [window]}", "agent.yaml:1:10", POLICY),
        ("history: {policy: window, keep: 16}", "agent.yaml:1:10", ORDERED),
        ("history: {policy: window, on_overflow: 16}", "agent.yaml:1:10", ORDERED),
        ("history: {policy: window, lod: 4}", "agent.yaml:1:27", "unknown key `lod`"),
        (
            "history: {policy: tokens, reserve: 128000}",
            "agent.yaml:1:10",
            "`history` should have a `reserve`, here 128000, below `max_context`, 128000",
        ),
        (
            "history: {policy: blocks, block: 61}",
            "agent.yaml:1:10",
            "`history` should have a `block`, here 61, up to `limit`, 60",
        ),
        (
            "history: {policy: last, prefix: '{name}: '}",
            "agent.yaml:1:33",
            "`history.prefix` contains the unknown placeholder {name}; known here: {timestamp}, {speaker}, {role}",
        ),
        (
            "history: {policy: window, summary: {message: Summary}}",
            "agent.yaml:1:46",
            "`history.summary.message` should contain {summary}",
        ),
        (
            "messages: {order: [system, current, new, new, ephemeral, system]}",
            "agent.yaml:1:19",
            f"{ONCE}: `metadata` is missing, `history` is missing, `system` is there twice, `new` is there twice",
        ),
        (
            "messages: {metadata: {max_bytes: 127}}",
            "agent.yaml:1:34",
            "`messages.metadata.max_bytes` should be greater than or equal to 128",
        ),
    ],
)
def test_a_mistake_is_shown_where_it_is_written(text: str, place: str, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(text)

    (problem,) = caught.value.problems
    assert problem.message == message
    assert problem.picture().startswith(f"{place}: ")


@pytest.mark.parametrize(
    "text", ["{policy: last, summary: {show: section}}", "{policy: last, keep: 2, on_overflow: 1}"]
)
def test_a_key_of_another_policy_is_told_with_those_of_this_one(text: str) -> None:
    with pytest.raises(SpecError) as caught:
        read(f"history: {text}")

    assert {each.hint for each in caught.value.problems} == {"known here: `drop`, `limit`, `policy`, `prefix`"}


def test_every_key_says_what_it_is() -> None:
    schema = TypeAdapter(Agent).json_schema()
    described = {
        f"{name}.{key}": field.get("description")
        for name, part in schema["$defs"].items()
        for key, field in part["properties"].items()
    }

    assert len(described) > 50
    assert [key for key, text in described.items() if not text] == []
