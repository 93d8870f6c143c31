"""Files of records as they grow: which conversations are in them, and in full only those that are looked at."""

from __future__ import annotations

import json
import os
from array import array
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

from cuecard.errors import Problem
from cuecard.files.safe_read import MAX_LOG_BYTES, shown
from cuecard.recording.records import FORMAT, CallsRecord, RequestRecord, read_line
from cuecard.studio.steps import (
    RequestDetails,
    StudioRequest,
    is_shortened,
    recorded_calls,
    recorded_side,
    recorded_step,
    shared,
    turns_between,
)
from cuecard.workbench.bill import BillBlock
from cuecard.workbench.output import counted

MAX_RECORD_BYTES = 16 * 1024 * 1024
"""The maximum length of a line of records; longer ones are passed over."""

MAX_STEPS = 5_000
"""How many requests of a conversation are held; of a longer one the last."""

MAX_OPENED = 8
"""How many conversations of a file are held with their steps; of others only what the list shows."""

_HEAD = 256
"""How many bytes tell that a file of the same size is another one."""

_MOST_BLOCKS, _MOST_TOLD, _MOST_TOOLS = 50_000, 20, 1_000


@dataclass(slots=True)
class RecordedTalk:
    """What the list shows of a conversation.

    Attributes:
        conversation: its id.
        agent: the agent's name, as its records give it.
        delivery: the delivery of its last request.
        requests: how many there are, in `turns` turns; `numbered` says how the last one was numbered.
        most: the tokens of its largest prompt.
        first: when its first record was written, and `last` its last one; empty if unknown.
        texts: whether its last request was recorded with its texts.
        lines: where its lines are: number, place and length of each.
    """

    conversation: str
    agent: str = ""
    delivery: str = ""
    requests: int = 0
    turns: int = 0
    numbered: tuple[int, bool] | None = None
    most: int = 0
    first: str = ""
    last: str = ""
    texts: bool = False
    tools: set[str] = field(default_factory=set)
    lines: array[int] = field(default_factory=lambda: array("Q"))


class RecordFile:
    """A file of records, of which only what is new is read each time.

    A last line without its end is left where it is: it is being written, or was cut off. A file that became shorter, or
    begins otherwise, is another file and is read from its start.
    """

    def __init__(self, path: Path) -> None:
        self.path: Path = path
        self.name: str = shown(path)
        self.talks: dict[str, RecordedTalk] = {}
        self.is_cut: bool = False
        self._forget()

    def _forget(self) -> None:
        self.talks.clear()
        self._opened: OrderedDict[str, _Fold] = OrderedDict()
        self._place = self._line = self._skipped = 0
        self._seen: tuple[int, bytes] = (0, b"")
        self._later: dict[int, int] = {}
        self._bad: list[Problem] = []
        self._more_bad = 0

    def grow(self) -> bool:
        """Read what has come since; whether there was anything.

        Raises:
            OSError: when the file cannot be read.
        """
        with self.path.open("rb") as file:
            size, node = os.fstat(file.fileno()).st_size, os.fstat(file.fileno()).st_ino
            known, head = self._seen
            if node != known or size < self._place or file.read(len(head)) != head:
                self._forget()
            self._seen = node, _head(file)
            if size - self._place > MAX_LOG_BYTES:
                self._skip_to(file, size - MAX_LOG_BYTES)
            before = self._place
            file.seek(before)
            self._read(file)
        return self._place > before

    def _skip_to(self, file: BinaryIO, place: int) -> None:
        file.seek(place)
        file.readline(MAX_RECORD_BYTES)
        self._skipped, self._place = file.tell(), file.tell()

    def _read(self, file: BinaryIO) -> None:
        self.is_cut = False
        while line := file.readline(MAX_RECORD_BYTES):
            if not line.endswith(b"\n"):
                if len(line) < MAX_RECORD_BYTES:
                    self.is_cut = True
                    return
                self._pass_over(file)
                continue
            self._line += 1
            if line.strip():
                self._note(line)
            self._place = file.tell()

    def _pass_over(self, file: BinaryIO) -> None:
        while (rest := file.readline(MAX_RECORD_BYTES)) and not rest.endswith(b"\n"):
            pass
        self._line += 1
        self._place = file.tell()
        message = f"left out: the line has more than {MAX_RECORD_BYTES:,} bytes"
        self._tell(Problem("bad-record", message, "", f"{self.name}:{self._line}", severity="warning"))

    def _note(self, line: bytes) -> None:
        """What the list shows of a record; the rest is read when somebody looks at it."""
        where = f"{self.name}:{self._line}"
        try:
            data = json.loads(line)
        except (ValueError, RecursionError):
            data = None
        if not isinstance(data, dict):
            found = read_line(line.decode("utf-8", "replace"), where, self.name)
            self._tell(found) if isinstance(found, Problem) else None
            return
        number = data.get("format", FORMAT)
        if "summary" in data or (type(number) is int and number > FORMAT):
            if "summary" not in data:
                self._later[number] = self._later.get(number, 0) + 1
            return
        name = str(data.get("conversation") or self.path.stem)
        talk = self.talks.setdefault(name, RecordedTalk(name))
        talk.lines.extend((self._line, self._place, len(line)))
        _note_calls(talk, data)
        if "manifest" in data or "calls" not in data:
            _note_request(talk, data)

    def _tell(self, problem: Problem) -> None:
        self._bad.append(problem) if len(self._bad) < _MOST_TOLD else None
        self._more_bad += len(self._bad) >= _MOST_TOLD

    def problems(self) -> Iterator[str]:
        """What could not be read, each kind in one line."""
        if self._skipped:
            most = MAX_LOG_BYTES // 1024**2
            yield f"{self.name}: more than {most} MiB; its first {self._skipped:,} bytes were not read"
        for number, times in sorted(self._later.items()):
            lines = counted(times, "line")
            yield f"{self.name}: {lines} of format {number} left out; this version of cuecard reads up to {FORMAT}"
        if self._bad:
            first, more = self._bad[0], len(self._bad) + self._more_bad - 1
            rest = f" (and {counted(more, 'line')} more)" if more else ""
            yield f"{first.name}: {first.message}{rest}"
        if self.is_cut:
            yield f"{self.name}: the last line is cut off, or still being written; it is read once it is whole"

    def steps(self, conversation: str) -> tuple[tuple[StudioRequest, ...], int, tuple[str, ...]]:
        """The requests of a conversation, how many before them are not held, and what could not be read.

        Raises:
            OSError: when the file cannot be read.
        """
        fold = self._opened.setdefault(conversation, _Fold())
        self._opened.move_to_end(conversation)
        while len(self._opened) > MAX_OPENED:
            self._opened.popitem(last=False)
        talk = self.talks[conversation]
        with self.path.open("rb") as file:
            for at in range(fold.read, len(talk.lines), 3):
                number, place, length = talk.lines[at : at + 3]
                fold.take(_at(file, place, length), f"{self.name}:{number}", self, place, length)
        fold.read = len(talk.lines)
        return tuple(fold.steps), fold.total - len(fold.steps), tuple(fold.problems)

    def held(self, name: str, place: int, length: int) -> RequestDetails:
        """The prompt of the request in this line; `name` is what people call it.

        Raises:
            OSError: when the file cannot be read.
        """
        with self.path.open("rb") as file:
            record = read_line(_at(file, place, length), self.name, self.path.stem)
        if not isinstance(record, RequestRecord):
            raise OSError(0, "the file was replaced", str(self.path))
        return RequestDetails(recorded_side(name, record))


class _Fold:
    """The requests of a conversation, read so far; calls in lines of their own go to theirs."""

    def __init__(self) -> None:
        self.steps: deque[StudioRequest] = deque(maxlen=MAX_STEPS)
        self.problems: deque[str] = deque(maxlen=_MOST_TOLD)
        self.read = self.total = 0
        self._last: RequestRecord | None = None
        self._ids: OrderedDict[str, int] = OrderedDict()
        self._blocks: dict[BillBlock, BillBlock] = {}

    def take(self, line: str, where: str, file: RecordFile, place: int, length: int) -> None:
        """One more line."""
        record = read_line(line, where, file.path.stem)
        if isinstance(record, Problem):
            self.problems.append(f"{where}: {record.message}")
        elif record and not (record.id and record.id in self._ids):
            self._keep(record.id, self._calls(record) if isinstance(record, CallsRecord) else self.total)
            if isinstance(record, RequestRecord):
                self._request(record, file, place, length)

    def _request(self, record: RequestRecord, file: RecordFile, place: int, length: int) -> None:
        before = self.steps[-1] if self.steps else None
        step = recorded_step(before, self._last, record, lambda: file.held(step.place, place, length))
        if len(self._blocks) > _MOST_BLOCKS:
            self._blocks.clear()
        step = replace(step, billed=shared(step.billed, self._blocks))
        self._last = record
        self.steps.append(step)
        self.total += 1

    def _calls(self, record: CallsRecord) -> int:
        """Add calls to the request that they name or, without it, to the last one; the number of that request."""
        number = self._ids.get(record.of, self.total - 1)
        at = number - (self.total - len(self.steps))
        if 0 <= at < len(self.steps):
            step = self.steps[at]
            self.steps[at] = replace(step, called=(*(step.called or ()), *recorded_calls(record.calls)))
        return number

    def _keep(self, identity: str, number: int) -> None:
        self._ids[identity] = number
        while len(self._ids) > 4 * MAX_STEPS:
            self._ids.popitem(last=False)


def _at(file: BinaryIO, place: int, length: int) -> str:
    file.seek(place)
    return file.read(length).decode("utf-8", "replace")


def _head(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read(_HEAD)


def _note_calls(talk: RecordedTalk, data: dict[str, Any]) -> None:
    calls = data.get("calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict) and len(talk.tools) < _MOST_TOOLS:
            talk.tools.add(str(call.get("tool", "")))


def _note_request(talk: RecordedTalk, data: dict[str, Any]) -> None:
    """What the list shows of a request; whether it is right is found out when somebody looks at it."""
    manifest = data.get("manifest", data)
    manifest = manifest if isinstance(manifest, dict) else {}
    talk.agent = _inner(manifest, "configuration", "agent") or talk.agent
    talk.delivery = _inner(manifest, "delivery", "name") or talk.delivery
    turn, tokens, at = data.get("turn"), manifest.get("total_tokens"), data.get("at")
    talk.requests += 1
    cuts = manifest.get("cuts")
    told = (
        (cut.get("what"), cut.get("reason"))
        for cut in (cuts if isinstance(cuts, list) else ())
        if isinstance(cut, dict)
    )
    numbered = turn if type(turn) is int else 0, is_shortened(told)
    talk.turns += turns_between(talk.numbered, numbered)
    talk.numbered = numbered
    talk.most = max(talk.most, tokens if type(tokens) is int else 0)
    talk.texts = isinstance(data.get("texts"), dict)
    if isinstance(at, str):
        talk.first, talk.last = talk.first or at, at


def _inner(manifest: dict[str, Any], part: str, key: str) -> str:
    inner = manifest.get(part)
    value = inner.get(key) if isinstance(inner, dict) else None
    return value if isinstance(value, str) else ""
