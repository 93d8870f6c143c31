"""Records of what happened: each prompt, the calls that followed, summaries; in a file first, then given to a sink."""

from __future__ import annotations

import atexit
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self
from uuid import uuid4

from typing_extensions import override

from cuecard.adapters.host import NOT_PLAIN, HooksAround, instrumented, is_asynchronous
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Call, Json, Manifest, Step, ToolResult, Turn
from cuecard.model.boundary import FilledText, Seconds, checked
from cuecard.model.messages import Summary
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.fit import Room
from cuecard.pipeline.hooks import Hooks, RequestChanges
from cuecard.pipeline.placement import Placement
from cuecard.recording.journal import Journal, Sink
from cuecard.recording.records import MAX_CONVERSATIONS, call_json, head, record_id, summary_json, texts_json, written

__all__ = ["Recorder", "RecorderStatus"]


@dataclass(frozen=True, slots=True)
class RecorderStatus:
    """What became of the records of this process.

    Attributes:
        written: how many are in the file.
        lost: how many could not be written.
        delivered: how many the sink has taken, including those of earlier processes.
    """

    written: int
    lost: int
    delivered: int


@dataclass(slots=True)
class _Talk:
    """What is known of a conversation: its last request, how many results preceded it, and the calls that are told."""

    last: str = ""
    results: int = 0
    told: set[str] = field(default_factory=set)


class Recorder:
    """Writes a record of every prompt of the engines that it instruments, and of the calls that follow.

    Each record is a line of the file (docs/records.md) and has an id. It is written before the prompt is sent, and
    given to the sink afterwards, in another thread: at least once, after a restart too, in the order of the file,
    and with the same id each time. Neither the sink nor a full disk holds up a prompt. Texts of prompts, arguments
    and results are recorded only if that is asked for. Safe to share between threads; a file may have several
    recorders.
    """

    @checked
    def __init__(
        self,
        path: FilledText | Path,
        *,
        sink: Sink | None = None,
        texts: bool = False,
        on_problem: Callable[[Problem], object] | None = None,
    ) -> None:
        """Write records to this file, after those that it has.

        Args:
            path: the file, of JSON lines; how far the sink has taken it is in a file beside it, `.sent`.
            sink: takes each record, as plain JSON. It is called in a thread of its own, with one record at a time;
                a record for which it raises is given to it again.
            texts: whether texts of prompts, arguments and results of calls are recorded.
            on_problem: is told once of each kind of problem: the file cannot be written, the sink fails, does not
                return or is behind at the end. By default, a warning is logged.

        Raises:
            InputError: with every argument that is wrong, or when the file cannot be written.
        """
        functions = {"sink": sink, "on_problem": on_problem}
        if asynchronous := [name for name, given in functions.items() if is_asynchronous(given)]:
            told, hint = NOT_PLAIN  # or else every record would count as taken
            raise InputError(Problem("wrong-argument", f"`{name}` {told}", hint, name) for name in asynchronous)
        self._journal = Journal(Path(path), sink, on_problem or _log)
        self._texts = texts
        self._talks: OrderedDict[str, _Talk] = OrderedDict()
        self._lock = Lock()
        atexit.register(self.close)

    @checked
    def instrument(self, engine: Engine) -> Engine:
        """The same engine with its prompts recorded, including those of its conversations.

        Pass this method to `cuecard.watch` as `ready` to record every engine of the watcher.

        Raises:
            InputError: when `engine` is not an `Engine`.
        """
        return instrumented(engine, "records", self._recorded)

    @checked
    def summary(self, agent: FilledText, conversation: FilledText, summary: str | Summary) -> None:
        """Record the summary of a conversation, after the reply; its text is recorded, as the host hands it over.

        Args:
            agent: the agent's name.
            conversation: the id of the conversation, as in its turns.
            summary: what `Engine.summarize` has put into the turn.

        Raises:
            InputError: with every argument that is wrong.
        """
        held = summary_json(summary)
        identity = record_id("summary", conversation, *held["summary"].values())
        self._write({**head(identity, agent, conversation, datetime.now(UTC)), **held})

    @property
    def status(self) -> RecorderStatus:
        """How many records were written, lost and delivered."""
        journal = self._journal
        return RecorderStatus(journal.written, journal.lost, journal.delivered)

    @checked
    def close(self, timeout: Seconds = 5.0) -> None:
        """End: what is written is brought to disk and, within `timeout` seconds, to the sink. At the latest, the
        process does it as it ends; what the sink has not taken by then, it gets from the next recorder of the file.
        """
        atexit.unregister(self.close)
        self._journal.close(timeout)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _recorded(self, inner: Hooks) -> Hooks:
        values = {each.name: getattr(inner, each.name) for each in fields(Hooks)}
        return RecordedHooks(**values, inner=inner, recorder=self)

    def heard(self, agent: str, search: str, call: Call, known: int, results: Sequence[ToolResult]) -> None:
        """Record the calls of the last request that nothing was told of yet."""
        conversation = call.conversation
        with self._lock:
            talk = self._talk(conversation)
            talk.results = known + len(results)
            keys = [_key(known + place, result) for place, result in enumerate(results)]
            new = [(key, each) for key, each in zip(keys, results, strict=True) if key not in talk.told]
            talk.told.update(key for key, _ in new)
            last = talk.last
        for key, result in new:
            identity, called = record_id("call", conversation, key), call_json(result, search, texts=self._texts)
            told = {"turn": call.turn, "of": last, "calls": [called]}
            self._write({**head(identity, agent, conversation, datetime.now(UTC)), **told})

    def step(self, agent: str, call: Call, step: Step) -> None:
        """Record a request."""
        conversation, manifest = call.conversation, step.manifest
        with self._lock:
            talk = self._talk(conversation)
            identity = record_id("request", conversation, call.turn, talk.results, manifest.sha256)
            again, talk.last = identity == talk.last, identity
        if again:  # the host asked once more for the same request
            return
        front = {**head(identity, agent, conversation, datetime.now(UTC)), "turn": call.turn}
        texts = {"texts": texts_json(step)} if self._texts else {}
        self._write(front, manifest, calls=[], **texts)

    def _talk(self, conversation: str) -> _Talk:
        talk = self._talks.setdefault(conversation, _Talk())
        self._talks.move_to_end(conversation)
        if len(self._talks) > MAX_CONVERSATIONS:
            self._talks.popitem(last=False)
        return talk

    def _write(self, record: Mapping[str, Json], manifest: Manifest | None = None, **more: Json) -> None:
        try:
            line = written(record, manifest, **more)
        except (ValueError, TypeError, RecursionError) as error:
            self._journal.lose(str(error))
        else:
            self._journal.append(line)


def _key(place: int, result: ToolResult) -> str:
    """The name of a call in its conversation: its id or, without one, its place and what it said."""
    if result.call_id is not None:
        return result.call_id
    return f"{place} {result.tool} {result.is_error} {record_id(repr(result.result))}"


def _log(problem: Problem) -> None:
    import logging  # noqa: PLC0415 - only where something went wrong

    logging.getLogger("cuecard").warning("%s", problem)


@dataclass(frozen=True)
class RecordedHooks(HooksAround):
    """The hooks with records: both engines and conversations go through them."""

    recorder: Recorder = field(kw_only=True, repr=False, compare=False)

    @override
    def heard(self, call: Call | None, known: int, results: Sequence[ToolResult]) -> None:
        """Record the calls."""
        self.inner.heard(call, known, results)
        if call and call.conversation:
            self.recorder.heard(self.agent.spec.agent, self.agent.search_tool, call, known, results)

    @override
    def call(
        self,
        turn: Turn,
        found: Discoveries,
        previous: Call | None = None,
        kept: int | None = None,
        since: str | None = None,
    ) -> Call:
        """The call, with an id of its conversation."""
        if not (turn.conversation or (previous and previous.conversation)):
            turn = replace(turn, conversation=uuid4().hex)
        return self.inner.call(turn, found, previous, kept, since)

    @override
    def step(
        self,
        call: Call,
        found: Discoveries,
        last: Placement | None = None,
        changed: RequestChanges | None = None,
        room: Callable[[], Room] | None = None,
    ) -> tuple[Step, Placement]:
        """The step, once its record is written."""
        step, placed = self.inner.step(call, found, last, changed, room)
        if call.conversation:
            self.recorder.step(self.agent.spec.agent, call, step)
        return step, placed
