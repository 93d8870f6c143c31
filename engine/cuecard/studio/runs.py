"""The conversations that the studio can show: recordings that it plays, and records that hosts write."""

from __future__ import annotations

import hashlib
import json
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

from cuecard.config.model_profile import ModelProfile
from cuecard.config.transcript_file import TranscriptFile
from cuecard.engine import Engine
from cuecard.errors import CuecardError, visible
from cuecard.files.content import content_root
from cuecard.files.safe_read import MAX_LOG_BYTES, read_text, shown
from cuecard.model import Delivery, Json
from cuecard.studio.record_files import RecordedTalk, RecordFile
from cuecard.studio.steps import DeliveryRun, Kind, StudioRequest, played_steps
from cuecard.workbench.bill import Billing, BillRow, Prices, Request
from cuecard.workbench.output import counted
from cuecard.workbench.replay.play import Channel, play
from cuecard.workbench.replay.report import DELIVERIES
from cuecard.workbench.transcripts.formats import read_conversation

MAX_RUN_FILES = 1_000
"""The number of files of conversations that the studio reads; of more, the newest."""

_DEPTH, _KEPT, _PRICED, _REVISIONS = 3, 24, 4, 4
"""How deep folders are searched, how many played conversations are kept, how many recordings the list prices, and how
many engines of revisions are kept.
"""

_LINES, _SUFFIXES = (".jsonl", ".ndjson"), (".json", ".jsonl", ".ndjson")
_MANIFEST = re.compile(r"\d+-.+-t\d+-s\d+\.json")
"""The names of the manifests that `cuecard run --manifests` writes beside the records."""

_POLL, _SWEEP = 0.25, 8
"""Seconds between two looks at growing files, and after how many looks folders are searched again."""

Tell: TypeAlias = Callable[[str, Mapping[str, Json]], object]
"""Is told what has changed: `steps` of a run, or `runs` where one was added."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A conversation in the list.

    Attributes:
        id: what an address calls it.
        name: what people call it.
        delivery: where its step-tier text goes.
        kind: where it is from.
        turns: how many messages of the user it has, as far as that is known.
        requests: how many requests.
        most: the tokens of its largest prompt; 0 if unknown.
        newest: when it was last written, in seconds since 1970.
        live: whether it grows.
        cost: what it costs with a model, in plain input tokens; None where it has not been priced.
        breaks: how often the cache breaks; None likewise.
        words: what a search looks at.
    """

    id: str
    name: str
    delivery: str
    kind: Kind
    turns: int
    requests: int
    most: int
    newest: float
    live: bool = False
    cost: float | None = None
    breaks: int | None = None
    words: str = field(default="", repr=False)

    @property
    def title(self) -> str:
        """Such as `blog-post · rewrite`."""
        return " · ".join(filter(None, (self.name, self.delivery)))


def places_near(agents: Mapping[str, Path]) -> tuple[Path, ...]:
    """Where conversations of these agents are kept, unless somebody says otherwise; some may come into being later."""
    near = [path.parent / name for path in agents.values() for name in ("records", "recordings")]
    ours = [content_root() / "examples" / name / "recordings" for name in agents]
    return tuple(dict.fromkeys((*near, *ours)))


def samples() -> tuple[Path, ...]:
    """The conversations that cuecard brings, which are shown only to whoever asks for one."""
    return tuple(sorted((content_root() / "examples").glob("*/recordings")))


@dataclass(frozen=True, slots=True, eq=False)
class _Recording:
    """A recorded conversation in a file, as it was when it was read."""

    path: Path
    seen: tuple[int, int]
    transcript: TranscriptFile


class LatestEngines:
    """The engines of revisions that were compared last, by what identifies their files."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Engine] = OrderedDict()

    def get(self, key: str) -> Engine | None:
        """The engine, if it is still known."""
        return self._kept.get(key)

    def keep(self, key: str, engine: Engine) -> None:
        """Remember an engine, and forget the oldest."""
        self._kept[key] = engine
        while len(self._kept) > _REVISIONS:
            self._kept.popitem(last=False)


_Key: TypeAlias = tuple[_Recording, str, Delivery, Channel]
"""What a played conversation depends on: the recording, the fingerprint of the agent, the delivery and the channel."""


class Runs:
    """The conversations in some files and folders, which are read as they grow. Thread-safe."""

    def __init__(self, places: Sequence[Path], *, near: Sequence[Path] = (), samples: Sequence[Path] = ()) -> None:
        """Look at these files, and at the files in these folders; in those that are `near`, if they are there. Without
        any conversation, one of the `samples` can be played.
        """
        self._named, self._places = tuple(places), (*places, *near)
        self._samples = Runs(samples) if samples else None
        self._lock = threading.RLock()
        self._records: dict[Path, RecordFile] = {}
        self._recordings: dict[Path, _Recording] = {}
        self._played: OrderedDict[_Key, DeliveryRun | CuecardError] = OrderedDict()
        self._live: set[Path] = set()
        self._unread: dict[Path, str] = {}
        self._bad: dict[Path, tuple[tuple[int, int], str]] = {}
        self._searched = False
        self._bills = _Bills()
        self.revisions: LatestEngines = LatestEngines()

    def look(self, *, again: bool = True) -> dict[str, int]:
        """Read what has come: the conversations that have grown by their ids, with their requests.

        Args:
            again: whether folders are searched for new files; without it, only known files are read on.
        """
        with self._lock:
            if again or not self._searched:
                self._find()
            grown: dict[str, int] = {}
            for path, file in self._records.items():
                grown |= {_identity(path, talk.conversation): talk.requests for talk in self._grown(path, file)}
            self._searched = True
            return grown

    def _grown(self, path: Path, file: RecordFile) -> list[RecordedTalk]:
        were = {name: len(talk.lines) for name, talk in file.talks.items()}
        try:
            if not file.grow():
                return []
        except OSError as error:
            self._unread[path] = f"{file.name}: {error.strerror or error}"
            return []
        self._unread.pop(path, None)
        self._live |= {path} if were or self._searched else set()
        return [talk for name, talk in file.talks.items() if len(talk.lines) != were.get(name)]

    def _find(self) -> None:
        found = dict.fromkeys(_files(self._places))
        self._unread = {place: f"{shown(place)}: there is nothing" for place in self._named if not place.exists()}
        for kept in (self._records, self._recordings, self._bad):
            for gone in [path for path in kept if path not in found]:
                kept.pop(gone)
        for path in found:
            if path not in self._records and path.suffix in _LINES and _holds_records(path):
                self._records[path] = RecordFile(path)
            elif path not in self._records and (seen := _seen(path)):
                self._read(path, seen)

    def _read(self, path: Path, seen: tuple[int, int]) -> None:
        """A recording, unless it is known as it is; a file that holds none says why once."""
        known = self._recordings.get(path)
        if seen in (known.seen if known else None, self._bad.get(path, (None,))[0]):
            return
        try:
            source = read_text(path, limit=MAX_LOG_BYTES)
            read = read_conversation(source.text, source.name).transcript
        except CuecardError as error:
            problem = error.problems[0]
            self._bad[path] = seen, f"{problem.name or shown(path)}: {problem.message}"
        else:
            self._recordings[path] = _Recording(path, seen, read)
            self._bad.pop(path, None)

    def listed(self, engine: Engine, model: ModelProfile | None = None) -> tuple[RunSummary, ...]:
        """The conversations of an agent, newest first; priced with a model, where that is quick."""
        with self._lock:
            self.look(again=not self._searched)
            ours = [each for each in self._recordings.values() if _fits(engine, each.transcript)]
            ours.sort(key=lambda each: -each.seen[0])
            played = [
                self._summary(each, delivery, engine, model if at < _PRICED else None)
                for at, each in enumerate(ours)
                for delivery in DELIVERIES
            ]
            recorded = [
                _summary_of(path, talk, live=path in self._live)
                for path, file in self._records.items()
                for talk in file.talks.values()
                if talk.requests and talk.agent == engine.name
            ]
        return tuple(sorted((*played, *recorded), key=lambda each: -each.newest))

    def samples(self, engine: Engine) -> tuple[RunSummary, ...]:
        """The conversations that an agent can play without having any."""
        found = self._samples.listed(engine) if self._samples else ()
        return tuple(each for each in found if each.delivery == engine.delivery)

    @property
    def folder(self) -> Path | None:
        """Where new conversations are looked for first."""
        return next((place for place in self._places if not place.is_file()), None)

    def _summary(
        self, recording: _Recording, delivery: Delivery, engine: Engine, model: ModelProfile | None
    ) -> RunSummary:
        transcript = recording.transcript
        run = self._played_by(recording, delivery, engine, model) if model else None
        priced = self.rows(run, model) if run and model else None
        words = " ".join([recording.path.stem, delivery, *(turn.user for turn in transcript.turns)])
        return RunSummary(
            _identity(recording.path, "", delivery),
            recording.path.stem,
            delivery,
            "recording",
            len(transcript.turns),
            sum(len(turn.requests) for turn in transcript.turns),
            max((step.prompt for step in run.steps), default=0) if run else 0,
            recording.seen[0] / 1e9,
            cost=sum(row.cost for row in priced) if priced else None,
            breaks=sum(step.broken is not None for step in run.steps) if run else None,
            words=words.casefold(),
        )

    def run(self, identity: str, engine: Engine, model: ModelProfile) -> DeliveryRun | None:
        """A conversation by its id; None if there is none, or it cannot be played with this agent."""
        with self._lock:
            self.look(again=not self._searched)
            for recording, delivery in self._playable():
                if _identity(recording.path, "", delivery) == identity:
                    return self._played_by(recording, delivery, engine, model)
            for path, file in self._records.items():
                for name in file.talks:
                    if _identity(path, name) == identity:
                        return self._recorded(identity, path, file, name)
        return self._samples.run(identity, engine, model) if self._samples else None

    def under(self, run: DeliveryRun, delivery: str, engine: Engine, model: ModelProfile) -> DeliveryRun | None:
        """The same conversation under another delivery, or played by another state of the agent; None where only
        records are known, which cannot be played.
        """
        with self._lock:
            for recording, each in self._playable():
                if recording.transcript is run.transcript and each == delivery:
                    return self._played_by(recording, each, engine, model)
        return self._samples.under(run, delivery, engine, model) if self._samples else None

    def _playable(self) -> Iterator[tuple[_Recording, Delivery]]:
        return ((each, delivery) for each in self._recordings.values() for delivery in DELIVERIES)

    def _played_by(
        self, recording: _Recording, delivery: Delivery, engine: Engine, model: ModelProfile
    ) -> DeliveryRun | None:
        run = self._play(recording, delivery, engine, model)
        return run if isinstance(run, DeliveryRun) else None

    def rows(self, run: DeliveryRun, model: ModelProfile) -> tuple[BillRow, ...]:
        """What each request of a conversation costs with a model, as far as it is known."""
        with self._lock:
            return self._bills.of(run, Prices.of(model)) if run.steps else ()

    def problems(self, engine: Engine) -> tuple[str, ...]:
        """What could not be read, or belongs to another agent, each kind in one line."""
        with self._lock:
            told = [*self._unread.values(), *(line for file in self._records.values() for line in file.problems())]
            told += [why for _, why in self._bad.values()]
            told += [
                f"{shown(recording.path)}: {run.problems[0].message}"
                for (recording, sha256, *_), run in self._played.items()
                if isinstance(run, CuecardError) and sha256 == engine.sha256
            ]
            told += self._foreign(engine)
        return tuple(dict.fromkeys(told))

    def _foreign(self, engine: Engine) -> Iterator[str]:
        others: dict[tuple[str, str], int] = {}
        for file in self._records.values():
            for talk in file.talks.values():
                if talk.requests and talk.agent != engine.name:
                    others[file.name, talk.agent] = others.get((file.name, talk.agent), 0) + 1
        for (name, agent), times in others.items():
            whose = f"of the agent `{agent}`" if agent else "that name no agent"
            yield f"{name}: {counted(times, 'conversation')} {whose}, not of `{engine.name}`"
        foreign = [each for each in self._recordings.values() if not _fits(engine, each.transcript)]
        if foreign:
            more = f" and {len(foreign) - 1} more" if len(foreign) > 1 else ""
            yield f"{shown(foreign[0].path)}{more}: a recording whose tools `{engine.name}` does not have"

    def _play(
        self, recording: _Recording, delivery: Delivery, engine: Engine, model: ModelProfile
    ) -> DeliveryRun | CuecardError:
        channel, transcript = Channel.of(model), recording.transcript
        key = (recording, engine.sha256, delivery, channel)
        if key not in self._played:
            try:
                steps = tuple(played_steps(engine, transcript, play(engine, transcript, delivery, channel)))
            except CuecardError as error:
                self._played[key] = error
            else:
                self._played[key] = _played_run(recording, delivery, steps)
            while len(self._played) > _KEPT:
                self._played.popitem(last=False)
        self._played.move_to_end(key)
        return self._played[key]

    def _recorded(self, identity: str, path: Path, file: RecordFile, name: str) -> DeliveryRun | None:
        talk = file.talks[name]
        try:
            steps, earlier, problems = file.steps(name)
        except OSError as error:
            self._unread[path] = f"{file.name}: {error.strerror or error}"
            return None
        if not steps:
            return None
        return DeliveryRun(
            identity,
            visible(name),
            "records",
            steps,
            talk.first,
            path in self._live,
            talk.delivery,
            file.name,
            earlier=earlier,
            problems=problems,
        )

    def follow(self, tell: Tell, stop: threading.Event) -> None:
        """Look again and again until told to stop: the work of one thread."""
        looks, known = 0, self._known()
        while not stop.wait(_POLL):
            looks += 1
            grown = self.look(again=looks % _SWEEP == 0)
            for identity, requests in grown.items():
                tell("steps", {"run": identity, "steps": requests})
            if (found := self._known()) != known:
                known = found
                tell("runs", {})

    def _known(self) -> list[object]:
        with self._lock:
            return [*self._records, *self._recordings.values(), *self._bad.items()]


class _Bills:
    """Bills of conversations: of one that has grown, only what is new is billed."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, Prices], tuple[Request, Billing, list[BillRow]]] = OrderedDict()

    def of(self, run: DeliveryRun, prices: Prices) -> tuple[BillRow, ...]:
        """The rows of a conversation."""
        key, first = (run.id, prices), run.steps[0].billed
        known = self._kept.pop(key, None)
        if known is None or known[0] is not first or len(known[2]) > len(run.steps):
            known = first, Billing(prices), []
        _, billing, rows = known
        rows += [billing.row(step.billed) for step in run.steps[len(rows) :]]
        self._kept[key] = known
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return tuple(rows)


def _played_run(recording: _Recording, delivery: Delivery, steps: tuple[StudioRequest, ...]) -> DeliveryRun:
    transcript, name = recording.transcript, recording.path.stem
    identity = _identity(recording.path, "", delivery)
    said = {number: turn.user for number, turn in enumerate(transcript.turns, 1)}
    at, file = (steps[0].at if steps else ""), shown(recording.path)
    return DeliveryRun(
        identity, name, "recording", steps, at, delivery=delivery, file=file, said=said, transcript=transcript
    )


def _identity(path: Path, conversation: str, delivery: str = "") -> str:
    told = "\0".join((os.path.realpath(path), conversation, delivery))
    return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _files(places: Sequence[Path]) -> list[Path]:
    """The files that may hold conversations, newest first."""
    found: list[tuple[int, Path]] = []
    for place in places:
        for path in _below(place, _DEPTH) if place.is_dir() else [place]:
            seen = _seen(path)
            if seen and (path.suffix in _SUFFIXES or path == place):
                found.append((seen[0], path))
    found.sort(key=lambda each: -each[0])
    return [path for _, path in found[:MAX_RUN_FILES]]


def _below(folder: Path, depth: int) -> Iterator[Path]:
    """The files in a folder and below, without the single manifests that stand beside a file of records."""
    try:
        inside = sorted(folder.iterdir())
    except OSError:
        return
    lines = any(path.suffix in _LINES for path in inside)
    for path in inside:
        if path.is_dir() and not path.is_symlink():
            yield from _below(path, depth - 1) if depth > 1 else ()
        elif not (lines and _MANIFEST.fullmatch(path.name)):
            yield path


def _seen(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_mtime_ns, found.st_size)


def _holds_records(path: Path) -> bool:
    """Whether the first line that is JSON is a record; so is a file that has no line yet."""
    try:
        with path.open("rb") as file:
            first = file.readline(MAX_LOG_BYTES)
        data = json.loads(first) if first.endswith(b"\n") else {"manifest": None}
    except (OSError, ValueError, RecursionError):
        return True
    return isinstance(data, dict) and any(key in data for key in ("manifest", "calls", "summary", "configuration"))


def _fits(engine: Engine, transcript: TranscriptFile) -> bool:
    """Whether a recording may be of this agent: it calls a tool of the agent, or none at all."""
    called = {call.tool for request in transcript.requests() for call in request.calls} - {engine.search_tool}
    ours = called & engine.tools.keys()
    return bool(ours) or not called


def _summary_of(path: Path, talk: RecordedTalk, *, live: bool) -> RunSummary:
    words = " ".join((talk.conversation, talk.delivery, path.stem, *sorted(talk.tools)))
    return RunSummary(
        _identity(path, talk.conversation),
        visible(talk.conversation),
        talk.delivery,
        "records",
        talk.turns,
        talk.requests,
        talk.most,
        _moment(talk.last, path),
        live,
        words=words.casefold(),
    )


def _moment(at: str, path: Path) -> float:
    try:
        found = datetime.fromisoformat(at)
    except ValueError:
        return (_seen(path) or (0, 0))[0] / 1e9
    return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
