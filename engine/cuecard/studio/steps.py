"""Requests of a conversation as the timeline shows them: what each sent, what the model called, and where it broke."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal, TypeAlias

from cuecard.config.transcript_file import RecordedCall, RecordedRequest, RecordedUsage, TranscriptFile
from cuecard.engine import Engine
from cuecard.errors import InputError
from cuecard.model import CacheRecord, Manifest, Step
from cuecard.pipeline.changes import ChangeKind, Comparison
from cuecard.pipeline.comparison import compare_manifests
from cuecard.pipeline.passing import PASSING
from cuecard.pipeline.search_results import found_names
from cuecard.recording.records import RequestRecord, ToolCallRecord
from cuecard.workbench.bill import BillBlock, Request
from cuecard.workbench.diff.sides import Side
from cuecard.workbench.price import prompt_request
from cuecard.workbench.replay.blocks import answer_blocks, user_block
from cuecard.workbench.replay.play import SentRequest
from cuecard.workbench.replay.report import breaks

BreakPart: TypeAlias = Literal["tools", "system", "message", "messages", "appended", "model", "salt"]
"""What changed: the definitions of tools, a section, something that the host said, a block, or the model; with another
salt, nothing can be told.
"""


@dataclass(frozen=True, slots=True)
class StepBreak:
    """The first part of a request that differs from the request before.

    Attributes:
        part: what kind of part it is.
        name: the id of the section or block, or the name of a tool.
        change: what happened to it.
        cause: why, as `Cause` writes it: `memory`, `discovery cms_getPage`.
        source: where it is written, as `file:line`; empty if that is not known.
    """

    part: BreakPart
    name: str
    cause: str = ""
    change: ChangeKind = "changed"
    source: str = ""


@dataclass(frozen=True, slots=True)
class CalledTool:
    """A tool that the model called.

    Attributes:
        tool: its name.
        query: the query of a search, where it was recorded.
        id: the id of the call; empty if unknown.
        is_error: whether it failed.
        found: the tools that a search found.
    """

    tool: str
    query: str = ""
    id: str = ""
    is_error: bool = False
    found: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PromptLine:
    """What stands after the system prompt, in the order in which the model reads it.

    Attributes:
        who: `user` or `assistant` for a message, `block` for a text of cuecard's.
        text: the words of a message; empty where they were not recorded.
        calls: the tools that the model called.
        block: the id of the section, for a block.
    """

    who: Literal["user", "assistant", "block"]
    text: str = ""
    calls: tuple[CalledTool, ...] = ()
    block: str = ""


@dataclass(frozen=True, slots=True)
class RequestDetails:
    """What is too large to be held for every request of a long conversation: its manifest, its texts, its messages; and
    the step that it was made from, which records do not have.
    """

    side: Side
    lines: tuple[PromptLine, ...] = ()
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class StudioRequest:
    """One request of a conversation.

    Attributes:
        turn: the number of the user's message, from 1.
        number: the number of the request within the turn, from 1.
        billed: its blocks, as far as they are known: of the prompt alone where messages and definitions are not.
        whole: whether `billed` is the whole request.
        prompt: the tokens of the prompt alone.
        system: the fingerprint of its system prompt.
        called: what the model then called; None where that was not recorded.
        came: tools that this request has and the one before had not; `gone` the other way round.
        broken: where it stops beginning like the request before; None where it only adds to it.
        usage: what the provider reported, in its own tokens; None if that was not recorded.
        cache: the provider's report on its cache; None likewise.
        at: when it was recorded; empty if unknown.
        held: gives the rest; where it was read from a file, it is read again.
    """

    turn: int
    number: int
    billed: Request
    whole: bool
    prompt: int
    system: str
    called: tuple[CalledTool, ...] | None = None
    came: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    broken: StepBreak | None = None
    usage: RecordedUsage | None = None
    cache: CacheRecord | None = None
    at: str = ""
    held: Callable[[], RequestDetails] = field(kw_only=True, repr=False, compare=False)

    @property
    def place(self) -> str:
        """Its place as addresses have it, such as `2.3`."""
        return f"{self.turn}.{self.number}"

    @property
    def manifest(self) -> Manifest:
        """What was sent, why, and what was left out."""
        return self.held().side.manifest

    @property
    def texts(self) -> Mapping[str, str]:
        """The text of each section by its id; empty where texts were not recorded."""
        side = self.held().side
        return {record.id: text for record, text in zip(side.manifest.sections, side.texts or (), strict=False)}

    @property
    def lines(self) -> tuple[PromptLine, ...]:
        """What stands after the system prompt; empty where the order is not known."""
        return self.held().lines

    @property
    def calls(self) -> tuple[str, ...] | None:
        """The names of the tools that the model then called; None where that was not recorded."""
        return None if self.called is None else tuple(call.tool for call in self.called)

    @property
    def request(self) -> Request | None:
        """The whole request in blocks, to be priced; None where only the prompt is known."""
        return self.billed if self.whole else None

    @classmethod
    def of_step(cls, step: Step, turn: int = 1, number: int = 1) -> StudioRequest:
        """The request of a prompt that was made of a turn: its messages are not known."""
        lines = tuple(PromptLine("block", block=each.id) for each in step.appended)
        held, manifest = RequestDetails(Side.of(f"{turn}.{number}", step), lines, step), step.manifest
        return cls(
            turn,
            number,
            prompt_request(manifest),
            whole=False,
            prompt=manifest.total_tokens,
            system=system_of(manifest),
            held=lambda: held,
        )


Kind: TypeAlias = Literal["recording", "records", "turn"]
"""Where a conversation is from: played from a recording, written by a host, or made of a turn on the Inputs screen."""


@dataclass(frozen=True, slots=True, eq=False)
class DeliveryRun:
    """A conversation under one delivery.

    Attributes:
        id: what an address calls it.
        name: what people call it.
        kind: where it is from.
        steps: its requests in order.
        at: when it began; empty if unknown.
        live: whether more is being written.
        delivery: where its step-tier text goes.
        file: the shown path of what it was read from.
        said: what the user wrote, by the number of the turn, where it is known.
        earlier: how many requests before `steps` are not held any more.
        problems: what of it could not be read, each in one line.
        transcript: the recording that it was played from; None for records.
    """

    id: str
    name: str
    kind: Kind
    steps: tuple[StudioRequest, ...]
    at: str = ""
    live: bool = False
    delivery: str = ""
    file: str = ""
    said: Mapping[int, str] = field(default_factory=dict)
    earlier: int = 0
    problems: tuple[str, ...] = ()
    transcript: TranscriptFile | None = field(default=None, repr=False)

    @property
    def whole(self) -> bool:
        """Whether its requests are known as a whole, and not the prompt alone."""
        return all(step.whole for step in self.steps)

    def place_of(self, step: str) -> int:
        """The number of a step in `steps`, counted from 0: the last one without a name; -1 where there is none."""
        if not step:
            return len(self.steps) - 1
        return next((place for place, sent in enumerate(self.steps) if sent.place == step), -1)


def played_steps(engine: Engine, transcript: TranscriptFile, sent: Sequence[SentRequest]) -> Iterator[StudioRequest]:
    """The requests of a transcript as the engine has played it."""
    messages = dict(_messages(engine, transcript))
    before: SentRequest | None = None
    for one, recorded in zip(sent, transcript.requests(), strict=True):
        came, gone = _tools(before.manifest if before else None, one.manifest)
        yield StudioRequest(
            one.turn,
            one.number,
            one.request,
            whole=True,
            prompt=one.manifest.total_tokens,
            system=system_of(one.manifest),
            called=tuple(_called(recorded, f"{one.turn}.{one.number}", engine.search_tool)),
            came=came,
            gone=gone,
            broken=_played_break(before, one),
            usage=recorded.usage,
            cache=one.manifest.cache,
            at=_when(recorded),
            held=_held_of(one, messages),
        )
        before = one


def _held_of(sent: SentRequest, messages: Mapping[str, PromptLine]) -> Callable[[], RequestDetails]:
    place = f"{sent.turn}.{sent.number}"
    return lambda: RequestDetails(Side.of(place, sent.step), tuple(_joined(_lines(sent, messages))), sent.step)


def _lines(sent: SentRequest, messages: Mapping[str, PromptLine]) -> Iterator[PromptLine]:
    blocks = {f"appended:{each.sha256}": PromptLine("block", block=each.id) for each in sent.step.appended}
    return (known for each in sent.request.blocks if (known := blocks.get(each.key) or messages.get(each.key)))


def _messages(engine: Engine, transcript: TranscriptFile) -> Iterator[tuple[str, PromptLine]]:
    """The messages of a recording, by the keys of their blocks."""
    for number, turn in enumerate(transcript.turns, 1):
        yield user_block(turn.user, engine.count).key, PromptLine("user", turn.user)
        for place, request in enumerate(turn.requests, 1):
            said = [PromptLine("assistant", request.text)] if request.text else []
            called = _called(request, f"{number}.{place}", engine.search_tool)
            said += [PromptLine("assistant", calls=(each,)) for each in called]
            blocks = answer_blocks(request, engine.count)
            yield from ((block.key, line) for block, line in zip(blocks, said, strict=True))


def _called(request: RecordedRequest, place: str, search: str) -> Iterator[CalledTool]:
    for number, call in enumerate(request.calls, 1):
        found = found_names(call.result).names if call.tool == search and not call.is_error else ()
        query = _query(call) if call.tool == search else ""
        yield CalledTool(call.tool, query, call.id or f"{place}.{number}", call.is_error, tuple(found))


def _query(call: RecordedCall) -> str:
    told = call.args.get("query") if isinstance(call.args, dict) else None
    return told if isinstance(told, str) else ""


def _joined(lines: Iterator[PromptLine]) -> Iterator[PromptLine]:
    """What the model did between two blocks is one line."""
    held: PromptLine | None = None
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


def _when(recorded: RecordedRequest) -> str:
    return recorded.at.isoformat() if recorded.at else ""


def _played_break(before: SentRequest | None, after: SentRequest) -> StepBreak | None:
    found = breaks(before, after) if before else None
    if before is None or found is None:
        return None
    group, _, name = found.id.partition("/")
    part: BreakPart = next(each for each in _PARTS if each == group)
    if part in {"tools", "messages"}:
        return StepBreak(part, name, found.cause)
    compared, name = compare_manifests(before.manifest, after.manifest), name.removeprefix(PASSING)
    change = _change_of(name, compared)
    cause = "ended" if f"{PASSING}{name}" in found.id and change == "removed" else found.cause
    return StepBreak(part, name, cause, change, source_of(name, after.manifest, before.manifest))


def _change_of(section: str, compared: Comparison) -> ChangeKind:
    kinds = [each.kind for each in compared.changes if each.id == section and each.kind != "same"]
    return kinds[0] if kinds else "changed"


_PARTS: tuple[BreakPart, ...] = ("tools", "system", "appended", "messages")


def turns_between(last: tuple[int, bool] | None, now: tuple[int, bool]) -> int:
    """How many user messages a request comes after the one before it: both as numbered, each with whether its history
    was shortened. Numbers begin anew with that, and steps of two messages must not share a place.
    """
    if last is None:
        return now[0] + 1
    return max(now[0] - last[0], 1 if now[0] < last[0] or (now[1] and not last[1]) else 0)


def is_shortened(reasons: Iterable[tuple[object, object]]) -> bool:
    """Whether the cuts of a request, as what was cut and why, say that its history was shortened before."""
    return any(what == "baseline" and str(reason).startswith("compacted") for what, reason in reasons)


def _numbered(record: RequestRecord) -> tuple[int, bool]:
    return record.turn or 0, is_shortened((cut.what, cut.reason) for cut in record.manifest.cuts)


def recorded_step(
    before: StudioRequest | None, known: RequestRecord | None, record: RequestRecord, held: Callable[[], RequestDetails]
) -> StudioRequest:
    """A recorded request after the one before it, whose record is `known`."""
    manifest, last = record.manifest, known.manifest if known else None
    turn = (before.turn if before else 0) + turns_between(_numbered(known) if known else None, _numbered(record))
    came, gone = _tools(last, manifest)
    return StudioRequest(
        turn,
        before.number + 1 if before and before.turn == turn else 1,
        prompt_request(manifest),
        whole=False,
        prompt=manifest.total_tokens,
        system=system_of(manifest),
        called=recorded_calls(record.calls),
        came=came,
        gone=gone,
        broken=_recorded_break(last, manifest) if last else None,
        cache=manifest.cache,
        at=record.at,
        held=held,
    )


def recorded_calls(calls: Sequence[ToolCallRecord]) -> tuple[CalledTool, ...]:
    """Calls as records hold them."""
    return tuple(
        CalledTool(call.tool, call.query, (call.result and call.result.call_id) or "", call.is_error, call.found)
        for call in calls
    )


def recorded_side(place: str, record: RequestRecord) -> Side:
    """The manifest of a record, with its texts if the host recorded all of them."""
    manifest, held = record.manifest, record.texts
    parts = {name: _texts(held.get(name)) for name in ("system", "appended")}
    places = [section.placement for section in manifest.sections]
    if (
        not held
        or any(places.count(name) != len(parts[name]) for name in ("system", "appended"))
        or "message" in places
    ):
        return Side(place, manifest, None)
    left = {name: iter(texts) for name, texts in parts.items()}
    return Side(place, manifest, tuple(next(left[where]) for where in places))


def _texts(held: object) -> list[str]:
    rows = held if isinstance(held, list) else []
    return [str(row["text"]) for row in rows if isinstance(row, Mapping) and "text" in row]


def system_of(manifest: Manifest) -> str:
    """The fingerprint of everything but blocks: equal ones mean the same system prompt."""
    told = " ".join(each.sha256 for each in manifest.sections if each.placement != "appended")
    return sha256(told.encode()).hexdigest()


def _tools(before: Manifest | None, after: Manifest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if before is None:
        return (), ()
    old, new = set(before.active_tools), set(after.active_tools)
    came = tuple(tool for tool in after.active_tools if tool not in old)
    return came, tuple(tool for tool in before.active_tools if tool not in new)


def _recorded_break(before: Manifest, after: Manifest) -> StepBreak | None:
    try:
        found = compare_manifests(before, after)
    except InputError:
        return StepBreak("salt", "")
    if found.other_model:
        return StepBreak("model", found.other_model)
    first = found.first_break
    if first is None:
        return None
    source = source_of(first.id, after, before)
    return StepBreak(first.placement, first.id, str(first.cause), _change_of(first.id, found), source)


def source_of(section: str, *manifests: Manifest) -> str:
    """Where a section is written, as `file:line`, by the first of these manifests that has it.

    Blocks have no place in a file: their source is the result or the message that brought them.
    """
    for manifest in manifests:
        for record in manifest.sections:
            if record.id == section and record.placement != "appended":
                return record.source
    return ""


def shared(request: Request, known: dict[BillBlock, BillBlock]) -> Request:
    """The same request with blocks that earlier requests have, so that a long conversation holds each block once."""
    blocks = tuple(known.setdefault(block, block) for block in request.blocks)
    return Request(blocks, request.breakpoints, request.at, request.answer)
