"""What a host brings beside its turns, the same in every adapter: its engine, its tools, and what these raise."""

from __future__ import annotations

import json
import warnings
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from inspect import iscoroutinefunction
from threading import Lock
from typing import Annotated, Any, Protocol, TypeAlias, TypeVar, runtime_checkable

from pydantic import AfterValidator
from typing_extensions import override

from cuecard.catalogue.catalogue import admit_cards
from cuecard.catalogue.fields import parameter_text
from cuecard.catalogue.ranker import AsyncRanker
from cuecard.catalogue.search import wrong_limit
from cuecard.catalogue.unknown_names import KnownNames
from cuecard.config.words_spec import WordsSpec
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem, closest
from cuecard.model import Call, Diagnostic, RenderedResult, SearchResult, Step, ToolCard, ToolResult, Turn
from cuecard.model.argument_problems import not_right
from cuecard.pipeline.continuation import CHANGED
from cuecard.pipeline.discovery import Discoveries
from cuecard.pipeline.hooks import Hooks

NOT_PLAIN = "should be a plain function: nobody awaits an asynchronous one", "start a task in a plain one"
"""What is told of an asynchronous function where none may be, and what to do."""


def is_asynchronous(value: Any) -> bool:
    """Whether somebody has to await what a function returns."""
    return iscoroutinefunction(value) or iscoroutinefunction(getattr(type(value), "__call__", None))  # noqa: B004 - it is looked at, not asked for


def _plain_function(value: Any) -> Any:
    if is_asynchronous(value):
        raise not_right(*NOT_PLAIN)
    return value


def _answering(value: Any) -> Any:
    if is_asynchronous(value):
        raise not_right(NOT_PLAIN[0], "await what it needs before the run")
    return value


AT_ONCE = AfterValidator(_answering)
"""Annotates a function that is asked for something."""


OnCall: TypeAlias = Annotated[Callable[[Call], None], AfterValidator(_plain_function)]
"""Whom an adapter tells of its calls."""
OnStep: TypeAlias = Annotated[Callable[[Step], None], AfterValidator(_plain_function)]
"""Whom it tells of its steps, before their requests are sent."""


@runtime_checkable
class EngineServer(Protocol):
    """What follows an agent's files and says which engine serves a conversation: a watcher, or `Pins`."""

    @property
    def current(self) -> Engine:
        """The engine of the newest state."""

    def serve(self, *, previous: Call | None = None, call: Call | None = None) -> Any:
        """The engine for the next call of a conversation, or the next step of `call`, as `Pins.serve`."""


AnyEngine: TypeAlias = Engine | EngineServer
"""The prompt engine: as it is, or as its files have it while they change."""


@dataclass(frozen=True, slots=True)
class HostTool:
    """What a host says of a tool.

    Attributes:
        name: its name.
        description: what it does.
        parameters: the name of each parameter, and what is said of it.
    """

    name: str
    description: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, name: str, description: str | None, schema: Any) -> HostTool:
        """A tool with a JSON Schema of its arguments, as far as there is one."""
        parts = [schema.get(key) for key in ("properties", "$defs")] if isinstance(schema, Mapping) else []
        said = (each for part in parts if isinstance(part, Mapping) for each in part.items())
        return cls(name, description or "", tuple((str(key), parameter_text([value])) for key, value in said))

    @property
    def card(self) -> ToolCard:
        """What a search reads of it."""
        fields = {name: {"description": said} if said else {} for name, said in self.parameters}
        return ToolCard(self.name, self.description, {"type": "object", "properties": fields} if fields else {})


Tool = TypeVar("Tool")
"""A tool as a framework has it."""


class HostTools:
    """What tools say of themselves; of the last list it is kept, since schemas are slow to make."""

    def __init__(self, describe: Callable[[Any], HostTool]) -> None:
        self._describe = describe
        self._last: tuple[list[Any], tuple[HostTool, ...]] = ([], ())

    def of(self, tools: Sequence[Any]) -> tuple[HostTool, ...]:
        """That of these tools."""
        given, known = self._last
        if [*map(id, tools)] != [*map(id, given)]:
            known = tuple(map(self._describe, tools))
            self._last = list(tools), known
        return known


def tools_in_front(
    tools: Iterable[Tool], name: Callable[[Tool], str], gone: Collection[str], sent: Mapping[str, Tool]
) -> dict[str, Tool]:
    """The definitions that stand in front of a request, by name: those of the tools that are there, and those of `gone`
    ones as they were sent, since nothing may leave what a provider has cached.

    Args:
        tools: the tools that the host has.
        name: gives the name of one.
        gone: the names of those that it had before, since the last baseline (`Call.host`).
        sent: the definitions of the request before.
    """
    there = {name(tool): tool for tool in tools}
    return {**there, **{each: sent[each] for each in gone if each in sent and each not in there}}


def active_only(tools: Mapping[str, Tool], step: Step, catalogue: Collection[str]) -> list[Tool]:
    """The tools that are active, in order of discovery; those that the catalogue does not know come after the first."""
    first = [name for name in step.active_tools if name in step.initial_tools]
    own = [name for name in tools if name not in catalogue]
    return [tools[name] for name in dict.fromkeys((*first, *own, *step.active_tools)) if name in tools]


@dataclass(frozen=True, slots=True)
class EngineChoice:
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
        self._warned: set[str] = set()
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
        self,
        *,
        previous: Call | None = None,
        call: Call | None = None,
        tools: Iterable[HostTool] = (),
        whole: bool = True,
    ) -> EngineChoice:
        """The engine for the next call of a conversation, or for the next step of its running call.

        Args:
            previous: the call before; None for a new conversation.
            call: the running call.
            tools: the tools that the host has.
            whole: whether it has no others.
        """
        tools, mark = tuple(tools), _as_it_is
        if isinstance(self._source, Engine):
            engine = self._source
            if previous and previous.configuration.sha256 != engine.agent.sha256:
                mark = _of_other_files
        else:
            served = self._source.serve(previous=previous, call=call)
            engine, mark = served.engine, served.turn
        matched = partial(self._matched, engine, frozenset(each.name for each in tools), previous is None and whole)
        return EngineChoice(self._knowing(engine, tools), lambda turn: matched(mark(turn)))

    def take(
        self, chat: Conversation, *, call: Call | None = None, tools: Iterable[HostTool] = (), whole: bool = True
    ) -> EngineChoice:
        """The same for a conversation, which is that engine's from now on; `call` is its running one, if it goes on."""
        chosen = self.choose(previous=chat.call, call=call, tools=tools, whole=whole)
        chosen.engine.take_over(chat)
        return chosen

    def _matched(self, engine: Engine, names: Collection[str], first: bool, turn: Turn) -> Turn:  # noqa: FBT001 - one of four
        """The turn of a conversation's first call, which tells of entries without a tool and tools without an entry.

        Where the turn names the tools, the host has said which of them exist.

        Raises:
            InputError: with what does not match, where the agent file refuses that.
        """
        if not (first and names) or turn.tools is not None:
            return turn
        told, is_likely_slip = _unmatched(engine, names)
        if not told:
            return turn
        if engine.agent.spec.tools.unmatched == "refuse":
            hint = "give both one name; or write `unmatched: warn` under `tools` in the agent file"
            raise InputError(Problem("unmatched-tool", told, hint, "tools"))
        if is_likely_slip and told not in self._warned:
            self._warned.add(told)
            warnings.warn(f"agent `{engine.name}`: {told}", stacklevel=2)
        return replace(turn, diagnostics=(*turn.diagnostics, Diagnostic("unmatched_tools", told)))

    def _knowing(self, engine: Engine, tools: Iterable[HostTool]) -> Engine:
        """The engine, whose searches read what its own files leave open."""
        told = {each.name: each for each in tools if _tells(each, engine)}
        open_ = [told[name] for name in sorted(told)]
        if not open_:
            return engine
        key = id(engine), tuple(open_)
        with self._lock:
            _, known = self._known.get(key) or (engine, _described(engine, [each.card for each in open_]))
            self._known[key] = engine, known
            self._known.move_to_end(key)
            while len(self._known) > _KNOWN:
                self._known.popitem(last=False)
        return known


_NAMED = 5
"""How many names are told of entries without a tool, and of tools without an entry."""


def _as_it_is(turn: Turn) -> Turn:
    return turn


def _of_other_files(turn: Turn) -> Turn:
    told = "the configuration changed since the last message: the system prompt differs from the one sent before"
    return replace(turn, diagnostics=(*turn.diagnostics, Diagnostic(CHANGED, told)))


def _unmatched(engine: Engine, names: Collection[str]) -> tuple[str, bool]:
    """What is told of entries without a tool, and of tools without an entry, near misses first; and whether it is
    likely that a name was misspelt.

    One kind alone is usual: a folder of entries serves several hosts, and not every tool needs an entry. It is a slip
    where an entry without a tool is all but called as a tool is.
    """
    known = engine.tools.keys() | {engine.search_tool}
    strangers = [name for name in sorted(names) if name not in known]
    alone = [name for name in engine.tools if name not in names and name != engine.search_tool]
    own = KnownNames.of(names)
    meant = {name: closest(name, strangers) or own.meant(name) for name in alone}
    near = dict.fromkeys(name for name in meant.values() if name in strangers)
    alone.sort(key=lambda name: not meant[name])
    entries = [
        f"entry `{name}` has no tool" + (f"; did you mean `{meant[name]}`?" if meant[name] else "")
        for name in alone[:_NAMED]
    ]
    entries += [f"{len(alone) - _NAMED} more entries have no tool"] if len(alone) > _NAMED else []
    others = list(dict.fromkeys((*near, *strangers)))
    listed = ", ".join(f"`{name}`" for name in others[:_NAMED])
    more = f" and {len(others) - _NAMED} more" if len(others) > _NAMED else ""
    tools = [f"no entry for the tool{'s' if len(others) > 1 else ''} {listed}{more}"] if others else []
    return "; ".join((*entries, *tools)), bool(alone and strangers) or any(meant.values())


def _tells(tool: HostTool, engine: Engine) -> bool:
    """Whether a search hears something new of a tool."""
    card = engine.tools.get(tool.name)
    if card is None:
        return False
    return bool((tool.description and not card.description) or (tool.parameters and not card.input_schema))


ToolErrors: TypeAlias = bool | str | Annotated[Callable[[Exception], str], AT_ONCE]
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


def with_words(turn: Turn, engine: Engine, said: Callable[[], str]) -> Turn:
    """The turn with the user's words, where the agent searches ahead by them and the host has passed none."""
    wants = engine.agent.spec.tools.ahead is not None and turn.ahead is None
    return replace(turn, query=said()) if wants and not (turn.query or turn.message) else turn


def of_any_depth(render: Callable[[ToolResult], RenderedResult]) -> Callable[[ToolResult], RenderedResult]:
    """The function, to which a body too deep for values of templates is one text: no tool's answer may end a run."""

    def rendered(result: ToolResult) -> RenderedResult:
        try:
            return render(result)
        except InputError as error:
            if {each.code for each in error.problems} != {"value-too-deep"}:
                raise
            try:
                text = json.dumps(result.result, ensure_ascii=False)
            except (TypeError, ValueError, RecursionError):  # it holds itself, or what is no JSON
                raise error from None
        return render(replace(result, result=text))

    return rendered


def content_text(content: Any) -> str:
    """The text of a message's content, plain or in parts; of other parts nothing."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, (list, tuple)) else ()
    texts = (part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, (str, Mapping)))
    return "\n".join(text for text in texts if isinstance(text, str))


def said_beside_files(content: Any) -> Any:
    """What a result in parts says beside its pictures and files: a part of text, or None; one without any, as it is."""
    texts, files = _parted(content)
    if not files:
        return content
    return [{"type": "text", "text": content_text(texts)}] if texts else None


def told_beside_files(content: Any, text: str, kind: str = "text") -> Any:
    """A result as this text, a part of this kind where pictures and files stay behind it; as it is if it says that."""
    texts, files = _parted(content)
    if not files:
        return text
    return content if content_text(texts) == text else [{"type": kind, "text": text}, *files]


def _parted(content: Any) -> tuple[list[Any], list[Any]]:
    parts = content if isinstance(content, list) else []
    return [part for part in parts if _is_text(part)], [part for part in parts if not _is_text(part)]


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") in {"text", "input_text"})


def refused_limit(error: InputError, limit: int | None, words: WordsSpec) -> str:
    """What a model hears that has asked for more tools than a search returns, or for none.

    Raises:
        InputError: the same error, if it is about anything else: then it is the host's.
    """
    if any(problem.code != "search-limit" for problem in error.problems):
        raise error
    return wrong_limit(limit or 0, words)


def _described(engine: Engine, cards: Iterable[ToolCard]) -> Engine:
    """The same engine with the same catalogue and prompts; searches also read what a host says of tools in it."""
    return replace(engine, _described=admit_cards(cards).cards)


def instrumented(engine: Engine, kind: str, around: Callable[[Hooks], Hooks]) -> Engine:
    """The same engine, whose work goes through what this makes of its hooks; for each kind, the last one counts."""
    return replace(engine, _around={**engine._around, kind: around})  # noqa: SLF001 - nobody else has a use for it


@dataclass(frozen=True)
class HooksAround(Hooks):
    """Hooks that do what others do; who records or measures overrides what concerns it."""

    inner: Hooks = field(kw_only=True, repr=False, compare=False)

    @override
    def heard(self, call: Call | None, known: int, results: Sequence[ToolResult]) -> None:
        """Told on."""
        self.inner.heard(call, known, results)

    @override
    def search(self, query: str, limit: int | None, call: Call | None, found: Discoveries | None) -> SearchResult:
        """The search."""
        return self.inner.search(query, limit, call, found)

    @override
    async def asearch(
        self, query: str, limit: int | None, call: Call | None, found: Discoveries | None, ranker: AsyncRanker
    ) -> SearchResult:
        """The search."""
        return await self.inner.asearch(query, limit, call, found, ranker)
