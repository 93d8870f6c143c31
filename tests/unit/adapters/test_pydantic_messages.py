"""Where appended blocks go among pydantic-ai's messages."""

from __future__ import annotations

from typing import Literal, TypeAlias

from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolReturnPart,
    UserPromptPart,
)

from cuecard import ToolResult
from cuecard.adapters.pydantic_ai.messages import place_appended, tool_results
from cuecard.types import Appended

Outcome: TypeAlias = Literal["success", "failed", "denied", "interrupted", "retried"]

SIZES = st.lists(st.integers(min_value=1, max_value=3), max_size=5)


def conversation(sizes: list[int]) -> list[ModelMessage]:
    """One batch of results per size, with ids `batch-place`, the user's words around them."""
    messages: list[ModelMessage] = [ModelRequest([SystemPromptPart("host"), UserPromptPart("hello")])]
    for batch, size in enumerate(sizes):
        results: list[ModelRequestPart] = [
            ToolReturnPart("tool_search", {"tools": []}, f"{batch}-{place}") for place in range(size)
        ]
        messages += [ModelResponse([TextPart("calls")]), ModelRequest([*results, UserPromptPart("more")])]
    return messages


def blocks_for(messages: list[ModelMessage]) -> list[Appended]:
    return [Appended(result.call_id, f"<{result.call_id}>") for result in tool_results(messages)]


def kinds(message: ModelMessage) -> list[str]:
    return [part.part_kind for part in message.parts]


@given(SIZES, st.data())
def test_each_block_appears_once_after_the_last_result_of_its_batch(sizes: list[int], data: st.DataObject) -> None:
    messages = conversation(sizes)
    wanted = [block for block in blocks_for(messages) if data.draw(st.booleans())]

    placed = place_appended(messages, wanted)

    for batch, size in enumerate(sizes):
        texts = [block.text for block in wanted if (block.after_call_id or "").startswith(f"{batch}-")]
        request = placed[2 + 2 * batch]
        assert kinds(request) == ["tool-return"] * size + ["system-prompt"] * len(texts) + ["user-prompt"]
        assert [part.content for part in request.parts if isinstance(part, SystemPromptPart)] == texts


@given(SIZES, st.data())
def test_placing_again_changes_nothing_and_placing_in_two_steps_is_the_same(
    sizes: list[int], data: st.DataObject
) -> None:
    messages = conversation(sizes)
    wanted = blocks_for(messages)
    first = wanted[: data.draw(st.integers(min_value=0, max_value=len(wanted)))]

    once = place_appended(messages, wanted)
    twice = place_appended(place_appended(messages, first), wanted)

    assert [kinds(message) for message in twice] == [kinds(message) for message in once]
    assert place_appended(twice, wanted) == twice


@given(SIZES)
def test_the_messages_of_the_host_stay_unchanged(sizes: list[int]) -> None:
    messages = conversation(sizes)
    before = [list(message.parts) for message in messages]

    place_appended(messages, blocks_for(messages))

    assert [list(message.parts) for message in messages] == before


def test_a_block_whose_result_is_in_no_message_comes_last() -> None:
    messages = conversation([1])

    placed = place_appended([*messages, ModelResponse([TextPart("done")])], [Appended(None, "<x>")])

    assert kinds(placed[2]) == ["tool-return", "system-prompt", "user-prompt"]


def test_a_block_without_any_result_follows_the_words_of_the_user() -> None:
    placed = place_appended(conversation([]), [Appended("gone", "<x>")])

    assert kinds(placed[0]) == ["system-prompt", "user-prompt", "system-prompt"]


def test_only_results_that_succeeded_are_not_errors() -> None:
    outcomes: list[Outcome] = ["success", "failed", "denied", "interrupted", "retried"]
    parts = [ToolReturnPart("t", outcome, f"id-{outcome}", outcome=outcome) for outcome in outcomes]

    results = tool_results([ModelRequest(parts), ModelResponse([TextPart("x")])])

    assert results[0] == ToolResult("t", "success", "id-success")
    assert [result.is_error for result in results] == [False, True, True, True, True]
