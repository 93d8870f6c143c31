"""A turn from a step of a conversation: what the host told then, as far as it is known, and what is not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from cuecard.config.transcript_file import RecordedTurn, TranscriptFile
from cuecard.model import Json, Manifest
from cuecard.pipeline.search_results import found_names
from cuecard.records import dataclass
from cuecard.studio.screen import Question
from cuecard.studio.turns import TurnRecord


@dataclass(frozen=True, slots=True)
class FilledTurn:
    """A turn that was filled in, and what of it is unknown, in words; empty if nothing is."""

    turn: Mapping[str, Json]
    unknown: str = ""


def turn_of(asked: Question) -> tuple[TurnRecord, str]:
    """The turn of an address, and the step that it was filled from."""
    address, run = asked.address, asked.run
    if address.turn:
        return asked.home.turns.read(address.turn), ""
    if run is None or asked.engine is None:
        return TurnRecord(), ""
    sent = run.steps[asked.step]
    if run.transcript is not None:
        filled = from_recording(run.transcript, sent.turn, sent.number, asked.engine.search_tool, address.model)
    else:
        filled = from_manifest(sent.manifest, [(each.who, each.text) for each in sent.lines if each.who != "block"])
    told = f"Filled from step {sent.place} of {run.name}"
    return TurnRecord(
        filled.turn, told=f"step {sent.place}"
    ), f"{told}{'; ' if filled.unknown else ''}{filled.unknown}."


def from_recording(transcript: TranscriptFile, turn: int, number: int, search: str, model: str = "") -> FilledTurn:
    """What a host told for a request of a recording.

    Args:
        transcript: the recording.
        turn: the number of its turn, from 1.
        number: the number of the request in it, from 1.
        search: the search tool.
        model: the model, if one was chosen.
    """
    now = transcript.turns[turn - 1]
    at = now.at or now.requests[0].at
    held: dict[str, Json] = {
        "now": at.isoformat() if at else None,
        "model": model,
        "inputs": dict(now.inputs),
        "memory": [each.model_dump(exclude_defaults=True) for each in now.memory or ()],
        "tools": now.tools,
        "discovered": [*dict.fromkeys(_found(transcript.turns[: turn - 1], search))],
        "messages": [*_said(transcript.turns[: turn - 1])],
        "message": now.user,
        "history": [*_results(now, turn, number)],
    }
    unknown = "" if now.memory is not None else "the working memory was not recorded"
    return FilledTurn({key: value for key, value in held.items() if value not in (None, "", [], {})}, unknown)


def from_manifest(manifest: Manifest, said: Sequence[tuple[str, str]] = ()) -> FilledTurn:
    """What a manifest tells of its turn.

    Args:
        manifest: the record of a request.
        said: the messages up to it, who and what, where they were recorded; the last one of the user is the current
            one.
    """
    made, sent = manifest.configuration, manifest.delivery
    last = max((at for at, (who, _) in enumerate(said) if who == "user"), default=-1)
    before = [{"role": who, "content": text} for who, text in said[: max(last, 0)] if text]
    held: dict[str, Json] = {
        "delivery": sent.name,
        "model": sent.model,
        "endpoint": sent.endpoint,
        "host": "" if sent.host == "messages" else sent.host,
        "profile": made.profile,
        "variant": made.variant,
        "access": made.access,
        "discovered": [each.tool for each in manifest.discovered],
        "messages": before,
        "message": said[last][1] if last >= 0 else "",
    }
    lost = ["inputs", "memory", *([] if last >= 0 else ["message"])]
    unknown = f"records hold no {', '.join(lost[:-1])} or {lost[-1]}: they have their defaults here"
    return FilledTurn({key: value for key, value in held.items() if value not in ("", [])}, unknown)


def _found(turns: Sequence[RecordedTurn], search: str) -> Iterator[str]:
    """The tools that searches of these turns have found, in order."""
    for call in (call for turn in turns for request in turn.requests for call in request.calls):
        if call.tool == search and not call.is_error:
            yield from found_names(call.result).names


def _said(turns: Sequence[RecordedTurn]) -> Iterator[Json]:
    """What users and the model wrote in these turns."""
    for turn in turns:
        yield {"role": "user", "content": turn.user}
        yield from ({"role": "assistant", "content": each.text} for each in turn.requests if each.text)


def _results(turn: RecordedTurn, at: int, number: int) -> Iterator[Json]:
    """The results of a turn before a request of it."""
    for place, request in enumerate(turn.requests[: number - 1], 1):
        for call_place, call in enumerate(request.calls, 1):
            told: dict[str, Json] = {"tool": call.tool, "call_id": call.id or f"{at}.{place}.{call_place}"}
            told |= {"is_error": True} if call.is_error else {}
            yield {**told, "result": call.result, "batch": f"{at}.{place}"}
