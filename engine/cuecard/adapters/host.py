"""What a host brings beside its turns, the same in every adapter: its engine, its tools, and what these raise."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol, TypeAlias, runtime_checkable

from cuecard.catalogue.search import wrong_limit
from cuecard.config.words_spec import WordsSpec
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError
from cuecard.model import Call, ToolCard, Turn


@runtime_checkable
class EngineSource(Protocol):
    """What follows an agent's files and says which engine serves a conversation: a watcher, or `Pins`."""

    @property
    def current(self) -> Engine:
        """The engine of the newest state."""

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> Any:
        """The engine for the next call of a conversation, or the next step of `call`, as `Pins.serve`."""


AnyEngine: TypeAlias = Engine | EngineSource
"""The prompt engine: as it is, or as its files have it while they change."""


@dataclass(frozen=True, slots=True)
class HostTool:
    """What a host says of a tool."""

    name: str
    description: str = ""
    parameters: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, description: str | None, schema: Any) -> HostTool:
        """A tool with a JSON Schema of its arguments, as far as there is one."""
        fields = schema.get("properties") if isinstance(schema, Mapping) else None
        return cls(name, description or "", tuple(map(str, fields)) if isinstance(fields, Mapping) else ())

    @property
    def card(self) -> ToolCard:
        """What a search reads of it."""
        schema = {"type": "object", "properties": {name: {} for name in self.parameters}} if self.parameters else {}
        return ToolCard(self.name, self.description, schema)


@dataclass(frozen=True, slots=True)
class Chosen:
    """The engine that serves a call.

    Attributes:
        engine: the engine; its searches know what the host's tools say of themselves.
        turn: gives a turn what the manifest records of the choice.
    """

    engine: Engine
    turn: Callable[[Turn], Turn]


_KNOWN = 32
"""For how many engines and lists of tools an engine that knows both is kept, since each has an index of its own."""


class EngineDoor:
    """The engine of each conversation. Thread-safe."""

    def __init__(self, source: AnyEngine) -> None:
        self._source = source
        self._known: OrderedDict[tuple[int, tuple[HostTool, ...]], tuple[Engine, Engine]] = OrderedDict()
        self._lock = Lock()

    @property
    def follows(self) -> bool:
        """Whether the engine may be another one next time."""
        return not isinstance(self._source, Engine)

    @property
    def current(self) -> Engine:
        """The engine of what does not depend on a conversation."""
        return self._source if isinstance(self._source, Engine) else self._source.current

    def choose(
        self, *, previous: Call | None = None, call: Call | None = None, tools: Iterable[HostTool] = ()
    ) -> Chosen:
        """The engine for the next call of a conversation, or for the next step of its running call.

        Args:
            previous: the call before; None for a new conversation.
            call: the running call.
            tools: the tools that the host has.
        """
        if isinstance(self._source, Engine):
            return Chosen(self._knowing(self._source, tools), lambda turn: turn)
        served = self._source.serve(previous=previous, call=call)
        return Chosen(self._knowing(served.engine, tools), served.turn)

    def take(self, chat: Conversation, *, call: Call | None = None, tools: Iterable[HostTool] = ()) -> Chosen:
        """The same for a conversation, which is that engine's from now on; `call` is its running one, if it goes on."""
        chosen = self.choose(previous=chat.call, call=call, tools=tools)
        chosen.engine.take_over(chat)
        return chosen

    def _knowing(self, engine: Engine, tools: Iterable[HostTool]) -> Engine:
        """The engine, whose searches read what its own files leave open."""
        told = {each.name: each for each in tools if _tells(each, engine)}
        open_ = [told[name] for name in sorted(told)]
        if not open_:
            return engine
        key = id(engine), tuple(open_)
        with self._lock:
            _, known = self._known.get(key) or (engine, engine.with_descriptions(each.card for each in open_))
            self._known[key] = engine, known
            self._known.move_to_end(key)
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return known


def _tells(tool: HostTool, engine: Engine) -> bool:
    """Whether a search hears something new of a tool."""
    card = engine.tools.get(tool.name)
    if card is None:
        return False
    return bool((tool.description and not card.description) or (tool.parameters and not card.input_schema))


ToolErrors: TypeAlias = bool | str | Callable[[Exception], str]
"""What becomes of an exception of a tool: the host gets it (False), or the model reads its type (True), this text, or
what the function makes of it.
"""


def told_error(error: BaseException, handling: ToolErrors) -> str | None:
    """What the model reads of an exception of a tool; None where it is left to the host and its framework.

    Errors of the engine, and of a tool server that is gone, are never the model's to mend.
    """
    return None if isinstance(error, CuecardError) else error_text(error, handling)


def error_text(error: BaseException, handling: ToolErrors) -> str | None:
    """What the model reads of any exception of a tool; None where the host gets it."""
    if handling is False or not isinstance(error, Exception):
        return None
    if handling is True:
        return type(error).__name__
    return handling if isinstance(handling, str) else handling(error)


def refused_limit(error: InputError, limit: int | None, words: WordsSpec) -> str:
    """What a model hears that has asked for more tools than a search returns, or for none.

    Raises:
        InputError: the same error, if it is about anything else: then it is the host's.
    """
    if any(problem.code != "search-limit" for problem in error.problems):
        raise error
    return wrong_limit(limit or 0, words)
