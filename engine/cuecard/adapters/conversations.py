"""Conversations under way, and those in the state of a graph."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, fields, replace
from functools import cached_property
from hashlib import sha256
from threading import Lock
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from cuecard.adapters.host import EngineDoor, refused_limit
from cuecard.adapters.one_turn import ends_with_turn
from cuecard.config.values import fill
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import CuecardError, InputError, Problem
from cuecard.model import (
    Call,
    ConversationState,
    Diagnostic,
    Entity,
    Json,
    ResultRecord,
    SearchResult,
    Step,
    ToolResult,
    Turn,
)
from cuecard.model.signed_text import seal, unseal
from cuecard.pipeline.continuation import LOST


def made_by(call: Call, engine: Engine) -> bool:
    """Whether the engine can prepare steps of the call: its files and its tools are those that it was made from."""
    made, agent = call.configuration, engine.agent
    return (made.sha256, made.catalogue) == (agent.sha256, agent.catalogue.sha256)


def check_own(call: Call | None, engine: Engine) -> None:
    """Refuse a conversation of another agent, whose prompt would be sent in place of the engine's.

    Args:
        call: the call of the conversation; None before its first.
        engine: the prompt engine.

    Raises:
        InputError: when the call is of another agent.
    """
    own = engine.agent.spec.agent
    if call and call.configuration.agent != own:
        told = f"the conversation belongs to the agent `{call.configuration.agent}`, not to `{own}`"
        raise InputError(Problem("foreign-call", told, "pass a conversation of this adapter's engine", "conversation"))


def found_so_far(call: Call | None, step: Step | None) -> tuple[str, ...]:
    """The tools that a conversation has found: what a prompt is made anew from where the conversation is lost."""
    if call is None:
        return ()
    found = step.found if step else call.tools.discovered
    return tuple(dict.fromkeys((*call.tools.earlier, *(each.tool for each in found))))


def anew(turn: Turn, found: Collection[str], engine: Engine) -> Turn:
    """The turn of a conversation that is known no longer, but for the tools that it had found: a new baseline, and the
    manifest says so.
    """
    known = tuple(name for name in found if name in engine.tools)
    lost = Diagnostic(
        LOST, "the conversation so far is not known here: its prompt is made anew, with what it had found"
    )
    return replace(turn, discovered=(*turn.discovered, *known), diagnostics=(*turn.diagnostics, lost))


def answered_step(chat: Conversation, engine: Engine, turn: Turn, results: Sequence[ToolResult]) -> Step | None:
    """The step that a model has answered and this process has not prepared, to see what may be called.

    Where other files have made the call, or its turn is over, it is what a prompt would be that is made anew.

    Args:
        chat: the conversation, which stays as it is.
        engine: the prompt engine.
        turn: what the host knows now.
        results: what the messages hold.

    Returns:
        The step; None where none can be made.
    """
    call, held = chat.call, copy(chat)
    engine.take_over(held)  # whoever loaded it may have had the engine of newer files
    try:
        if call and not call.over and made_by(call, engine):
            return held.step(results)
        held.compacted()
        held.user(replace(turn, tools=call.tools.available) if call and turn.tools is None else turn, results)
        return held.step()
    except CuecardError:
        return None


def in_doubt(tool: str, engine: Engine) -> str | None:
    """The answer to a call of which nobody knows the step: None where the engine does not judge the tool.

    The search tool does nothing but name others, so it answers all the same.
    """
    if tool == engine.search_tool or tool not in engine.tools:
        return None
    return fill(engine.words.tools.unknown, {"tool": engine.words.quoted(tool)})


def search(
    engine: Engine, chat: Conversation, query: str, limit: int | None, here: Collection[str] | None = None
) -> SearchResult | str:
    """What the search tool finds in this conversation, or what a model hears that has asked for too much.

    Args:
        engine: the prompt engine.
        chat: the conversation.
        query: what the tools should do.
        limit: at most so many.
        here: the tools of the agent that searches, where the conversation is of several; None for all.

    Raises:
        InputError: when other files or tools have made the running call.
    """
    call = chat.call
    if call and here is not None:
        there = tuple(name for name in call.tools.available if name in here)
        call = replace(call, tools=replace(call.tools, available=there))
    searches = (record for record in chat.state.results if record.found and not record.is_error)
    known = tuple(ToolResult(each.tool, list(each.found), each.call_id) for each in searches)
    try:
        return engine.search_tools(query, limit, call=call, history=known)
    except InputError as error:
        return refused_limit(error, limit, engine.words)


Stored: TypeAlias = dict[str, str]
"""What the state of a graph says of a conversation, and with it every stream: no text of the prompt.

`conversation` is the digest of its texts, `agent` the agent's name, `asked` the message of the user that its call is
for, `tools` the names of the tools found so far, from which a prompt is made anew where the texts are not to be had.
"""

_KEYS = ("begun", "since", "asked")
_SHOWN = ("conversation", "agent", "asked", "tools")
_RECORD = tuple(each.name for each in fields(ResultRecord))
_ENTITY = tuple(each.name for each in fields(Entity))
_HINT = "pass on the value from the graph's state, or omit the key to start a new conversation"


@dataclass(frozen=True)
class ThreadTexts:
    """A conversation as text, as checkpointers keep it.

    Attributes:
        begun: what `Engine.dump` wrote as its last call began, or as inputs changed within it. After the last answer of
            a turn, it no longer holds the texts of that turn alone.
        since: what has come in since then, so that a step writes little. Both are signed where the engine has a key.
        asked: the message of the user that the call is for.
        agent: the name of the agent.
        tools: the names of the tools that were found and of those that are active, with what they belong to, sealed.
    """

    begun: str
    since: str
    asked: str
    agent: str = ""
    tools: str = ""

    @cached_property
    def id(self) -> str:
        """The digest of the texts."""
        return _digest(self.begun, self.since, self.asked)

    @property
    def shown(self) -> Stored:
        """What the state says of them."""
        return {"conversation": self.id, "agent": self.agent, "asked": self.asked, "tools": self.tools}

    @property
    def kept(self) -> dict[str, str]:
        """What a checkpointer keeps."""
        return {each.name: getattr(self, each.name) for each in fields(self)}


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation of a graph, as one request has it.

    Attributes:
        chat: the conversation.
        asked: the message of the user that its call is for.
        answered: what the last answer with calls is known by that its last request has held.
        begun: the conversation as that call began, as text.
        results: how many results were known then.
        step: the step that was prepared last; None where nobody knows in this process.
        engine: the engine that prepared it; None where nobody knows in this process.
        active: the names of the tools that may be called, where another process knew them.
        lost: where the texts of a conversation are not to be had, the tools that it had found; otherwise None.
    """

    chat: Conversation
    asked: str = ""
    answered: str = ""
    begun: str = ""
    results: int = 0
    step: Step | None = None
    engine: Engine | None = None
    active: frozenset[str] = frozenset()
    lost: tuple[str, ...] | None = None


class Threads:
    """Reads and writes conversations of graphs, and keeps the newest at hand, so that none is read twice.

    A handle serves one request and then stands under the state that it has come to: whoever goes on from an earlier
    state, be it a retry, a branch or another process, reads that. The texts of all others are where their channels are.
    """

    def __init__(self, door: EngineDoor, most: int = 256) -> None:
        self._door, self._most = door, most
        self._newest: OrderedDict[str, tuple[ThreadTexts, Thread | None]] = OrderedDict()
        self._fronts: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._texts: WeakValueDictionary[str, ThreadTexts] = WeakValueDictionary()
        self._lock = Lock()

    def open(self, stored: Any) -> Thread:
        """The conversation that a graph's state holds; a new one for None, and where its texts are not to be had.

        Raises:
            InputError: when it is not what `keep` gave, was changed, or is another agent's.
        """
        if stored is None:
            return Thread(self._engine.conversation())
        texts = self.texts(stored)
        if texts is None:
            self._check_agent(stored["agent"])
            return Thread(self._engine.conversation(), lost=self._names("found", stored))
        with self._lock:
            _, kept = self._newest.get(texts.id, (texts, None))
            self._note(texts, None)
        return kept or self._read(texts)

    def front(self, stored: Any) -> Mapping[str, Any]:
        """The definitions of tools that the last request of a conversation had, as far as this process knows them."""
        texts = None if stored is None else self.texts(stored)
        with self._lock:
            return self._fronts.get(texts.id, {}) if texts else {}

    def keep(self, thread: Thread, front: Mapping[str, Any]) -> ThreadTexts:
        """The conversation as text; its handle is kept under it, and the definitions of tools that stand in front."""
        state = thread.chat.state
        if not thread.begun:
            thread = replace(thread, begun=self._engine.dump(thread.chat), results=len(state.results))
        texts = self._written(thread, thread.begun, thread.results)
        with self._lock:
            self._note(texts, thread)
            self._stand(texts.id, front)
        return texts

    def end(self, texts: ThreadTexts) -> ThreadTexts:
        """The same after the last answer of its turn: a text of that turn alone is no longer in it.

        This process still knows the turn, and goes on with it where the graph asks the model again.
        """
        with self._lock:
            _, kept = self._newest.get(texts.id, (texts, None))
        thread = kept or self._read(texts)
        chat = thread.chat
        if chat.call is None or chat.call.over or not ends_with_turn(self._engine.agent, chat.call):
            return texts
        ended = self._written(thread, self._engine.dump(chat, ended=True), len(chat.state.results))
        with self._lock:
            self._newest.pop(texts.id, None)
            self._note(ended, replace(thread, begun=""))
            self._stand(ended.id, self._fronts.get(texts.id, {}))
        return ended

    def hold(self, texts: ThreadTexts) -> ThreadTexts:
        """The same, at hand until a channel has taken it."""
        with self._lock:
            _, kept = self._newest.get(texts.id, (texts, None))
            self._note(texts, kept)
        return texts

    def texts(self, stored: Any) -> ThreadTexts | None:
        """The texts behind what a state says, or those that it has itself; None where they are not to be had: they are
        found by their digest for as long as a channel holds them, or they are among the newest.

        Raises:
            InputError: when it is neither.
        """
        checked = _checked(stored)
        if "conversation" not in checked:
            texts = ThreadTexts(
                **{each.name: checked[each.name] for each in fields(ThreadTexts) if each.name in checked}
            )
            with self._lock:
                return self._texts.setdefault(texts.id, texts)
        with self._lock:
            return self._texts.get(checked["conversation"])

    def refusal(self, stored: Any, tool: str, beside: Collection[str] = ()) -> str | None:
        """The answer to give instead of calling a tool in this state of a graph; None if it may be called.

        That is in doubt where there is no step, where its turn is over, or where another agent has made it. Where
        other files have, tools may be called that were active, if nothing has changed of any tool.
        """
        thread = self._look(stored)
        call = thread.chat.call if thread else None
        step, engine = (thread.step, self.engine_of(thread)) if thread else (None, self._engine)
        if thread and call and not step and not call.over:
            engine.take_over(thread.chat)
            if made_by(call, engine):
                step = thread.chat.step()
            elif call.configuration.catalogue == engine.agent.catalogue.sha256 and tool in thread.active:
                return None
        return step.refusal(tool, beside) if step else in_doubt(tool, engine)

    def engine_of(self, thread: Thread) -> Engine:
        """The engine that answers for a thread: the one of its last request, or one that could prepare the next."""
        return thread.engine or self._door.choose(call=thread.chat.call).engine

    def last_step(self, chat: Conversation, engine: Engine) -> Step:
        """The last step of a conversation, whose turn may have ended: then without what belonged to that turn alone."""
        call = chat.call
        if call and call.over:
            chat = engine.conversation(replace(chat.state, call=replace(call, over=False)))
        return chat.step()

    def running(self, stored: Any) -> tuple[Engine, Call | None]:
        """The engine for a search in a graph's state, and the running call; None where other files have made it."""
        thread = self._look(stored)
        if thread is None:
            return self._engine, None
        engine, call = self.engine_of(thread), thread.chat.call
        return engine, call if call and made_by(call, engine) else None

    def _look(self, stored: Any) -> Thread | None:
        """The conversation, only to be looked at: others may do so at the same time."""
        try:
            texts = None if stored is None else self.texts(stored)
            if texts is None:
                return None
            with self._lock:
                _, kept = self._newest.get(texts.id, (texts, None))
            return kept if kept and kept.step else self._read(texts)
        except InputError:  # the next request tells what is wrong with it
            return None

    @property
    def _engine(self) -> Engine:
        return self._door.current

    def _note(self, texts: ThreadTexts, thread: Thread | None) -> None:
        self._newest.pop(texts.id, None)
        self._newest[texts.id] = self._texts.setdefault(texts.id, texts), thread
        while len(self._newest) > self._most:
            self._newest.popitem(last=False)

    def _stand(self, name: str, front: Mapping[str, Any]) -> None:
        self._fronts.pop(name, None)
        self._fronts[name] = front
        while len(self._fronts) > self._most:
            self._fronts.popitem(last=False)

    def _written(self, thread: Thread, begun: str, known: int) -> ThreadTexts:
        chat, agent = thread.chat, self._engine.agent.spec.agent
        since = seal(_written(chat.state, known) | {"answered": thread.answered}, self._engine.key, as_text=True)
        tools: dict[str, Json] = {
            "of": _digest(begun, since, thread.asked),
            "found": [*found_so_far(chat.call, thread.step)],
            "active": _active(chat.call, thread.step),
        }
        return ThreadTexts(begun, since, thread.asked, agent, seal(tools, self._engine.key, as_text=True))

    def _names(self, which: str, stored: Mapping[str, str]) -> tuple[str, ...]:
        """The names of tools in what a state says of a conversation, or a checkpointer keeps of it."""
        read = unseal(stored["tools"], self._engine.key, "cuecard.tools")
        if not isinstance(read, dict) or read.get("of") != stored["conversation"]:
            raise InputError(Problem("bad-conversation", "these are tools of another conversation", _HINT, "cuecard"))
        names = read.get(which)
        return tuple(str(name) for name in names) if isinstance(names, list) else ()

    def _check_agent(self, name: str) -> None:
        own = self._engine.agent.spec.agent
        if name != own:
            told = f"the conversation belongs to the agent `{name}`, not to `{own}`"
            raise InputError(Problem("foreign-call", told, _HINT, "cuecard"))

    def _read(self, texts: ThreadTexts) -> Thread:
        begun = self._engine.load(texts.begun).state
        read = unseal(texts.since, self._engine.key, "cuecard.since")
        answered = read.pop("answered", "") if isinstance(read, dict) else ""
        since = ConversationState.from_json(_as_json(read), "cuecard.since")
        state = replace(since, call=begun.call, results=(*begun.results, *since.results))
        chat = self._engine.conversation(state)
        initial = begun.call.tools.initial if begun.call and texts.tools else ()
        active = (*initial, *self._names("active", texts.shown)) if texts.tools else ()
        return Thread(chat, texts.asked, str(answered), texts.begun, len(begun.results), active=frozenset(active))


def _active(call: Call | None, step: Step | None) -> list[Json]:
    """The names of the tools that are active, without those that are from the start of the call."""
    initial = frozenset(call.tools.initial) if call else frozenset()
    return [name for name in step.active_tools if name not in initial] if step else []


def _digest(*texts: str) -> str:
    told = "".join(f"{len(text)}:{text}" for text in texts)
    return sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


def _written(state: ConversationState, known: int) -> dict[str, Json]:
    """What has come in since so many results, as rows: a step writes this, so it has to be quick."""
    return {
        "results": [[getattr(record, name) for name in _RECORD] for record in state.results[known:]],
        "calls": dict(state.calls),
        "memory": [[getattr(entity, name) for name in _ENTITY] for entity in state.memory.entities],
        "kept": state.kept,
    }


def _as_json(read: Json) -> Json:
    """The same as the JSON of a state, in which everything is checked."""
    if not isinstance(read, dict):
        return read
    held = {**ConversationState().to_json(), **read, "memory": {"entities": _rows(read.get("memory"), _ENTITY)}}
    return {**held, "results": _rows(read.get("results"), _RECORD)}


def _rows(rows: Json, names: Sequence[str]) -> Json:
    if not isinstance(rows, list):
        return rows
    return [dict(zip(names, row, strict=False)) if isinstance(row, list) else row for row in rows]


def _checked(stored: Any) -> Mapping[str, str]:
    if not isinstance(stored, Mapping):
        told = f"the conversation in the graph's state is a {type(stored).__name__}, not what was stored there"
        raise InputError(Problem("bad-conversation", told, _HINT, "cuecard"))
    asked = _SHOWN if "conversation" in stored else _KEYS
    wrong = [key for key in asked if not isinstance(stored.get(key), str)]
    wrong += [key for key in ("agent", "tools") if key not in wrong and not isinstance(stored.get(key, ""), str)]
    if wrong:
        raise InputError(Problem("bad-conversation", "this is not a string", _HINT, f"cuecard.{key}") for key in wrong)
    return stored
