"""The service without HTTP: requests in, plain data out; nothing is kept between requests."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

from cuecard.config.turn_file import to_turn
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import Call, ConversationState, Json, Step, Turn
from cuecard.reload.pins import Served
from cuecard.server.agents import Agents, ServedAgent
from cuecard.server.envelopes import Envelopes
from cuecard.server.requests import PrepareCall, PrepareStep, Remember, SearchTools, TurnBody, to_results


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
        agent = self.agents.find(asked.agent)
        state = self.envelopes.open(asked.conversation, agent.name)
        served = agent.pins.serve(previous=state.call if state else None)
        chat = served.conversation(state)
        if asked.compacted is not None:
            chat.compacted(asked.compacted)
        call = chat.user(served.turn(_turn(asked.turn)), to_results(asked.results), asked.calls)
        return {**self._stepped(agent, chat, chat.step(), asked), **_told(call, served)}

    def prepare_step(self, asked: PrepareStep) -> dict[str, Json]:
        """A `PreparedStep`: the model is about to be asked.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        agent = self.agents.find(asked.agent)
        _, chat = _pinned(agent, self.envelopes.open(asked.conversation, agent.name))
        step = chat.step(to_results(asked.results), asked.calls)
        return self._stepped(agent, chat, step, asked)

    def search_tools(self, asked: SearchTools) -> dict[str, Json]:
        """A `Found`: the model has called the search tool.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        agent = self.agents.find(asked.agent)
        state = self.envelopes.open(asked.conversation, agent.name)
        _, chat = _pinned(agent, state)
        if asked.results or asked.calls:
            chat.step(to_results(asked.results), asked.calls)
        found = chat.search_tools(asked.query, asked.limit)
        return {"tools": list(found.tools), **asdict(found)}

    def remember(self, asked: Remember) -> dict[str, Json]:
        """A `Remembered`: something was touched, or is gone.

        Raises:
            CuecardError: with everything that is wrong in the request.
        """
        agent = self.agents.find(asked.agent)
        _, chat = _pinned(agent, self.envelopes.open(asked.conversation, agent.name))
        if asked.forget_all:
            chat.forget()
        if asked.forget:
            chat.forget(*asked.forget)
        chat.remember([entry.to_entity() for entry in asked.entities])
        memory = [asdict(entity) for entity in chat.memory.entities]
        return {"conversation": self.envelopes.close(agent.name, chat), "memory": memory}

    def _stepped(
        self, agent: ServedAgent, chat: Conversation, step: Step, asked: PrepareCall | PrepareStep
    ) -> dict[str, Json]:
        told = {"manifest": step.manifest.to_json()} if asked.manifest else {}
        return {
            "conversation": self.envelopes.close(agent.name, chat),
            "step": step_json(step),
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
    return [{"at": at, **each.to_json()} for at, each in enumerate(made) if each.rule]


def _turn(body: TurnBody) -> Turn:
    return replace(to_turn(body, body.inputs), authority=body.authority)


def _told(call: Call, served: Served) -> dict[str, Json]:
    delivery = {name: getattr(call.delivery, name) for name in ("name", "reason", "authority")}
    return {"delivery": delivery, "reload": served.policy, "served": served.reason}


def step_json(step: Step) -> dict[str, Json]:
    """A `StepShape`: the parts of a step that a host needs."""
    return {
        "system": step.system,
        "segments": [{"id": s.id, "text": s.text, "tier": s.tier, "stable": s.stable} for s in step.segments],
        "appended": [
            {"id": a.id, "text": a.text, "after_call_id": a.after_call_id, "turn": a.turn} for a in step.appended
        ],
        "active_tools": list(step.active_tools),
        "base_tools": list(step.base_tools),
        "discovered": [{"tool": d.tool, "after_call_id": d.after_call_id} for d in step.discovered],
        "found": [{"tool": d.tool, "after_call_id": d.after_call_id} for d in step.found],
        "turns": list(step.turns),
        "messages": [message.to_json() for message in step.messages],
        "reminder": step.reminder,
        "refusals": asdict(step.refusals),
        "offers_search": step.offers_search,
    }
