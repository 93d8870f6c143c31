"""`asummarize` and `asearch_tools` promise what their twins promise, and let a cancellation pass."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from cuecard import Engine, InputError, Message, Turn
from cuecard.types import Summary, SummaryRequest
from unit.agent.section_lists.agents import PROTOCOLS, TOOLS, opened

AGENT = f"""\
agent: a
tools: {{instructions: tools.yaml, core: [tool_search]}}
history: {{policy: window, keep: 2, on_overflow: 2, summarize: before}}
sections: [{{id: p, text: '{PROTOCOLS}'}}]
"""
TALK = Turn(messages=tuple(Message("user" if n % 2 else "assistant", f"message {n}") for n in range(1, 9)))
FOREVER = 3600


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    return opened(tmp_path, AGENT, tools_yaml=TOOLS)


async def answer(request: SummaryRequest) -> str:
    await asyncio.sleep(0)
    return f"told in {len(request.text)} characters"


def code(turn: Turn) -> str:
    (diagnostic,) = turn.diagnostics
    return diagnostic.code


def test_the_twin_gives_the_same_turn(engine: Engine) -> None:
    waited = asyncio.run(engine.asummarize(TALK, answer))

    assert waited.summary
    assert waited == engine.summarize(TALK, lambda request: f"told in {len(request.text)} characters")
    assert asyncio.run(engine.asummarize(Turn(), answer)) == Turn(), "nothing is due"


def test_what_goes_wrong_is_a_diagnostic(engine: Engine) -> None:
    async def fail(_: SummaryRequest) -> str:
        raise ValueError("no quota")

    async def give_up(_: SummaryRequest) -> str:
        raise asyncio.CancelledError

    async def blank(_: SummaryRequest) -> str:
        return " "

    at_once: Any = lambda _: "not awaited"  # noqa: E731 - a function that is not asynchronous
    summarizers: list[Callable[[SummaryRequest], Awaitable[str]]] = [fail, give_up, blank, at_once]

    codes = [code(asyncio.run(engine.asummarize(TALK, each))) for each in summarizers]

    assert codes == ["summarizer_failed", "summarizer_failed", "summarizer_empty", "summarizer_failed"]


def test_a_late_summary_is_discarded_even_if_the_summarizer_ignores_its_cancellation(engine: Engine) -> None:
    async def stubborn(_: SummaryRequest) -> str:
        ignored = False
        while not ignored:
            try:
                await asyncio.sleep(FOREVER)
            except asyncio.CancelledError:
                ignored = True
        await over.wait()
        return "too late"

    async def main() -> Turn:
        turn = await engine.asummarize(TALK, stubborn, timeout=0.01)
        over.set()
        return turn

    over = asyncio.Event()
    turn = asyncio.run(main())

    assert code(turn) == "summarizer_slow"
    assert turn.summary == Summary()


def test_a_cancellation_passes_through_and_reaches_the_summarizer(engine: Engine) -> None:
    heard: list[str] = []

    async def slow(_: SummaryRequest) -> str:
        began.set()
        try:
            await asyncio.sleep(FOREVER)
        except asyncio.CancelledError:
            heard.append("cancelled")
            raise
        return ""

    async def main() -> None:
        task = asyncio.create_task(engine.asummarize(TALK, slow))
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.sleep(0)

    began = asyncio.Event()
    asyncio.run(main())

    assert heard == ["cancelled"]


def test_a_remote_ranker_is_asked_what_the_agents_own_would_be(engine: Engine) -> None:
    asked: list[tuple[str, int]] = []

    async def ranker(query: str, limit: int) -> list[tuple[str, float]]:
        await asyncio.sleep(0)
        asked.append((query, limit))
        return [("put_page", 0.9), ("made_up", 0.8), ("get_page", 0.7)]

    found = asyncio.run(engine.asearch_tools("write", 5, ranker=ranker))
    nothing = asyncio.run(engine.asearch_tools(" ", ranker=ranker))

    assert found.tools == ("put_page", "get_page")
    assert found.confidence == 0.9
    assert nothing == engine.search_tools(" ")
    assert asked == [("write", 5)]


@pytest.mark.parametrize(
    "answer",
    [ConnectionError("far away"), "get_page", [(7, float("nan"))], 7],
)
def test_a_remote_ranker_that_fails_leaves_the_search_to_the_agents_own(engine: Engine, answer: Any) -> None:
    async def ranker(_: str, __: int) -> Any:
        await asyncio.sleep(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    found = asyncio.run(engine.asearch_tools("get page", ranker=ranker))

    assert found.hits == engine.search_tools("get page").hits
    assert [diagnostic.code for diagnostic in found.diagnostics] == ["ranker_failed"]


def test_a_limit_out_of_range_is_refused_before_the_ranker_is_asked(engine: Engine) -> None:
    async def ranker(_: str, __: int) -> Any:
        raise AssertionError("asked")

    with pytest.raises(InputError, match="search-limit"):
        asyncio.run(engine.asearch_tools("write", 51, ranker=ranker))
