"""The requirements of the model's types beyond their annotations."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.model import Call, ConversationState, ToolCard, Turn
from cuecard.model.messages import Message, Summary, ToolCall
from cuecard.shapes import Either, Instance, JsonValue, Maybe, Moment, Several, Shape, Shapes, Table, Text, Whole, Wrong


def _message(message: Message) -> Iterator[Wrong]:
    """The checks that `messages_from_json` makes as well."""
    if (message.role == "tool") != bool(message.tool_call_id):
        hint = "messages of role `tool` must name the call they answer, and no others may"
        yield Wrong("tool_call_id", "is required for tool results and allowed only there", hint)
    if message.tool_calls and message.role != "assistant":
        yield Wrong("tool_calls", "is only allowed in assistant messages")


_NAME = Text(least=1)

SHAPES = Shapes(
    fields={
        (ConversationState, "call"): Maybe([Instance(Call)]),
        (ConversationState, "kept"): Maybe([Whole(0)]),
        (Message, "content"): Either([Text(), Several(Table(JsonValue(finite=True)), "a tuple of parts")]),
        (Summary, "covers"): Whole(0),
        (ToolCall, "id"): _NAME,
        (ToolCall, "name"): _NAME,
        (ToolCall, "arguments"): JsonValue(finite=True),
        (ToolCard, "name"): _NAME,
        (ToolCard, "input_schema"): Table(JsonValue()),
        (Turn, "now"): Maybe([Moment(zoned=True)]),
        (Turn, "inputs"): Table(JsonValue(finite=True)),
        (Turn, "metadata"): Table(JsonValue(finite=True)),
    },
    rules={Message: _message},
    hints={
        Message: 'make it with `Message("user", "...")`, or read plain JSON with `messages_from_json`',
        ConversationState: "read plain JSON with `ConversationState.from_json`, and what `dump` wrote with `load`",
    },
)
"""The shapes of the model's types."""


def shape_of(annotation: object) -> Shape:
    """The shape of a type of the model, or of an annotation composed of such types."""
    return SHAPES.of(annotation)
