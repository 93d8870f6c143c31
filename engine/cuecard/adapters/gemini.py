"""Request bodies for Gemini's `generateContent`, as plain dicts in the names of its REST interface."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from cuecard.adapters.block_places import MessageReader
from cuecard.adapters.blocks import place_after
from cuecard.adapters.bodies import (
    Body,
    Message,
    ToolBody,
    body_rules,
    order_tools,
    passing_system,
    reminder,
    tool_choice,
)
from cuecard.adapters.content_places import NO_ANSWER
from cuecard.model import Step
from cuecard.model.boundary import checked


@checked(also=body_rules("gemini", "contents"))
def request(step: Step, contents: Iterable[Message], *, tools: Iterable[ToolBody] = ()) -> Body:
    """The body of one request, `contents` last; the model is named in the address, not in the body.

    Gemini has no operator role mid-conversation. An appended block is a `<system-reminder>` text in a content with the
    `user` role, after the function responses it belongs to, so it has a user's authority. Caching is implicit, without
    breakpoints; it works because earlier contents never change.

    Args:
        step: the step from `prepare_step`.
        contents: the conversation so far; blocks placed earlier are recognised. A block finds its function response by
            `id`. Without ids, blocks go to the end of each request, which breaks the cache.
        tools: function declarations of every tool of the conversation; otherwise the first discovery breaks the prompt
            cache.

    Raises:
        InputError: with everything that is wrong in an argument, or when a block has no content of the user to go with.
        RunLimitError: when a limit of the run allows no further request.
    """
    ordered = order_tools(tools, step)
    make = partial(_content, form=step.reminder)
    return {
        **({"tools": [{"functionDeclarations": ordered}]} if ordered else {}),
        **tool_choice(step, "gemini", ordered),
        "systemInstruction": {"parts": [{"text": text} for text in (step.system, *passing_system(step))]},
        "contents": place_after(_spoken(contents), step, make, _READER),
    }


def _spoken(contents: Iterable[Message]) -> list[Body]:
    """The contents without empty texts and answers, which the service refuses; a text may carry a signature."""
    spoken: list[Body] = []
    for content in contents:
        parts = [part for part in content.get("parts") or () if part != {"text": ""}]
        if parts or content.get("role") == "model":
            spoken.append({**content, "parts": parts or [{"text": NO_ANSWER}]})
    return spoken


def _content(text: str, form: str) -> Body:
    return {"role": "user", "parts": [{"text": reminder(text, form)}]}


def _says(content: Message) -> int:
    parts = content.get("parts", ())
    if content.get("role", "user") != "user" or (parts and all(map(_response, parts))):
        return 0
    return sum("text" in part for part in parts) or 1


def _response_ids(content: Message) -> tuple[str, ...]:
    return tuple(response.get("id") or "" for part in content.get("parts", ()) if (response := _response(part)))


def _response(part: Message) -> Message | None:
    # Python clients write the names with underscores.
    return part.get("functionResponse") or part.get("function_response")


_READER = MessageReader(_response_ids, _says)
