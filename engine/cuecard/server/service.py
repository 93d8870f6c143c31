"""The service without HTTP, and the conversations that it signs."""

from __future__ import annotations

import json
import zlib
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import TypeAlias

from cuecard.adapters.block_places import MessageFacts, homes
from cuecard.adapters.host import of_any_depth, with_words
from cuecard.adapters.one_turn import in_ended_turns
from cuecard.catalogue.search import MAX_LIMIT
from cuecard.config.agent_file import InputSpec
from cuecard.config.turn_file import to_turn
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.files.clock import utc_now
from cuecard.model import Appended, Call, Clock, ConversationState, Json, Step, Turn
from cuecard.model.signed_text import LIMIT, seal, unseal, within_limit
from cuecard.model.storage import as_plain, shallow, to_json_lazily
from cuecard.pipeline.request import check_call
from cuecard.records import replace
from cuecard.reload.pins import ServedEngine
from cuecard.server.agents import Agents, ServedAgent, search_tool_json
from cuecard.server.problems import API
from cuecard.server.requests import PrepareCall, PrepareStep, Remember, SearchTools, TurnBody, to_results
from cuecard.sources.result_values import MEDIA_WORDS

NAME = "conversation"
"""Its name in errors: the name of the field."""


WITHOUT_KEY = (
    "start a new conversation, and set CUECARD_KEY: without it, the service signs with a key that it made when it "
    "started, so that no conversation of another replica, or from before a restart, can be loaded"
)
"""What a service without a key of its host's says of conversations that it cannot open."""


class Envelopes:
    """Seals conversations with the first key, and opens those of any; replicas with the same key can open each other's.

    A key that is not `lasting` was made by this process: conversations of others cannot be opened, and errors say so.
    Those that it `packs` are compressed: a third of the bytes, since a state repeats its prompt.
    """

    def __init__(
        self,
        key: str | Sequence[str],
        max_age: float,
        clock: Clock = utc_now,
        *,
        lasting: bool = True,
        packs: bool = False,
    ) -> None:
        self._keys = (key,) if isinstance(key, str) else tuple(key)
        self._max_age, self._clock, self._lasting, self._packs = max_age, clock, lasting, packs

    def packing(self) -> Envelopes:
        """The same, for a client that carries packed conversations."""
        return Envelopes(self._keys, self._max_age, self._clock, lasting=self._lasting, packs=True)

    def close(self, agent: str, chat: Conversation, *, ended: bool = False) -> str:
        """The conversation as a text that the client keeps but cannot change; `ended` as in `Conversation.to_json`."""
        state = chat.to_json(ended=True) if ended else to_json_lazily(chat.state)
        held = {"packed": _packed(state)} if self._packs else {"state": state}
        told = {"agent": agent, "issued": int(self._clock().timestamp()), **held}
        return seal(told, self._keys[0], as_text=True)

    def open(self, text: str | None, agent: str) -> ConversationState | None:
        """The state in the text; None if there is none yet. What a client has written behind a line break is its own.

        Raises:
            InputError: when it was changed, was signed with another key, belongs to another agent, or is too old.
        """
        if text is None:
            return None
        sealed = self._unseal(text.partition("\n")[0])
        if not _is_ours(sealed):
            hint = "pass on the `conversation` of the previous answer, complete and unchanged"
            raise InputError(Problem("bad-conversation", "this service did not produce this text", hint, NAME))
        if sealed["agent"] != agent:
            told = f"the conversation belongs to the agent `{sealed['agent']}`, not to `{agent}`"
            raise InputError(Problem("foreign-call", told, "name that agent, or start a new conversation", NAME))
        self._check_age(sealed["issued"])
        state = sealed["state"] if "state" in sealed else _unpacked(sealed["packed"])
        return ConversationState.from_json(state, NAME)

    def _unseal(self, text: str) -> Json:
        for earlier in self._keys[1:]:
            with suppress(InputError):
                return unseal(text, earlier, NAME)
        try:
            return unseal(text, self._keys[0], NAME)
        except InputError as error:
            if self._lasting:
                raise
            raise InputError(map(_without_key, error.problems)) from None

    def _check_age(self, issued: int) -> None:
        age = self._clock().timestamp() - issued
        if age > self._max_age:
            told = (
                f"the conversation was last continued {age:,.0f} seconds ago; at most {self._max_age:,.0f} are allowed"
            )
            raise InputError(Problem("old-conversation", told, "start a new conversation", NAME))


def _without_key(problem: Problem) -> Problem:
    return replace(problem, advice=WITHOUT_KEY) if problem.code == "bad-signature" else problem


def _is_ours(sealed: Json) -> bool:
    """Whether it is a conversation of this service: a key may also sign other texts, such as those of `Engine.dump`."""
    named = isinstance(sealed, dict) and sealed.keys() - {"state", "packed"} == {"agent", "issued"} and len(sealed) == 3
    return named and isinstance(sealed["agent"], str) and type(sealed["issued"]) is int


def _packed(state: Json) -> str:
    text = within_limit(json.dumps(state, separators=(",", ":"), default=shallow))
    return b64encode(zlib.compress(text.encode(), 1)).decode()


def _unpacked(packed: Json) -> Json:
    """Only what is signed is unpacked, so that nobody else can have it grow."""
    try:
        return json.loads(zlib.decompressobj().decompress(b64decode(str(packed)), LIMIT))
    except (ValueError, RecursionError, zlib.error):
        return None


State: TypeAlias = ConversationState | None
"""What a conversation knows so far; None before its first message."""


@dataclass(frozen=True, slots=True)
class Service:
    """The agents, and the signatures of the conversations that clients carry. Thread-safe.

    Attributes:
        agents: the agents.
        envelopes: the signatures.
        room: how many characters of results a request should have at most.
        reads_all: whether the results of all of an agent's tools are read as a whole, since they are recorded.
    """

    agents: Agents
    envelopes: Envelopes
    room: int = 256 * 1024
    reads_all: bool = False

    def packing(self) -> Service:
        """The same, for a client that carries packed conversations."""
        return replace(self, envelopes=self.envelopes.packing())

    def prepare_call(self, asked: PrepareCall) -> dict[str, Json]:
        """A `PreparedCall`: the user has said something.

        Raises:
            CuecardError: with every problem of the request.
        """
        agent, state = self._opened(asked)
        begun = self._begun(agent, state, asked)
        engine, chat = begun.served.engine, begun.chat
        if begun.step:  # the answers to its last calls are yet to come, and what has changed is told behind them
            asked = asked.model_copy(update={"definitions": None})
        step = begun.step or chat.step(tools=_there(asked, engine))
        return {**self._stepped(engine, chat, step, asked), **self._told(begun, asked)}

    def prepare_step(self, asked: PrepareStep) -> dict[str, Json]:
        """A `PreparedStep`: the model is about to be asked.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        engine, chat, anew = self._running(asked)
        step = chat.step(to_results(asked.results), asked.calls, inputs=asked.inputs, tools=_there(asked, engine))
        return {**self._stepped(engine, chat, step, asked), **({"anew": anew} if anew else {})}

    def search_tools(self, asked: SearchTools) -> dict[str, Json]:
        """A `SearchAnswer`: the model has called the search tool.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        _, chat, anew = self._running(asked)
        if asked.results or asked.calls:
            chat.step(to_results(asked.results), asked.calls)
        limit = asked.limit
        if asked.bounded and limit is not None:
            limit = min(max(limit, 1), MAX_LIMIT)
        found = chat.search_tools(asked.query, limit)
        again = {"conversation": self.envelopes.close(self.agents.name_of(asked.agent), chat)} if anew else {}
        return {"api": API, "tools": list(found.tools), **asdict(found), **again}

    def remember(self, asked: Remember) -> dict[str, Json]:
        """A `MemoryAnswer`: something was touched, or is gone, or the turn has ended.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        agent, state = self._opened(asked)
        _, chat = _pinned(agent, state)
        if asked.forget_all:
            chat.forget()
        if asked.forget:
            chat.forget(*asked.forget, type=asked.forget_type)
        chat.remember([entry.to_entity() for entry in asked.entities])
        memory = [asdict(entity) for entity in chat.memory.entities]
        return {
            "api": API,
            "conversation": self.envelopes.close(self.agents.name_of(asked.agent), chat, ended=asked.ended),
            "memory": memory,
        }

    def _opened(self, asked: PrepareCall | PrepareStep | SearchTools | Remember) -> tuple[ServedAgent, State]:
        """The agent of a request, and the conversation that it goes on with."""
        state = self.envelopes.open(asked.conversation, self.agents.name_of(asked.agent))
        origin = state.call.configuration.library if state and state.call else None
        return self.agents.of_conversation(asked.agent, origin.version if origin else 0), state

    def _begun(self, agent: ServedAgent, state: State, asked: PrepareCall) -> _CallStart:
        if asked.resumed and state and state.call:
            if begun := _resumed(agent, state, asked):
                return begun
            kept = state.call.turn  # the model has read this message already: what is prepared anew counts it once
            asked = asked.model_copy(update={"compacted": kept if asked.compacted is None else asked.compacted})
        served = agent.pins.serve(previous=state.call if state else None)
        chat = served.conversation(state)
        if asked.compacted is not None:
            chat.compacted(asked.compacted)
        turn = served.turn(_turn(asked, served.engine))
        call = chat.user(turn, to_results(asked.results), asked.calls)
        sections = served.engine.agent.edition(turn.profile, turn.variant)
        return _CallStart(served, chat, call, bool(turn.ephemeral) or not all(section.stays for section in sections))

    def _running(self, asked: PrepareStep | SearchTools) -> tuple[Engine, Conversation, dict[str, Json] | None]:
        """The running conversation; prepared anew where its state is not here, with what a call then tells."""
        agent, state = self._opened(asked)
        engine, chat = _pinned(agent, state)
        if asked.anew is None or state is None or state.call is None or _is_here(state.call, engine):
            return engine, chat, None
        begun = self._begun(*self._opened(asked.anew), asked.anew)
        return begun.served.engine, begun.chat, self._told(begun, asked.anew)

    def _told(self, begun: _CallStart, asked: PrepareCall) -> dict[str, Json]:
        """What a call tells beside its step."""
        call, served = begun.call, begun.served
        delivery = {name: getattr(call.delivery, name) for name in ("name", "reason", "authority")}
        return {
            "delivery": delivery,
            "reload": served.policy,
            "served": served.reason,
            "search_tool": search_tool_json(served.engine),
            "reads": self._reads(served.engine, asked.host_tools or ()),
            **({"one_turn": True} if begun.one_turn else {}),
        }

    def _reads(self, engine: Engine, host: Iterable[str]) -> dict[str, Json]:
        """A `ReadsShape`."""
        agent, read = engine.agent, engine.agent.reads
        lists = () if self.reads_all else agent.lists
        if self.reads_all:
            read = {name: max(how, 2) for name, how in read.items()}
        others = {name: how for name in host if name not in read and (how := agent.read_of(name, is_own=False))}
        pending = agent.spec.tools.cues.pending  # also where no cue waits for it: the client tells what it becomes
        items = max((rule.limit for rule in agent.spec.memory.extract), default=0)
        return {
            "tools": {**read, **others},
            "items": max(items, 2),  # a list of one may be a wrapper
            "lists": [*lists, *filter(agent.forgets, others)],
            "words": [*([f'"{pending}"'] if pending else []), *MEDIA_WORDS],
            "room": self.room,
            "said": agent.spec.tools.ahead is not None,
        }

    def _stepped(
        self, engine: Engine, chat: Conversation, step: Step, asked: PrepareCall | PrepareStep
    ) -> dict[str, Json]:
        front = _front(step, asked, engine)
        step = step if front is None else chat.in_front(step, front)
        placed = {} if asked.messages is None else {"placed": _placed(step, asked.messages, engine)}
        told = {"manifest": step.manifest.to_json()} if asked.manifest else {}
        return {
            "api": API,
            "conversation": self.envelopes.close(self.agents.name_of(asked.agent), chat),
            "step": {**step_json(step, engine), **({} if front is None else {"front": front})},
            "results": _rendered(chat, asked),
            **placed,
            **told,
        }


@dataclass(frozen=True, slots=True)
class _CallStart:
    """A call that has begun; `step` is its step if it went on instead."""

    served: ServedEngine
    chat: Conversation
    call: Call
    one_turn: bool
    step: Step | None = None


def _resumed(agent: ServedAgent, state: ConversationState, asked: PrepareCall) -> _CallStart | None:
    """The running call, gone on with; None if it has ended, the messages have changed, or its state is not here."""
    call = state.call
    served = agent.pins.serve(call=call)
    if call is None or call.over or asked.compacted is not None or not _is_here(call, served.engine):
        return None
    chat = served.engine.conversation(state)
    declared = served.engine.inputs
    given = {name: value for name, value in asked.turn.inputs.items() if _changes(declared.get(name))}
    step = chat.step(to_results(asked.results), asked.calls, inputs=given)
    return _CallStart(served, chat, step.call or call, bool(call.prompt.passing), step)


def _changes(spec: InputSpec | None) -> bool:
    return spec is not None and spec.tier == "step"


def _is_here(call: Call, engine: Engine) -> bool:
    """Whether this engine can go on with the call."""
    try:
        check_call(call, engine.agent)
    except InputError as error:
        return error.problems[0].code != "stale-call"
    return True


def _pinned(agent: ServedAgent, state: ConversationState | None) -> tuple[Engine, Conversation]:
    """The conversation, and the engine that prepared its running call."""
    engine = agent.pins.serve(call=state.call if state else None).engine
    return engine, engine.conversation(state)


def _rendered(chat: Conversation, asked: PrepareCall | PrepareStep) -> list[Json]:
    """`RenderedResultShape`s; for a result without a template, or whose body was not sent, the client has the text."""
    told = [(at, body) for at, body in enumerate(asked.results) if "result" in body.model_fields_set]
    render = of_any_depth(chat.render_result)
    made = zip((at for at, _ in told), map(render, to_results(body for _, body in told)), strict=True)
    return [{"at": at, **each.to_json()} for at, each in made if each.rule or each.media]


def _placed(step: Step, messages: Sequence[str | tuple[str, ...]], engine: Engine) -> dict[str, Json]:
    """A `PlacedShape`; where neither the user nor a tool has said anything, texts stand at the end."""
    ids = [() if isinstance(each, str) else each for each in messages]
    said = [int(each == "user") for each in messages]
    if messages and not any(ids) and not any(said):
        said[-1] = 1
    read = MessageFacts(ids, said, joins=False)
    found = homes(read, step.appended, step.turns) if messages else {}
    numbers, behind = defaultdict[str, list[int]](list), defaultdict[int, list[int]](list)
    for number, block in enumerate(step.appended):
        numbers[block.id].append(number)
    for at, blocks in sorted(found.items()):
        behind[_end_of_results(messages, at)] += [numbers[block.id].pop(0) for block in blocks]
    checked = step.call and _checks_thinking(step.call, engine)

    def order(number: int) -> tuple[bool, int]:
        """Behind what stays in its place in the next request."""
        return step.appended[number].lifetime == "step", number

    return {
        "behind": [[*sorted(behind.get(at, ()), key=order)] for at in range(len(ids))],
        "thoughtless": sorted({at for turn in in_ended_turns(read, step) for at in turn}) if checked else [],
    }


def _end_of_results(messages: Sequence[str | tuple[str, ...]], at: int) -> int:
    """Where the results of a batch end; answers to approvals may stand among them."""
    while messages[at] != "user" and at + 1 < len(messages) and messages[at + 1] not in ("user", "assistant"):
        at += 1
    return at


def _turn(asked: PrepareCall, engine: Engine) -> Turn:
    body: TurnBody = asked.turn
    turn = with_words(replace(to_turn(body, body.inputs), authority=body.authority), engine, lambda: asked.said)
    if turn.tools is not None or asked.host_tools is None:
        return turn
    known = {*engine.tools, *engine.core_tools} - {engine.search_tool}
    return replace(turn, tools=(engine.search_tool, *(name for name in asked.host_tools if name in known)))


def _there(asked: PrepareCall | PrepareStep, engine: Engine) -> tuple[str, ...] | None:
    """The tools that the host has, if it tells."""
    return None if asked.host_tools is None else _with_search(asked.host_tools, engine)


def _with_search(names: Iterable[str], engine: Engine) -> tuple[str, ...]:
    """The names, that of the search first, which every host has."""
    return tuple(dict.fromkeys((engine.search_tool, *names)))


def _front(step: Step, asked: PrepareCall | PrepareStep, engine: Engine) -> list[str] | None:
    """The definitions in front of the request, if the host tells which it has. Those of tools that are gone stay, since
    nothing may leave what a provider has cached.
    """
    call, there = step.call, _there(asked, engine)
    if call is None or there is None or asked.definitions is None:
        return None
    if call.delivery.rebuilds:
        shown = {*there}.difference({*engine.tools, engine.search_tool}.difference(step.active_tools))
    else:
        shown = {*there, *call.host.gone}.difference(() if step.offers_search else (engine.search_tool,))
    return [name for name in _with_search(asked.definitions, engine) if name in shown]


def step_json(step: Step, engine: Engine) -> dict[str, Json]:
    """A `StepShape`: the parts of a step that a host needs."""
    told = {
        "system": step.system,
        "segments": [{"id": s.id, "text": s.text, "tier": s.tier, "stable": s.stable} for s in step.segments],
        "appended": [_block(each) for each in step.appended],
        "active_tools": list(step.active_tools),
        "base_tools": list(step.base_tools),
        "discovered": [{"tool": d.tool, "after_call_id": d.after_call_id} for d in step.discovered],
        "found": [{"tool": d.tool, "after_call_id": d.after_call_id} for d in step.found],
        "turns": list(step.turns),
        "messages": [message.to_json() for message in step.messages],
        "reminder": step.reminder,
        "refusals": _refusals(step),
        "offers_search": step.offers_search,
        **({"stopped": step.stopped} if step.stopped else {}),
        **({"forced_tool": step.forced_tool} if step.forced_tool else {}),
    }
    if not step.ended:
        return told
    thinking = {"checks_thinking": True} if step.call and _checks_thinking(step.call, engine) else {}
    return {**told, "ended": [asdict(each) for each in step.ended], **thinking}


def _refusals(step: Step) -> Json:
    """A `RefusalsShape`."""
    told = as_plain(step.refusals)
    return {key: held for key, held in told.items() if held or key not in _OF_LIMITS}


_OF_LIMITS = {"limited", "others", "first", "always"}


def _block(block: Appended) -> dict[str, Json]:
    """An `AppendedShape`."""
    told = {"id": block.id, "text": block.text, "after_call_id": block.after_call_id, "turn": block.turn}
    return told if block.stays else {**told, "lifetime": block.lifetime}


def _checks_thinking(call: Call, engine: Engine) -> bool:
    return engine.models.find(call.delivery.model, endpoint=call.delivery.endpoint).checks_thinking
