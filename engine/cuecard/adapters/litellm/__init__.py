"""LiteLLM: the arguments of a completion, a wrapper around any of its functions, and a callback for all of them.

    card = Cuecard(engine=Engine.open("prompts/cms"))
    ready = card.prepare("anthropic/claude-opus-4-8", messages, tools)
    answer = litellm.completion(**ready.arguments)

Nothing is kept but the messages that the host has: they are gone through with each request.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial, wraps
from inspect import iscoroutinefunction
from typing import Annotated, Any, TypeAlias

from cuecard.adapters.bodies import Body, admit_chat, checked_limits, tool_choice, tool_name
from cuecard.adapters.clients import check_version
from cuecard.adapters.conversations import search
from cuecard.adapters.function_tools import definitions, search_card
from cuecard.adapters.host import AT_ONCE, AnyEngine, EngineChoice, EngineDoor, OnCall, OnStep, of_any_depth
from cuecard.adapters.litellm.completions import (
    Cache,
    Target,
    ToolOffer,
    caching,
    host_texts,
    legible,
    system_message,
    told_apart,
    without_earlier_thinking,
)
from cuecard.adapters.litellm.replays import ATOMS, Replays, copied, with_tools
from cuecard.adapters.one_turn import ends_with_turn, last_that_stays, refuse_kept_history
from cuecard.adapters.openai import place_in_chat, with_results
from cuecard.conversation import Conversation
from cuecard.engine import Engine
from cuecard.model import Step, Turn
from cuecard.model.boundary import admit, check_fields
from cuecard.model.turn import RunLimit

# The adapter makes arguments without LiteLLM, and is of no use with one that is too old.
check_version("litellm", "litellm", "cuecard.adapters.litellm")

TurnSource: TypeAlias = Turn | Annotated[Callable[[Mapping[str, Any]], Turn], AT_ONCE]
"""What the host knows about a conversation: the same for all, or made from the arguments of the completion."""

_FRONT = ("system", "developer")

_UNCOUNTED: tuple[RunLimit, ...] = ("retries", "failures")
"""The limits of a run that messages of this form are not enough for: they do not say that a call has failed."""

_MODELS = 256
"""Of how many models and addresses is kept what is known of them."""


@dataclass(frozen=True, slots=True)
class PreparedCompletion:
    """A completion to ask for.

    Attributes:
        arguments: for `completion`, `acompletion` or a router: `model`, `messages`, `tools`, and what keeps the prompt
            cached.
        step: the step, for its manifest and for `refusal`.
    """

    arguments: dict[str, Any]
    step: Step
    _engine: Engine = field(repr=False)
    _chat: Conversation = field(repr=False)
    _asked: set[str] = field(default_factory=set, repr=False, compare=False)

    def answer(self, call: Any, beside: Collection[str] = ()) -> dict[str, Any] | None:
        """The message that answers a call of the model, if it is one of the search tool, or one that is refused.

        Args:
            call: a tool call of the answer, as LiteLLM gives it or as plain JSON.
            beside: the tools that the model calls in the same answer: where `run.first_tool` is among them, no other is
                too early. Calls that were answered before are known.

        Returns:
            The message; None for a call that the host has to run.
        """
        made = _plain(call)
        name = made["function"]["name"]
        self._asked.add(name)
        if (told := self.step.refusal(name, {*beside, *self._asked})) is None and name == self._engine.search_tool:
            told = self._found(_json(made["function"].get("arguments")))
        return None if told is None else {"role": "tool", "tool_call_id": made["id"], "name": name, "content": told}

    def _found(self, asked: Mapping[str, Any]) -> str:
        """What the search tool answers, as JSON, or what is wrong with its limit."""
        limit = asked.get("limit")
        if limit is not None and not isinstance(limit, int):
            return f"{self._engine.search_tool}: limit is not a number"
        found = search(self._engine, self._chat, str(asked.get("query") or ""), limit)
        return found if isinstance(found, str) else json.dumps(found.to_json(), ensure_ascii=False)


@dataclass(kw_only=True, eq=False)
class Cuecard:
    """The prompt engine for hosts that call models with LiteLLM; it may serve any number of conversations at once.

    Under `append` and `frozen`, a discovery never changes the list of tools: every definition is in front, and
    `PreparedCompletion.answer` refuses a call of an inactive tool. Under `rewrite` only active tools are shown.

    Attributes:
        engine: the prompt engine, or a watcher or `Pins`, which give each conversation its engine.
        turn: what the host knows about a conversation.
        cache: how long the provider keeps its cache, if that can be set; None to leave caching alone.
        on_call: called with the call of every request.
        on_step: called with every step before its request is sent, for manifests and displays.
    """

    engine: AnyEngine
    turn: TurnSource | None = None
    cache: Cache | None = "5m"
    on_call: OnCall | None = None
    on_step: OnStep | None = None

    def __post_init__(self) -> None:
        check_fields(self, "engine", "turn", "cache", "on_call", "on_step")
        self._door = EngineDoor(self.engine)
        self._replays = Replays()
        self._target = lru_cache(_MODELS)(partial(Target.of, profiles=self._door.current.models))
        self._offer: ToolOffer | None = None
        self._named: tuple[Any, Turn] | None = None

    @cached_property
    def search_tool(self) -> Body:
        """The definition of the search tool, in the agent's words; requests have it by themselves."""
        return definitions([search_card(self._door.current)], "chat")[0]

    def prepare(
        self, model: str, messages: Iterable[Any], tools: Iterable[Any] = (), *, api_base: str = "", **others: Any
    ) -> PreparedCompletion:
        """The next request to the model: a function of its arguments and the clock.

        Args:
            model: as LiteLLM takes it, such as `anthropic/claude-opus-4-8`, or an alias of a router; it is told to the
                engine if the turn does not name it.
            messages: the conversation so far. System messages at the front are the host's own; they go after the
                engine's prompt, which is left out where they were stored as they were sent.
            tools: every tool of the conversation, in the form of Chat Completions.
            api_base: the address of the service, if it is not the provider's own.
            others: further arguments of the completion: `extra_body` is kept, the rest is only passed to `turn`.

        Raises:
            InputError: with everything that is wrong in messages and tools, or in the turn; with every text of one
                turn where the provider keeps the history (`previous_response_id`).
            RunLimitError: when a limit of the run allows no further request.
        """
        said, offer = self._admitted(messages, tools)
        own = next((place for place, each in enumerate(said) if each.get("role") not in _FRONT), len(said))
        target = self._target(model, api_base)
        arguments = {**others, "model": model, "messages": said, "api_base": api_base}
        previous, running = self._replays.before(said[own:]) if self._door.follows else (None, None)
        chosen = self._door.choose(previous=previous, call=running, tools=offer.told)
        engine = chosen.engine
        made = self._replays.replay(engine, said[own:], self._turn(arguments, target, offer, chosen), offer.names)
        chat, call = made.chat, made.call
        if others.get("previous_response_id"):
            refuse_kept_history(engine.agent, call)
        checked_limits(made.step)
        offer = offer.keeping(made.offer, call.host.gone)
        offered = offer.sent(made.step, engine.tools if call.delivery.rebuilds else None)
        step = chat.in_front(made.step, [tool_name(each) for each in offered])
        self._replays.keep(made, offer)
        if self.on_call:
            self.on_call(call)
        if self.on_step:
            self.on_step(step)
        role = call.delivery.authority
        front = system_message(step, target, offered, host_texts(said[:own], step), self.cache)
        showing: list[Mapping[str, Any]] = said[own:]
        if target.profile.checks_thinking and call.delivery.places_blocks and ends_with_turn(engine.agent, call):
            showing = without_earlier_thinking(showing)
        if engine.agent.results:
            showing = with_results(showing, of_any_depth(engine.render_result))
        placed = _own(place_in_chat(legible(showing, target), step, "system" if role == "unknown" else role))
        whole = [front, *placed]
        sent = {"model": model, "messages": whole, "tools": offered}
        stays = last_that_stays(whole, step)
        kept = caching(target, self.cache, f"cuecard-{step.origin[:32]}", others.get("extra_body"), stays)
        choice = tool_choice(step, "chat", offered, target.profile)
        return PreparedCompletion({**sent, **choice, **kept}, step, engine, chat)

    def wrap(self, completion: Callable[..., Any]) -> Callable[..., Any]:
        """A function that prepares its requests: `completion`, `acompletion`, or a router's, streamed or not.

        It takes the arguments of the function, `model`, `messages` and `tools` among them.
        """
        if iscoroutinefunction(completion):

            @wraps(completion)
            async def awaited(model: str, messages: Iterable[Any], **arguments: Any) -> Any:
                return await completion(**self.over({**arguments, "model": model, "messages": messages}))

            return awaited

        @wraps(completion)
        def called(model: str, messages: Iterable[Any], **arguments: Any) -> Any:
            return completion(**self.over({**arguments, "model": model, "messages": messages}))

        return called

    def _admitted(self, messages: Iterable[Any], tools: Iterable[Any]) -> tuple[list[Mapping[str, Any]], ToolOffer]:
        """The messages as plain JSON, and the tools; those of the request before were checked with it."""
        given, offer = list(tools), self._offer
        known = offer is not None and offer.is_of(given)
        given = [] if known else [*map(_dumped, given)]
        said, _ = admit_chat([each if type(each) is dict else _dumped(each) for each in messages], given)
        if offer is None or not known:
            offer = self._offer = ToolOffer.of(given, self.search_tool)
        return told_apart(said), offer

    def over(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a completion, prepared: all of them, `model` and `messages` among them.

        Raises:
            InputError: as `prepare`.
        """
        base = arguments.get("api_base") or arguments.get("base_url") or ""
        apart = {"model", "messages", "tools", "api_base"}
        others = {name: value for name, value in arguments.items() if name not in apart}
        asked = arguments["model"], arguments.get("messages") or (), arguments.get("tools") or ()
        return {**arguments, **self.prepare(*asked, api_base=str(base), **others).arguments}

    def _turn(self, arguments: dict[str, Any], target: Target, offer: ToolOffer, chosen: EngineChoice) -> Turn:
        """The turn with the model and the tools, where it says nothing of them; one that is the same is made once."""
        source = self.turn
        if callable(source):
            said = admit(Turn, source({**arguments, "tools": offer.copies()}), "turn")
            return self._knowing(chosen.turn(said), target, offer, chosen.engine)
        marked = chosen.turn(source or Turn())
        made_of = (marked, target, offer, chosen.engine.sha256)
        if self._named is None or self._named[0] != made_of:
            self._named = (made_of, self._knowing(marked, target, offer, chosen.engine))
        return self._named[1]

    def _knowing(self, said: Turn, target: Target, offer: ToolOffer, engine: Engine) -> Turn:
        turn = with_tools(said, offer.names, engine.tools)
        turn = replace(turn, not_enforced=(*turn.not_enforced, *_UNCOUNTED))
        named = turn if turn.model else replace(turn, model=target.name, endpoint=target.endpoint)
        return replace(named, authority="user" if target.moves else turn.authority or target.role)


def _plain(value: Any) -> Any:
    """A message or a call as plain JSON, of which nothing is shared with the one that was given."""
    return copied(_dumped(value))


def _own(messages: list[Body]) -> list[Body]:
    """The messages, in which LiteLLM may change what it likes: their lists and objects become ones of their own."""
    for message in messages:
        for key, held in message.items():
            if type(held) not in ATOMS:
                message[key] = copied(held)
    return messages


def _dumped(value: Any) -> Any:
    """An object of LiteLLM as plain JSON, and everything else as it is."""
    if type(value) is dict or isinstance(value, Mapping):
        return value
    return getattr(value, "model_dump", lambda **_: value)(exclude_none=True)


def _json(arguments: Any) -> Mapping[str, Any]:
    try:
        read = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    return read if isinstance(read, Mapping) else {}
