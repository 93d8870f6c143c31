"""Runs a summarizer with a time limit: the only part of summaries that needs a thread or task, and a clock."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import replace

from cuecard.config.history_spec import HistorySpec
from cuecard.model import CountTokens, Diagnostic, Turn
from cuecard.pipeline.history.selection import AsyncSummarizer, Summarizer, SummaryRequest, apply_summary, summary_due
from cuecard.records import dataclass


@dataclass(frozen=True, slots=True)
class Reply:
    """The outcome: the summary, or None and a diagnostic with the reason."""

    text: str | None
    diagnostic: Diagnostic | None = None


def summarized(
    turn: Turn, policy: HistorySpec | None, count: CountTokens, summarizer: Summarizer, timeout: float
) -> Turn:
    """The turn with a summary of its conversation, updated if its history policy asks for it."""
    due = summary_due(turn.messages, turn.summary, policy, count) if policy else None
    return _with(turn, policy, count, summarize(due, summarizer, timeout)) if policy and due else turn


async def asummarized(
    turn: Turn,
    policy: HistorySpec | None,
    count: CountTokens,
    summarizer: AsyncSummarizer,
    timeout: float,  # noqa: ASYNC109 - as `asummarize`
) -> Turn:
    """The same with an awaited summarizer."""
    due = summary_due(turn.messages, turn.summary, policy, count) if policy else None
    return _with(turn, policy, count, await asummarize(due, summarizer, timeout)) if policy and due else turn


def _with(turn: Turn, policy: HistorySpec, count: CountTokens, reply: Reply) -> Turn:
    selected = apply_summary(turn.messages, turn.summary, policy, count, reply.text)
    found = (reply.diagnostic,) if reply.diagnostic else ()
    return replace(turn, summary=selected.store, diagnostics=(*turn.diagnostics, *found))


def summarize(request: SummaryRequest, summarizer: Summarizer, timeout: float) -> Reply:
    """The summarizer's answer within `timeout` seconds; its exceptions are never raised.

    It runs in a daemon thread; a late answer is discarded. The codes of the diagnostic are `summarizer_failed`,
    `summarizer_slow` and `summarizer_empty`.
    """
    answer: Future[Reply] = Future()
    context = copy_context()
    threading.Thread(
        target=lambda: context.run(_answer, answer, request, summarizer), name="cuecard-summarizer", daemon=True
    ).start()
    try:
        return answer.result(timeout)
    except TimeoutError:
        return _too_slow(timeout)


async def asummarize(request: SummaryRequest, summarizer: AsyncSummarizer, timeout: float) -> Reply:  # noqa: ASYNC109 - the summarizer may ignore that it was cancelled, and is not waited for then
    """The awaited summarizer's answer within `timeout` seconds, with the diagnostics of `summarize`.

    It runs as a separate task, which is cancelled when it takes too long, without waiting for it. The caller's own
    cancellation cancels it and is passed on.
    """
    task = asyncio.ensure_future(_awaited(request, summarizer))
    try:
        done, _ = await asyncio.wait({task}, timeout=timeout)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if done:
        return _nothing("summarizer_failed", "CancelledError: it was cancelled") if task.cancelled() else task.result()
    task.cancel()
    return _too_slow(timeout)


async def _awaited(request: SummaryRequest, summarizer: AsyncSummarizer) -> Reply:
    try:
        return _reply(await summarizer(request))
    except Exception as error:  # noqa: BLE001 - whatever went wrong in there, the conversation goes on
        return _failed(error)


def _answer(answer: Future[Reply], request: SummaryRequest, summarizer: Summarizer) -> None:
    try:
        answer.set_result(_reply(summarizer(request)))
    except BaseException as error:  # noqa: BLE001 - whatever went wrong in there, the conversation goes on
        answer.set_result(_failed(error))


def _reply(text: object) -> Reply:
    if not isinstance(text, str):
        return _nothing("summarizer_failed", f"the answer is of type {type(text).__name__}, not a text")
    return Reply(text) if text.strip() else _nothing("summarizer_empty", "the answer is blank")


def _failed(error: BaseException) -> Reply:
    return _nothing("summarizer_failed", f"{type(error).__name__}: {error}")


def _too_slow(timeout: float) -> Reply:
    return _nothing("summarizer_slow", f"no summary within {timeout:g} seconds")


def _nothing(code: str, message: str) -> Reply:
    return Reply(None, Diagnostic(code, message))
