"""What a file says of a user message is what the engine is given."""

from __future__ import annotations

from dataclasses import fields
from datetime import UTC, datetime

from cuecard import Entity, FileText, Gates, Memory, Message, ToolResult, Turn
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.turn_file import ConversationFile, ResultEntry, SearchEntry, TurnFile, to_turn
from cuecard.types import RunLimits, Summary

WHOLE = """\
now: 2026-11-20T09:00:00+00:00
inputs: {not: read here}
memory: [{type: page, id: "1", name: Home, key: home}, {type: post, id: "2", name: News}]
tools: [a]
discovered: [b]
delivery: rewrite
model: m
endpoint: e
host: system-only
profile: p
variant: v
files: {x.md: text, y.md: null}
gates: {enabled: [a], harness: h, flags: {f: true}, secrets: [s], allowed: [a, b], blocked: [c]}
access: reader
environment: [E]
messages: [{role: user, content: Hello}]
summary: {text: So far, covers: 1, upto: "7"}
message: Now
query: words
metadata: {k: 1}
ephemeral: once
ahead: [d]
conversation: c-1
run: {steps: 1, retries: 2, failures: 3, kept_tools: 4, first_tool: a, force_first: true, always: [b]}
not_enforced: [steps]
history:
  - {tool: t, result: r, call_id: "1", is_error: true, pending: true, batch: b, arguments: {q: 1}}
  - {search: words}
"""


def read(text: str) -> TurnFile:
    return validate(read_yaml(text, "turn.yaml"), TurnFile)


def test_every_key_of_a_file_reaches_the_turn() -> None:
    turn = Turn(
        inputs={"x": 1},
        memory=Memory((Entity("page", "1", "Home", "home"), Entity("post", "2", "News"))),
        now=datetime(2026, 11, 20, 9, tzinfo=UTC),
        tools=("a",),
        discovered=("b",),
        delivery="rewrite",
        model="m",
        endpoint="e",
        host="system-only",
        profile="p",
        variant="v",
        files={"x.md": FileText("x.md", "text"), "y.md": FileText("y.md", None)},
        gates=Gates(("a",), ("h",), {"f": True}, ("s",), ("a", "b"), ("c",)),
        access="reader",
        environment=("E",),
        messages=(Message("user", "Hello"),),
        summary=Summary("So far", 1, "7"),
        message=Message("user", "Now"),
        query="words",
        metadata={"k": 1},
        ephemeral="once",
        ahead=("d",),
        conversation="c-1",
        run=RunLimits(1, 2, 3, 4, "a", force_first=True, always=("b",)),
        not_enforced=("steps",),
    )

    assert to_turn(read(WHOLE), {"x": 1}) == turn
    untold = {each.name for each in fields(Turn) if getattr(turn, each.name) == getattr(Turn(), each.name)}
    assert untold == {"authority", "diagnostics", "reload", "tools_before"}
    assert to_turn(read("{}"), {}) == Turn(summary=Summary())
    result, search = read(WHOLE).history
    assert isinstance(result, ResultEntry)
    assert result.to_result() == ToolResult("t", "r", "1", is_error=True, pending=True, batch="b", arguments={"q": 1})
    assert isinstance(search, SearchEntry)


def test_each_turn_of_a_file_has_the_messages_of_those_before_it_unless_it_has_its_own() -> None:
    own = "{messages: [{role: user, content: d}], message: {role: user, content: e, id: '1'}}"
    text = f"turns: [{{message: a}}, {{query: b}}, {{message: c}}, {own}, {{message: f}}, {{messages: []}}]"
    talk = validate(read_yaml(text, "turns.yaml"), ConversationFile).talk

    def said(*words: str) -> tuple[dict[str, str], ...]:
        return tuple({"role": "user", "content": word} for word in words)

    with_id = {"role": "user", "content": "e", "id": "1"}
    assert [turn.messages for turn in talk] == [
        *((), said("a"), said("a"), said("d")),
        (*said("d"), with_id),
        (),
    ]
    assert [turn.spoken for turn in talk] == [*said("a"), None, *said("c"), with_id, *said("f"), None]
