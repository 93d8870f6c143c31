"""The service without HTTP, and the conversations that it signs."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TypeAlias

from cuecard.config.turn_file import to_turn
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.errors import InputError, Problem
from cuecard.files.clock import utc_now
from cuecard.model import Appended, Call, Clock, ConversationState, Json, Step, Turn
from cuecard.model.signed_text import seal, unseal
from cuecard.model.storage import as_plain
from cuecard.reload.pins import Served
from cuecard.server.agents import Agents, ServedAgent
from cuecard.server.requests import PrepareCall, PrepareStep, Remember, SearchTools, TurnBody, to_results

NAME = "conversation"
"""Its name in errors: the name of the field."""


WITHOUT_KEY = (
    "start a new conversation, and set CUECARD_KEY: without it, the service signs with a key that it made when it "
    "started, so that no conversation of another replica, or from before a restart, can be loaded"
)
"""What a service without a key of its host's says of conversations that it cannot open."""


class Envelopes:
    """Seals and opens conversations with one key; replicas with the same key can open each other's.

    A key that is not `lasting` was made by this process: conversations of others cannot be opened, and errors say so.
    """

    def __init__(self, key: str, max_age: float, clock: Clock = utc_now, *, lasting: bool = True) -> None:
        self._key, self._max_age, self._clock, self._lasting = key, max_age, clock, lasting

    def close(self, agent: str, chat: Conversation, *, ended: bool = False) -> str:
        """The conversation as a text that the client keeps but cannot change; `ended` as in `Conversation.to_json`."""
        told = {"agent": agent, "issued": int(self._clock().timestamp()), "state": chat.to_json(ended=ended)}
        return seal(told, self._key, as_text=True)

    def open(self, text: str | None, agent: str) -> ConversationState | None:
        """The state in the text; None if there is none yet.

        Raises:
            InputError: when it was changed, was signed with another key, belongs to another agent, or is too old.
        """
        if text is None:
            return None
        sealed = self._unseal(text)
        if not _is_ours(sealed):
            hint = "pass on the `conversation` of the previous answer, complete and unchanged"
            raise InputError(Problem("bad-conversation", "this service did not produce this text", hint, NAME))
        if sealed["agent"] != agent:
            told = f"the conversation belongs to the agent `{sealed['agent']}`, not to `{agent}`"
            raise InputError(Problem("foreign-call", told, "name that agent, or start a new conversation", NAME))
        self._check_age(sealed["issued"])
        return ConversationState.from_json(sealed["state"], NAME)

    def _unseal(self, text: str) -> Json:
        try:
            return unseal(text, self._key, NAME)
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
    named = isinstance(sealed, dict) and sealed.keys() == {"agent", "issued", "state"}
    return named and isinstance(sealed["agent"], str) and type(sealed["issued"]) is int


State: TypeAlias = ConversationState | None
"""What a conversation knows so far; None before its first message."""


@dataclass(frozen=True, slots=True)
class Service:
    """The agents, and the signatures of the conversations that clients carry. Thread-safe."""

    agents: Agents
    envelopes: Envelopes

    def prepare_call(self, asked: PrepareCall) -> dict[str, Json]:
        """A `PreparedCall`: the user has said something.

        Raises:
            CuecardError: with every problem of the request.
        """
        agent, state = self._opened(asked)
        served = agent.pins.serve(previous=state.call if state else None)
        chat = served.conversation(state)
        if asked.compacted is not None:
            chat.compacted(asked.compacted)
        turn = served.turn(_turn(asked.turn))
        call = chat.user(turn, to_results(asked.results), asked.calls)
        return {**self._stepped(served.engine, chat, chat.step(), asked), **_told(call, turn, served)}

    def prepare_step(self, asked: PrepareStep) -> dict[str, Json]:
        """A `PreparedStep`: the model is about to be asked.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        engine, chat = _pinned(*self._opened(asked))
        step = chat.step(to_results(asked.results), asked.calls, inputs=asked.inputs)
        return self._stepped(engine, chat, step, asked)

    def search_tools(self, asked: SearchTools) -> dict[str, Json]:
        """A `SearchAnswer`: the model has called the search tool.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        agent, state = self._opened(asked)
        _, chat = _pinned(agent, state)
        if asked.results or asked.calls:
            chat.step(to_results(asked.results), asked.calls)
        found = chat.search_tools(asked.query, asked.limit)
        return {"tools": list(found.tools), **asdict(found)}

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
            "conversation": self.envelopes.close(self.agents.name_of(asked.agent), chat, ended=asked.ended),
            "memory": memory,
        }

    def _opened(self, asked: PrepareCall | PrepareStep | SearchTools | Remember) -> tuple[ServedAgent, State]:
        """The agent of a request, and the conversation that it goes on with."""
        state = self.envelopes.open(asked.conversation, self.agents.name_of(asked.agent))
        origin = state.call.configuration.library if state and state.call else None
        return self.agents.of_conversation(asked.agent, origin.version if origin else 0), state

    def _stepped(
        self, engine: Engine, chat: Conversation, step: Step, asked: PrepareCall | PrepareStep
    ) -> dict[str, Json]:
        told = {"manifest": step.manifest.to_json()} if asked.manifest else {}
        return {
            "conversation": self.envelopes.close(self.agents.name_of(asked.agent), chat),
            "step": step_json(step, engine),
            "results": _rendered(chat, asked),
            **told,
        }


def _pinned(agent: ServedAgent, state: ConversationState | None) -> tuple[Engine, Conversation]:
    """The conversation, and the engine that prepared its running call."""
    engine = agent.pins.serve(call=state.call if state else None).engine
    return engine, engine.conversation(state)


def _rendered(chat: Conversation, asked: PrepareCall | PrepareStep) -> list[Json]:
    """`RenderedResultShape`s; for a result without a template, the client has the text."""
    made = map(chat.render_result, to_results(asked.results))
    return [{"at": at, **each.to_json()} for at, each in enumerate(made) if each.rule or each.media]


def _turn(body: TurnBody) -> Turn:
    return replace(to_turn(body, body.inputs), authority=body.authority)


def _told(call: Call, turn: Turn, served: Served) -> dict[str, Json]:
    delivery = {name: getattr(call.delivery, name) for name in ("name", "reason", "authority")}
    told = {"delivery": delivery, "reload": served.policy, "served": served.reason}
    sections = served.engine.agent.edition(turn.profile, turn.variant)
    one_turn = bool(turn.ephemeral) or not all(section.stays for section in sections)
    return {**told, "one_turn": True} if one_turn else told


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
