"""Conversations as they stand in a graph's state: plain JSON, for any checkpointer and any process."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from threading import Lock
from typing import Any, TypeAlias

from cuecard.adapters.one_turn import ends_with_turn
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.model import Call, ConversationState, Entity, Json, ResultRecord, Step
from cuecard.model.sealed import seal, unseal

Stored: TypeAlias = dict[str, str]
"""A conversation in the state of a graph.

`begun` is what `Engine.dump` wrote as its last call began, or as inputs changed within it, `since` what has come in
since then, so that a step writes little; both are signed where the engine has a key. `asked` is the message of the user
that the call is for. After the last answer of a turn, `begun` no longer holds the texts of that turn alone.
"""

_KEYS = ("begun", "since", "asked")
_RECORD = tuple(each.name for each in fields(ResultRecord))
_ENTITY = tuple(each.name for each in fields(Entity))
_HINT = "pass on the value from the graph's state, or omit the key to start a new conversation"


@dataclass(frozen=True, slots=True)
class Thread:
    """A conversation of a graph, as one request has it.

    Attributes:
        chat: the conversation.
        asked: the message of the user that its call is for.
        begun: the conversation as that call began, as text.
        results: how many results were known then.
        step: the step that was prepared last; None where nobody knows in this process.
    """

    chat: Conversation
    asked: str = ""
    begun: str = ""
    results: int = 0
    step: Step | None = None


class Threads:
    """Reads and writes conversations of graphs, and keeps the handles of the newest, so that none is read twice.

    A handle serves one request and then stands under the state that it has come to: whoever goes on from an earlier
    state, be it a retry, a branch or another process, reads that.
    """

    def __init__(self, engine: Engine, most: int = 256) -> None:
        self._engine, self._most = engine, most
        self._handles: OrderedDict[tuple[str, str], Thread] = OrderedDict()
        self._lock = Lock()

    def open(self, stored: Any) -> Thread:
        """The conversation that a graph's state holds; a new one for None.

        Raises:
            InputError: when it is not what `keep` gave, was changed, or is another agent's.
        """
        if stored is None:
            return Thread(self._engine.conversation())
        checked = _checked(stored)
        with self._lock:
            kept = self._handles.pop((checked["begun"], checked["since"]), None)
        return replace(kept, asked=checked["asked"]) if kept else self._read(checked)

    def keep(self, thread: Thread) -> Stored:
        """The conversation for the graph's state; its handle is kept under it."""
        state = thread.chat.state
        if not thread.begun:
            thread = replace(thread, begun=self._engine.dump(thread.chat), results=len(state.results))
        since = seal(_written(state, thread.results), self._engine.key, as_text=True)
        with self._lock:
            self._handles[thread.begun, since] = thread
            while len(self._handles) > self._most:
                self._handles.popitem(last=False)
        return {"begun": thread.begun, "since": since, "asked": thread.asked}

    def end(self, stored: Stored) -> Stored:
        """The same after the last answer of its turn: a text of that turn alone is no longer in it.

        This process still knows the turn, and goes on with it where the graph asks the model again.
        """
        with self._lock:
            thread = self._handles.get((stored["begun"], stored["since"])) or self._read(stored)
        chat = thread.chat
        if chat.call is None or chat.call.over or not ends_with_turn(self._engine.agent, chat.call):
            return stored
        begun = self._engine.dump(chat, ended=True)
        since = seal(_written(chat.state, len(chat.state.results)), self._engine.key, as_text=True)
        with self._lock:
            self._handles.pop((stored["begun"], stored["since"]), None)
            self._handles[begun, since] = replace(thread, begun="")
        return {"begun": begun, "since": since, "asked": thread.asked}

    def step(self, stored: Any) -> Step | None:
        """The step that a graph's state has come to; None where there is none, or other files have made it."""
        thread = self._look(stored)
        if thread is None or thread.step or thread.chat.call is None or self.is_stale(thread.chat):
            return thread.step if thread else None
        if thread.chat.call.over:
            return None
        return thread.chat.step()

    def last_step(self, chat: Conversation) -> Step:
        """The last step of a conversation, whose turn may have ended: then without what belonged to that turn alone."""
        call = chat.call
        if call and call.over:
            chat = self._engine.conversation(replace(chat.state, call=replace(call, over=False)))
        return chat.step()

    def call(self, stored: Any) -> Call | None:
        """The running call of a graph's state; None where there is none, or other files have made it."""
        thread = self._look(stored)
        return thread.chat.call if thread and not self.is_stale(thread.chat) else None

    def _look(self, stored: Any) -> Thread | None:
        """The conversation, only to be looked at: others may do so at the same time."""
        if stored is None:
            return None
        checked = _checked(stored)
        with self._lock:
            kept = self._handles.get((checked["begun"], checked["since"]))
        return kept if kept and kept.step else self._read(checked)

    def is_stale(self, chat: Conversation) -> bool:
        """Whether the running call was made from other files or tools than the engine has now."""
        if chat.call is None:
            return False
        made, agent = chat.call.configuration, self._engine.agent
        return (made.sha256, made.catalogue) != (agent.sha256, agent.catalogue.sha256)

    def _read(self, stored: Mapping[str, str]) -> Thread:
        begun = self._engine.load(stored["begun"]).state
        read = unseal(stored["since"], self._engine.key, "cuecard.since")
        since = ConversationState.from_json(_as_json(read), "cuecard.since")
        state = replace(since, call=begun.call, results=(*begun.results, *since.results))
        chat = self._engine.conversation(state)
        return Thread(chat, stored["asked"], stored["begun"], len(begun.results))


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
    wrong = [key for key in _KEYS if not isinstance(stored.get(key), str)]
    if wrong:
        raise InputError(Problem("bad-conversation", "this is not a string", _HINT, f"cuecard.{key}") for key in wrong)
    return stored
