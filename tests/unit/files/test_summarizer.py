"""A failing, empty or slow summarizer never raises and never blocks (Polyant: "never blocking the visible reply")."""

from __future__ import annotations

import threading
from contextvars import ContextVar

import pytest

from cuecard.files.summarizer import Reply, summarize
from cuecard.types import SummaryRequest

REQUEST = SummaryRequest("Sum up.", "User: Hello.")


def code(reply: Reply) -> str:
    assert reply.text is None
    assert reply.diagnostic is not None
    return reply.diagnostic.code


def test_an_answer_is_handed_on() -> None:
    assert summarize(REQUEST, lambda request: f"of {request.text}", 60) == Reply("of User: Hello.")


@pytest.mark.parametrize("error", [ValueError("no quota"), SystemExit(1), KeyboardInterrupt(), TimeoutError("theirs")])
def test_an_error_becomes_a_diagnostic(error: BaseException) -> None:
    def fail(_: SummaryRequest) -> str:
        raise error

    reply = summarize(REQUEST, fail, 60)

    assert code(reply) == "summarizer_failed"
    assert reply.diagnostic is not None
    assert reply.diagnostic.message == f"{type(error).__name__}: {error}"


@pytest.mark.parametrize("text", ["", " \n"])
def test_a_blank_answer_counts_as_none(text: str) -> None:
    assert code(summarize(REQUEST, lambda _: text, 60)) == "summarizer_empty"


def test_an_answer_that_is_not_text_counts_as_none() -> None:
    assert code(summarize(REQUEST, lambda _: None, 60)) == "summarizer_failed"  # type: ignore[arg-type, return-value]


def test_a_late_answer_is_discarded() -> None:
    go_on, done = threading.Event(), threading.Event()

    def slow(_: SummaryRequest) -> str:
        go_on.wait(60)
        done.set()
        return "too late"

    reply = summarize(REQUEST, slow, 0.01)
    go_on.set()

    assert code(reply) == "summarizer_slow"
    assert done.wait(60), "it may go on, but nobody waits for it"
    assert reply.text is None


def test_it_sees_the_context_of_its_caller() -> None:
    trace: ContextVar[str] = ContextVar("trace", default="")
    trace.set("request 7")

    assert summarize(REQUEST, lambda _: trace.get(), 60) == Reply("request 7")
