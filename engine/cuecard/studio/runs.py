"""Conversations that the studio can show: played recordings, and what hosts have written down."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal, TypeAlias

from cuecard.config.model_profile import ModelProfile
from cuecard.config.transcript_file import RecordedCall, RecordedRequest, RecordedUsage, TranscriptFile, read_transcript
from cuecard.engine import Engine
from cuecard.files.content import content_root
from cuecard.model import Delivery, Manifest
from cuecard.records import dataclass
from cuecard.workbench.bill import Request
from cuecard.workbench.replay.blocks import answer_blocks, user_block
from cuecard.workbench.replay.play import Channel, SentRequest, play

MAX_PLAYED = 16
"""The number of played conversations that are kept."""

Kind: TypeAlias = Literal["recording", "records", "turn"]
"""Where a conversation is from: played from a recording, written by a host, or made of a turn on the Inputs screen."""


@dataclass(frozen=True, slots=True)
class Called:
    """A tool that the model called: the query of a search, where it was recorded, and the id of the call."""

    tool: str
    query: str = ""
    id: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """What stands after the system prompt, in the order in which the model reads it.

    Attributes:
        who: `user` or `assistant` for a message, `block` for a text of cuecard's.
        text: the words of a message; empty where they were not recorded.
        calls: the tools that the model called.
        block: the id of the section, for a block.
    """

    who: Literal["user", "assistant", "block"]
    text: str = ""
    calls: tuple[Called, ...] = ()
    block: str = ""


@dataclass(frozen=True, slots=True)
class Sent:
    """One request of a conversation.

    Attributes:
        turn: the number of its turn, from 1.
        number: its number within the turn, from 1.
        manifest: what was sent, why, and what was left out.
        texts: the text of each section by its id; empty where texts were not recorded.
        lines: what stands after the system prompt; empty where the order is not known.
        calls: what the model then called; None where that was not recorded.
        request: the whole request in blocks, to be priced; None where only the manifest is known.
        usage: what the provider reported; None where that was not recorded.
    """

    turn: int
    number: int
    manifest: Manifest
    texts: Mapping[str, str]
    lines: tuple[Line, ...] = ()
    calls: tuple[str, ...] | None = None
    request: Request | None = None
    usage: RecordedUsage | None = None

    @property
    def place(self) -> str:
        """Its place as addresses have it, such as `2.3`."""
        return f"{self.turn}.{self.number}"


@dataclass(frozen=True, slots=True)
class Run:
    """A conversation.

    Attributes:
        id: what an address calls it.
        name: what people call it.
        kind: where it is from.
        steps: its requests in order.
        at: when it began; empty if unknown.
        live: whether more is being written.
    """

    id: str
    name: str
    kind: Kind
    steps: tuple[Sent, ...]
    at: str = ""
    live: bool = False

    def place_of(self, step: str) -> int:
        """The number of a step in `steps`, counted from 0: the last one without a name; -1 where there is none."""
        if not step:
            return len(self.steps) - 1
        return next((place for place, sent in enumerate(self.steps) if sent.place == step), -1)


def played(
    identity: str, name: str, engine: Engine, transcript: TranscriptFile, delivery: Delivery, model: ModelProfile
) -> Run:
    """A recording, played through an engine as if it happened now.

    Raises:
        InputError: with every missing, unknown or wrong input of a turn.
    """
    sent = play(engine, transcript, delivery, Channel.of(model))
    messages = dict(_messages(engine, transcript))
    steps = (_sent(each, messages, answer) for each, answer in zip(sent, transcript.requests(), strict=True))
    return Run(identity, name, "recording", tuple(steps))


def _sent(sent: SentRequest, messages: Mapping[str, Line], answer: RecordedRequest) -> Sent:
    step, calls = sent.step, tuple(call.tool for call in answer.calls)
    texts = {segment.id: segment.text for segment in step.segments} | {each.id: each.text for each in step.appended}
    blocks = {f"appended:{each.sha256}": Line("block", block=each.id) for each in step.appended}
    lines = (known for each in sent.request.blocks if (known := blocks.get(each.key) or messages.get(each.key)))
    return Sent(sent.turn, sent.number, sent.manifest, texts, tuple(_joined(lines)), calls, sent.request, answer.usage)


def _messages(engine: Engine, transcript: TranscriptFile) -> Iterator[tuple[str, Line]]:
    """The messages of a recording, by the keys of their blocks."""
    for number, turn in enumerate(transcript.turns, 1):
        yield user_block(turn.user, engine.count).key, Line("user", turn.user)
        for place, request in enumerate(turn.requests, 1):
            said = [Line("assistant", request.text)] if request.text else []
            for nth, call in enumerate(request.calls, 1):
                query = _query(call, engine.search_tool)
                said.append(Line("assistant", calls=(Called(call.tool, query, call.id or f"{number}.{place}.{nth}"),)))
            yield from (
                (block.key, line) for block, line in zip(answer_blocks(request, engine.count), said, strict=True)
            )


def _query(call: RecordedCall, search: str) -> str:
    told = call.args.get("query") if isinstance(call.args, dict) else None
    return told if call.tool == search and isinstance(told, str) else ""


def _joined(lines: Iterator[Line]) -> Iterator[Line]:
    """What the model did between two blocks is one line."""
    held: Line | None = None
    for line in lines:
        if held and line.who == held.who == "assistant":
            text = "\n".join(filter(None, (held.text, line.text)))
            held = replace(held, text=text, calls=held.calls + line.calls)
            continue
        if held:
            yield held
        held = line
    if held:
        yield held


class Runs:
    """The conversations that can be chosen."""

    def __init__(self, records: Path | None = None) -> None:
        self._records = records
        self._played: OrderedDict[tuple[str, ...], Run] = OrderedDict()
        self._lock = threading.Lock()

    def listed(self, agent: str) -> tuple[tuple[str, str], ...]:
        """The conversations of an agent: the id and the name of each, newest first."""
        return tuple((path.stem, path.stem) for path in _recordings(agent))

    def open(self, identity: str, engine: Engine, delivery: Delivery, model: ModelProfile) -> Run | None:
        """A conversation; None if there is none of this id.

        Raises:
            CuecardError: when it cannot be read or played.
        """
        place = next((path for path in _recordings(engine.name) if path.stem == identity), None)
        if place is None:
            return None
        key = (identity, engine.sha256, delivery, model.name)
        with self._lock:
            if key not in self._played:
                transcript = read_transcript(place.read_text(encoding="utf-8"), place.name)
                self._played[key] = played(identity, place.stem, engine, transcript, delivery, model)
                while len(self._played) > MAX_PLAYED:
                    self._played.popitem(last=False)
            return self._played[key]


def _recordings(agent: str) -> list[Path]:
    """The recordings that cuecard brings for one of its agents."""
    return sorted((content_root() / "examples" / agent / "recordings").glob("*.json"))
