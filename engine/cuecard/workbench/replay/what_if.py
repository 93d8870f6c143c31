"""A recorded conversation as it might have been: longer or shorter, or with wider or narrower searches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from cuecard.config.transcript_file import RecordedCall, RecordedRequest, RecordedTurn, TranscriptFile
from cuecard.engine import Engine
from cuecard.pipeline.search_results import found_names


def lengthened(transcript: TranscriptFile, requests: int) -> TranscriptFile:
    """The conversation with so many requests: cut off there or, if it ends before, said again from its beginning.

    What is said again comes later by the clock, and its calls have ids of their own.
    """
    turns: list[RecordedTurn] = []
    later, again = _length(transcript), 0
    while True:
        for turn in transcript.turns:
            kept = turn.requests[: requests - sum(len(each.requests) for each in turns)]
            if not kept:
                return transcript.model_copy(update={"turns": turns})
            cut = turn.model_copy(update={"requests": kept})
            turns.append(_later(cut, again, again * later) if again else cut)
        again += 1


def widened(transcript: TranscriptFile, engine: Engine, width: int) -> TranscriptFile:
    """The conversation with searches that return at most so many tools: of those that were returned, the first ones;
    behind them, those that the agent's own search finds for the same words.
    """

    def call(recorded: RecordedCall) -> RecordedCall:
        if recorded.tool != engine.search_tool or recorded.is_error:
            return recorded
        names = found_names(recorded.result).names
        more = _more(engine, recorded, width) if len(names) < width else ()
        wanted = [*dict.fromkeys((*names, *more))][:width]
        held = recorded.result if isinstance(recorded.result, dict) and "tools" in recorded.result else {}
        return recorded if wanted == [*names] else recorded.model_copy(update={"result": {**held, "tools": wanted}})

    return _with_calls(transcript, call)


def _more(engine: Engine, recorded: RecordedCall, width: int) -> Sequence[str]:
    query = recorded.args.get("query") if isinstance(recorded.args, dict) else None
    return engine.search_tools(query, width).tools if isinstance(query, str) and query.strip() else ()


def _with_calls(transcript: TranscriptFile, change: Callable[[RecordedCall], RecordedCall]) -> TranscriptFile:
    def request(recorded: RecordedRequest) -> RecordedRequest:
        return recorded.model_copy(update={"calls": [change(each) for each in recorded.calls]})

    turns = [
        turn.model_copy(update={"requests": [request(each) for each in turn.requests]}) for turn in transcript.turns
    ]
    return transcript.model_copy(update={"turns": turns})


def _length(transcript: TranscriptFile) -> timedelta:
    """The time from its beginning until it would begin again; nothing where times are not recorded."""
    moments = [each.at for each in transcript.requests() if each.at] + [turn.at for turn in transcript.turns if turn.at]
    if len(moments) <= 1:
        return timedelta()
    whole: timedelta = max(moments) - min(moments)
    return whole + whole / (len(moments) - 1)


def _later(turn: RecordedTurn, again: int, later: timedelta) -> RecordedTurn:
    def moved(at: datetime | None) -> datetime | None:
        return at + later if at else None

    def call(recorded: RecordedCall) -> RecordedCall:
        return recorded.model_copy(update={"id": f"{recorded.id}-{again}"}) if recorded.id else recorded

    def request(recorded: RecordedRequest) -> RecordedRequest:
        calls = [call(each) for each in recorded.calls]
        return recorded.model_copy(update={"at": moved(recorded.at), "calls": calls})

    return turn.model_copy(update={"at": moved(turn.at), "requests": [request(each) for each in turn.requests]})
