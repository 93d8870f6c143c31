"""Fifty conversations through one engine, in threads and in tasks: nobody hears of anybody else."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import pytest

from cms_agent import cms as engine
from cuecard import Conversation, Entity, ToolResult, Turn

pytestmark = pytest.mark.repeats

CONVERSATIONS, STEPS = 50, 20


@cache
def tools() -> list[str]:
    return [name for name in engine().tools if name not in engine().agent.spec.tools.core]


def begin(number: int) -> Conversation:
    chat = engine().conversation()
    chat.remember([Entity("page", f"id-{number}", f"Marker {number}.")])
    return chat


def go_on(chat: Conversation, number: int, at: int) -> tuple[str, ...]:
    """One step, with a new message of the user before every tenth; what the model sees of it."""
    if at % 10 == 0:
        chat.user(Turn())
    tool = tools()[(number + at) % len(tools())]
    page = ToolResult("cms_getPage", {"data": {"id": f"{number}-{at}", "title": f"Marker {number}."}}, f"get-{at}")
    step = chat.step([ToolResult("tool_search", {"tools": [tool]}, f"find-{at}"), page])
    return (step.system, *(block.text for block in step.appended), " ".join(step.active_tools))


def alone(number: int) -> list[tuple[str, ...]]:
    chat = begin(number)
    return [go_on(chat, number, at) for at in range(STEPS)]


expected = cache(alone)


def check(seen: list[list[tuple[str, ...]]]) -> None:
    for number, steps in enumerate(seen):
        everything = "\n".join(text for step in steps for text in step)
        markers = {word for word in everything.split('"') if word.startswith("Marker")}

        assert markers == {f"Marker {number}."}
        assert steps == expected(number)


def test_in_threads() -> None:
    with ThreadPoolExecutor(16) as pool:
        check(list(pool.map(alone, range(CONVERSATIONS))))


def test_in_tasks() -> None:
    async def talk(number: int) -> list[tuple[str, ...]]:
        chat, seen = begin(number), []
        for at in range(STEPS):
            seen.append(go_on(chat, number, at))
            await asyncio.sleep(0)
        return seen

    async def talk_all() -> list[list[tuple[str, ...]]]:
        return list(await asyncio.gather(*map(talk, range(CONVERSATIONS))))

    check(asyncio.run(talk_all()))
