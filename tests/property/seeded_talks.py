"""Conversations of agents in frameworks that a seed draws, and what must hold of each body on the wire.

A host makes the moves that a talk draws, in its own way; what it then sends arrives here, is judged as a provider reads
it, and is answered by what the model does next.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from threading import Lock
from typing import Any, ClassVar

from typing_extensions import override

from cuecard import Engine, Step, Turn
from property.seeded_agents import CORE, NAMES, TOLD, Setting, engine_of, seeds
from property.seeded_judge import Atoms, Json, atoms, everything, faults, said
from unit.adapters.model_server import ANSWERS, as_events
from unit.loopback_server import Handler, serving

_WORD = re.compile(r"\b(?:t\d|p\d)\b")
_BASELINES = {
    "compacted": {"shortened", "compacted", "forgot"},
    "one-turn text ended": {"text of one turn"},
    "the delivery changed": {"other model"},
    "definitions": {
        *("came", "gone", "back", "renamed", "other process", "other model", "handed over"),
        *("shortened", "forgot"),  # what a search has found is defined in front where its result is gone
    },
}
"""Of each reason that a manifest gives for a baseline, the moves of which one must have been made."""

IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="


class BrokenOffError(Exception):
    """The service has failed, and the host has stopped the run."""


@dataclass(frozen=True)
class Asked:
    """A call of the model."""

    name: str
    arguments: Json
    call: str


class Talk:
    """A conversation whose life is drawn by a seed; `moves` counts what has been done in it."""

    def __init__(self, seed: int, can: frozenset[str]) -> None:
        draw = self.draw = random.Random(seed)  # noqa: S311 - a conversation, not a secret
        self.can = can
        delivery = draw.choice(("append", "append", "append", "auto", "frozen", "rewrite"))
        use = draw.randrange(2) if delivery == "rewrite" else 0  # elsewhere a new date says the section again
        late = draw.random() < 0.3
        self.setting = Setting(delivery, "next-call", use, late, ahead=False, protocols=None, total=None)
        self.engine: Engine = engine_of(self.setting, 0, (1,) * len(TOLD))
        self.there = {*NAMES, *CORE} - {self.engine.search_tool} - set(draw.sample(NAMES, draw.choice((0, 0, 1, 2))))
        self.known = set(self.there)
        self.steps: list[Step] = []
        self.moves: Counter[str] = Counter()
        self.recent: set[str] = set()
        self.since_words: set[str] = set()
        self.trace: list[str] = [f"{self.setting}"]
        self.faults: list[str] = []
        self.found: set[str] = set()
        self.named: set[str] = set()
        self.sent: Atoms = []
        self.told: set[Any] = set()
        self.named_cuts: list[Any] = []
        self.requests = 0
        self.left = 0
        self.breaks = False
        self.ids = 0
        self.transfer: Asked | None = None
        self.now = datetime(2026, 11, 20, 20, tzinfo=UTC)
        self.turn = Turn(now=self.now)
        self.words: list[str] = []
        self.conversation = ""
        self.restarted = False
        self.passing: list[str] = []
        self.offered: set[str] = set()
        self._lock = Lock()

    def does(self, move: str, chance: float) -> bool:
        """Whether the host makes a move now; it is counted."""
        if move not in self.can or self.draw.random() >= chance:
            return False
        self.did(move)
        return True

    def did(self, move: str) -> None:
        self.moves[move] += 1
        self.recent.add(move)
        self.trace.append(move)

    def steps_but(self, conversation: str) -> Callable[[Step], None]:
        """Keeps steps, without those of another conversation."""

        def keep(step: Step) -> None:
            if step.call and step.call.conversation != conversation:
                self.steps.append(step)

        return keep

    # What the user and the host do.

    def begin(self) -> str:
        """The words of the next message; the host's tools and what it knows of the message change with it."""
        if self.words:
            self.change_tools("between")
        self.told = set()
        if "same day" not in self.can:
            self.now += timedelta(hours=self.draw.choice((0, 0, 1, 5)))
        text = f"PASSING-{len(self.words)}" if self.does("text of one turn", 0.2) else ""
        self.passing.append(text)
        if self.passing[-2:-1] and self.passing[-2]:
            self.recent.add("text of one turn")
        self.turn = Turn(now=self.now, ephemeral=text, conversation=self.conversation)
        self.left = self.draw.randint(0, 3)
        self.breaks = self.does("broken off", 0.15)
        if self.breaks:
            self.left = max(self.left, self.draw.randint(1, 2))
        self.words.append(f"WORDS-{len(self.words)}-END")
        self.trace.append(f"user {self.words[-1]} there={sorted(self.there)} left={self.left}")
        return self.words[-1]

    def change_tools(self, when: str) -> None:
        """The host's tools come and go."""
        draw, old = self.draw, set(self.there)
        if draw.random() < 0.25 and self.does(f"gone {when}", 1):
            likely = sorted(({*self.steps[-1].active_tools} if self.steps else set()) & self.there - {*CORE})
            self.there -= {draw.choice(likely or sorted(self.there - {*CORE}) or ["-"])}
            self.recent.add("gone")
        gone = sorted(self.known - self.there)
        if gone and draw.random() < 0.4 and self.does(f"back {when}", 1):
            self.there |= {draw.choice(gone)}
            self.recent.add("back")
        new = sorted({*NAMES} - self.known)
        if new and draw.random() < 0.15 and self.does(f"renamed {when}", 1):
            self.there -= {draw.choice(sorted(self.there - {*CORE}) or ["-"])}
            self.there |= {draw.choice(new)}
            self.recent |= {"renamed"}
        self.known |= self.there
        if self.there != old:
            self.trace.append(f"  tools now {sorted(self.there)}")

    def run(self, name: str, q: str = "") -> Json:
        """What a tool of the host does; one that may not be called shows."""
        with self._lock:
            if self.steps and name not in self.steps[-1].active_tools:
                self.faults.append(f"{name} ran and is not active")
            if name not in self.offered:
                self.faults.append(f"{name} ran and was taken away")
        if q == "fail":
            raise OSError("the disk is full")
        return {"ok": q}

    # What the model does.

    def decide(self, body: Json) -> list[Asked] | None:
        """What the model answers to a request: calls of tools, or None for words.

        Raises:
            BrokenOffError: where the service fails.
        """
        before, moved = self.sent, set(self.recent)
        self.judge(body)
        self.requests += 1
        if self.left == 0:
            self.trace.append("  answers")
            return None
        self.left -= 1
        if self.breaks and self.left == 0:
            self.sent, self.recent = before, moved  # nobody caches what has failed
            raise BrokenOffError
        self.named_cuts = []
        calls = self.calls()
        self.trace.append(f"  calls {[(each.name, each.arguments, each.call) for each in calls]}")
        self.change_tools("within")
        return calls

    def calls(self) -> list[Asked]:
        draw, made, before = self.draw, list[Asked](), self.ids
        for _ in range(draw.choice((1, 1, 2, 3))):
            self.ids += 1
            call = f"c{self.ids}"
            if before and self.does("repeated id", 0.05):
                call = f"c{draw.randint(1, before)}"
            if call not in {each.call for each in made}:
                made.append(self.one(call))
        if self.transfer and self.does("handed over", 0.1):
            made.append(replace(self.transfer, call=f"h{self.ids}"))
        if len(made) > 1:
            self.moves["parallel calls"] += 1
        return made

    def one(self, call: str) -> Asked:
        draw, find = self.draw, self.engine.search_tool
        step = self.steps[-1]
        if draw.random() < 0.5 and step.offers_search:
            if self.does("failing search", 0.15):
                return Asked(find, {"query": "x", "limit": 0}, call)
            names = draw.sample(NAMES, draw.choice((1, 1, 2)))
            self.named |= {*names}
            return Asked(find, {"query": " ".join(names), "limit": len(names)}, call)
        if self.does("agent as a tool", 0.07):
            return Asked("helper", {"q": "x"}, call)
        active = sorted({*step.active_tools} - {*CORE})
        hidden = sorted({*NAMES} & self.offered - {*active})
        if hidden and draw.random() < 0.25 and self.does("called too early", 1):
            name = draw.choice(hidden)
        elif active:
            name = draw.choice(active)
        else:
            name = "done"
        self.named.add(name)
        return Asked(name, {"q": "fail" if self.does("failing tool", 0.1) else "x"}, call)

    # What must hold of a request.

    def judge(self, body: Json) -> None:
        """Judge a body that has arrived."""
        step = self.steps[-1]
        self.offered = set(self.there)
        self.note(body)
        told = [*self._judged(step, body)]
        self.faults += [f"request {self.requests}: {each}" for each in told]
        self.sent = atoms(body)
        self.recent = set()

    def note(self, body: Json) -> None:
        """What searches have found, as the model reads it: results that it has not read before."""
        for text in _texts([value for _, value in atoms(body)]):
            answer = _json(text)
            if isinstance(answer, dict) and isinstance(answer.get("tools"), list) and "message" in answer:
                new = {name for name in answer["tools"] if name in NAMES}
                self.found |= new
                self.named |= {name for name in NAMES if re.search(rf"\b{name}\b", text)}

    def _judged(self, step: Step, body: Json) -> Iterator[str]:
        yield from (f"shape: {each}" for each in faults(body))
        now = atoms(body)
        objects = everything([value for kind, value in now if kind != "tool"])
        text = said([each for each in objects if not _defines(each)])
        cuts = [cut for cut in step.manifest.cuts if cut.what == "baseline" and cut not in self.told]
        self.told = {*step.manifest.cuts}
        self.named_cuts += cuts
        rebuilds = step.manifest.delivery.name == "rewrite"
        moved = rebuilds or not self.sent or self.recent & {"other model", "handed over"}
        if not moved and now[: len(self.sent)] != self.sent and not self._excused():
            yield f"the prefix is broken and no baseline is named: {_difference(self.sent, now)}"
        if self._untrue(cuts):
            yield f"a baseline is named that was none: {[cut.reason for cut in cuts]} after {self.since_words}"
        for each in self.passing[:-1]:
            if each and re.search(rf"{each}\b", text):
                yield f"a text of an earlier turn: {each}"
        left_out = any(cut.what == "ephemeral" for cut in step.manifest.cuts)
        if self.passing[-1] and self.passing[-1] not in text and not left_out:
            yield f"the text of this turn is missing: {self.passing[-1]}"
        if "InputError" in text:
            yield "an error of the host is told to the model"
        if self.words[-1] not in text:
            yield f"lost {self.words[-1]}"
        yield from self._instructions(step, text)
        yield from self._active(step)
        yield from self._hidden(text, now)

    def _excused(self) -> bool:
        # A host that keeps nothing but messages, in a process that has not seen them, begins with the tools of now.
        anew = "same day" in self.can and (self.restarted or not self.conversation)
        return bool(self.named_cuts) or bool(self.recent & {"shortened", "forgot"}) or anew

    def _untrue(self, cuts: list[Any]) -> bool:
        """Whether a reason for a baseline is none that the moves give."""
        self.since_words |= self.recent
        for cut in cuts:
            reasons = next((moves for told, moves in _BASELINES.items() if told in cut.reason), None)
            if reasons is None or not any(m.startswith(r) for m in self.since_words for r in reasons):
                return True
        return False

    def _instructions(self, step: Step, text: str) -> Iterator[str]:
        for name in TOLD:
            count = text.count(f"B-{name}-v1")
            if name in step.active_tools and count != 1:
                yield f"{name} is active and has its instructions {count} times"
            elif count > 1:
                yield f"{name} has its instructions {count} times"
            elif count and name not in self.found and step.manifest.delivery.name != "frozen":
                yield f"{name} was never found and has instructions"

    def _active(self, step: Step) -> Iterator[str]:
        there = self.there & {*NAMES}
        frozen = step.manifest.delivery.name == "frozen"
        active = {*step.active_tools} & {*NAMES}
        if active - there:
            yield f"active and not there: {active - there}"
        if not frozen and active - self.found:
            yield f"active and not found: {active - self.found}"
        if missing := (there if frozen else self.found & there) - active:
            cuts = {cut.what: cut.reason for cut in step.manifest.cuts}
            if not missing <= cuts.keys():
                yield f"found and not active: {missing} {cuts}"

    def _hidden(self, text: str, now: Atoms) -> Iterator[str]:
        """Nothing names a tool that is neither found nor active, but for what the model itself has named."""
        step = self.steps[-1]
        if step.manifest.delivery.name == "frozen":
            return
        seen = self.found | self.named | {*step.active_tools}
        if leaked := {*_WORD.findall(text)} - seen:
            place = min(text.find(name) for name in leaked)
            yield f"named and hidden: {leaked} in {text[max(0, place - 200) : place + 60]!r}"
        for kind, tool in now:
            if kind == "tool":
                name = str(tool.get("name") or (tool.get("function") or tool.get("toolSpec") or {}).get("name"))
                if others := {*_WORD.findall(json.dumps(tool))} - {name} - seen:
                    yield f"the definition of {name} names {others}"


def _defines(value: Json) -> bool:
    return value.get("type") == "tool_reference" or "parameters" in value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        for line in value.splitlines() if "call_id" in value else ():  # a handoff has folded results into one text
            yield from _texts(_json(line.partition(". ")[2]))
    elif isinstance(value, dict):
        if isinstance(value.get("tools"), list) and "message" in value:
            yield json.dumps(value)
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)


def _json(text: str) -> Any:
    try:
        return json.loads(text) if text.startswith("{") else None
    except ValueError:
        return None


def _difference(before: Atoms, now: Atoms) -> str:
    same = (n for n, (old, new) in enumerate(zip(before, now, strict=False)) if old != new)
    at = next(same, min(len(before), len(now)))
    return f"at {at} of {len(before)}:\n  was {str(before[at : at + 2])[:600]}\n  is  {str(now[at : at + 2])[:600]}"


# The host.


EVERYWHERE = """
gone-between gone-within back-between back-within renamed-between renamed-within called-too-early failing-tool
failing-search text-of-one-turn broken-off other-process other-model image repeated-id
"""


class Host(ABC):
    """An application on a framework; a new one goes on in another process with what it has stored."""

    name: ClassVar[str]
    can: ClassVar[frozenset[str]]
    models: ClassVar[tuple[str, ...]]
    forgets: ClassVar[bool] = False
    """Whether nothing is known but what stands in the messages."""

    def __init__(self, talk: Talk, url: str) -> None:
        self.talk, self.url, self.model = talk, url, talk.draw.choice(self.models)
        talk.trace.append(f"{self.name} {self.model}")
        self.loop = asyncio.Runner()

    def live(self) -> None:
        """Play the conversation."""
        talk = self.talk
        try:
            self.start()
            for number in range(talk.draw.randint(2, 4)):
                if number:
                    self.between()
                said = talk.begin()
                try:
                    self.say(said, image=talk.does("image", 0.1))
                except Exception as error:
                    if talk.faults or not talk.breaks:
                        raise
                    talk.trace.append(f"  broke off: {type(error).__name__}")
                if talk.faults:
                    raise AssertionError(talk.faults[0])
        finally:
            self.close()

    def between(self) -> None:
        """What the host does between two messages."""
        talk = self.talk
        if talk.does("other process", 0.2):
            self.start()
        if talk.does("other model", 0.1):
            self.model = talk.draw.choice(self.models)
            self.start()
        if talk.does("shortened between", 0.15):
            talk.recent.add("shortened")
            talk.found -= talk.found if self.forgets else set()
            self.shorten()

    def shorten(self) -> None:
        """Leave out the beginning of what was said."""
        raise NotImplementedError

    def run(self, made: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run(made)

    def close(self) -> None:
        self.loop.close()

    @abstractmethod
    def start(self) -> None:
        """Begin in a new process, with what was stored."""

    @abstractmethod
    def say(self, words: str, *, image: bool) -> None:
        """A message of the user."""


def moves(*more: str) -> frozenset[str]:
    """The moves that every host makes, and more of its own."""
    return frozenset(each.replace("-", " ") for each in (*EVERYWHERE.split(), *more))


def play(kind: type[Host], usual: Sequence[int], *shared: Any) -> None:
    """Plays conversations on hosts of a kind, and prints how often each move was made.

    Args:
        kind: the hosts.
        usual: the seeds, unless the environment says others.
        *shared: what all of the hosts get.
    """
    talks: list[Talk] = []
    with service(talks) as url:
        for seed in seeds(usual):
            talk = Talk(seed, kind.can)
            talks.append(talk)
            try:
                kind(talk, url, *shared).live()
            except Exception as error:
                error.add_note("\n".join([f"seed {seed}", *talk.trace, *talk.faults]))
                raise
    made = sum((talk.moves for talk in talks), Counter[str]())
    print(f"{kind.name}: {len(talks)} conversations, {sum(talk.requests for talk in talks)} requests")
    print("\n".join(f"  {move}: {times}" for move, times in sorted(made.items())))


# The service.


@contextmanager
def service(talks: list[Talk]) -> Iterator[str]:
    """The address of a service that plays the model of the last of these talks."""

    class Model(Handler):
        @override
        def post(self) -> None:
            body, path = json.loads(self.body()), self.path.partition("?")[0]
            talk = talks[-1]
            try:
                calls = talk.decide(body)
            except BrokenOffError:
                self.answer(b'{"error": {"message": "overloaded", "type": "overloaded_error"}}', status=400)
                return
            except Exception as error:  # noqa: BLE001 - it is told where the host is
                talk.faults.append(f"{type(error).__name__}: {error}")
                self.answer(b'{"error": {"message": "judge", "type": "x"}}', status=400)
                return
            made = answer(path, talk.requests, calls or [])
            streams = body.get("stream")
            data = as_events(made).encode() if streams else json.dumps(made).encode()
            self.answer(data, "text/event-stream" if streams else "application/json")

    with serving(Model) as url:
        yield url


def answer(path: str, number: int, calls: list[Asked]) -> Json:
    """An answer in a provider's form, with the ids of the calls."""
    if path.endswith("generateContent"):
        parts: list[Json] = [{"functionCall": {"id": c.call, "name": c.name, "args": c.arguments}} for c in calls] or [
            {"text": "done"}
        ]
        return {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
    made = ANSWERS[path](number, [(each.name, each.arguments) for each in calls])
    written = json.dumps(made)
    for place, each in enumerate(calls):
        for made_id in (f'"toolu_{number}_{place}"', f'"call_{number}_{place}"'):
            written = written.replace(made_id, json.dumps(each.call))
    told: Json = json.loads(written)
    return told
