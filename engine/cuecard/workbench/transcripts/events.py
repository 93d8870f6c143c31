"""The events that every importer makes of a log, and the transcript made of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeAlias

from cuecard.config.transcript_file import (
    RecordedCall,
    RecordedRequest,
    RecordedTool,
    RecordedTurn,
    RecordedUsage,
    TranscriptFile,
)
from cuecard.errors import Problem, SpecError
from cuecard.model import Json


@dataclass(frozen=True, slots=True)
class UserEvent:
    """A message of the user."""

    text: str
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class AnswerEvent:
    """An answer of the model: text, and calls as id, tool and arguments."""

    text: str
    calls: tuple[tuple[str, str, Json], ...] = ()
    at: datetime | None = None
    usage: RecordedUsage | None = None


@dataclass(frozen=True, slots=True)
class ResultEvent:
    """The result of a tool."""

    id: str
    result: Json
    is_error: bool = False


Event: TypeAlias = UserEvent | AnswerEvent | ResultEvent


@dataclass
class _Turn:
    said: list[UserEvent]
    answers: list[AnswerEvent] = field(default_factory=list)


def to_transcript(events: Iterable[Event], tools: Iterable[RecordedTool], source: str, name: str) -> TranscriptFile:
    """The conversation that consists of these events.

    A message that the user adds before the model has answered is joined to the previous one.

    Raises:
        SpecError: when there is no message of the user, and therefore no conversation.
    """
    turns: list[_Turn] = []
    results: dict[str, ResultEvent] = {}
    for event in events:
        if isinstance(event, UserEvent):
            if turns and not turns[-1].answers:
                turns[-1].said.append(event)
            else:
                turns.append(_Turn([event]))
        elif isinstance(event, AnswerEvent):
            if turns:
                turns[-1].answers.append(event)
        else:
            results[event.id] = event
    if not turns:
        hint = "a conversation begins with a user message"
        raise SpecError(Problem("no-conversation", "this log contains no user message", hint, name))
    recorded = [_turn(turn, results) for turn in turns]
    return TranscriptFile(source=source, tools=list({t.name: t for t in tools}.values()), turns=recorded)


def dated(answers: Sequence[Event], at: Mapping[int, datetime], usage: Mapping[int, RecordedUsage]) -> list[Event]:
    """The events with the time and usage of their requests, which are given by the index of the answer."""
    number, found = 0, list[Event]()
    for event in answers:
        if isinstance(event, AnswerEvent):
            event = replace(event, at=at.get(number, event.at), usage=usage.get(number, event.usage))  # noqa: PLW2901
            number += 1
        found.append(event)
    return found


def when(value: Json) -> datetime | None:
    """A time from ISO 8601 text or seconds since 1970; None when it is neither. Times without a zone are UTC."""
    try:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
        moment = datetime.fromisoformat(value) if isinstance(value, str) else None
    except (ValueError, OverflowError, OSError):
        return None
    return moment.replace(tzinfo=UTC) if moment and moment.tzinfo is None else moment


def count_of(value: Json) -> int:
    """A token count as a provider reports it; 0 when it is not a number."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _turn(turn: _Turn, results: Mapping[str, ResultEvent]) -> RecordedTurn:
    requests = [
        RecordedRequest(
            at=answer.at,
            text=answer.text,
            calls=[_call(identity, tool, args, results.get(identity)) for identity, tool, args in answer.calls],
            usage=answer.usage,
        )
        for answer in turn.answers
    ]
    text = "\n".join(said.text for said in turn.said if said.text)
    return RecordedTurn(user=text, at=turn.said[0].at, requests=requests or [RecordedRequest()])


def _call(identity: str, tool: str, args: Json, returned: ResultEvent | None) -> RecordedCall:
    if returned is None:
        return RecordedCall(tool=tool, id=identity, args=args)
    return RecordedCall(tool=tool, id=identity, args=args, result=returned.result, is_error=returned.is_error)
