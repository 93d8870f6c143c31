"""Which delivery a call gets, and with which authority its instructions reach the model."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.config.endpoints import endpoint_name
from cuecard.config.model_profile import ModelProfile
from cuecard.model import Authority, Call, Delivery, DeliveryChoice, DeliveryWish, Diagnostic, Host, Turn
from cuecard.pipeline.request import CallRequest
from cuecard.records import dataclass

FEW = 2200
"""Up to so many tokens of instructions, `frozen` is the better choice: a dozen tools of 185 tokens each.

Simulated over 15 requests in 3 turns, reading from the cache at 0.1 and writing to it at 1.25 of the plain price: with
12 such tools, `frozen` costs 0.73 of `append` where the model then searches no more, and 1.06 where it still does. With
30 tools (5,550 tokens) these are 0.97 and 1.33, with 40 tools 1.08 and 1.47: the risk is no longer worth it, and a
context full of instructions for other tools also costs attention.
"""

_KEPT = "unchanged in this conversation: "


@dataclass(frozen=True, slots=True)
class Choice:
    """A delivery, and why it is this one: for the manifest."""

    delivery: Delivery
    reason: str


def choose_delivery(
    wish: Choice | None,
    host: Host,
    model: ModelProfile,
    instructions: Callable[[], int],
    before: Choice | None = None,
) -> Choice:
    """The delivery of a call.

    A wish is granted, but for `append` where the host can only set the system prompt: blocks would have no place there.
    Without a wish (`auto`), by what it costs over a conversation (prices of cached prefixes, see `FEW`):

    - a conversation keeps what it began with, since every change writes the cached prefix anew;
    - a model that is known never to call a search tool: `frozen`, or it would never see an instruction;
    - few instructions: `frozen`. Nothing that is sent ever changes, and no request is spent on a search;
    - a host that can append messages: `append`, the cheapest. A system prompt that is rebuilt within a run costs 4.7
      times as much, more than no caching at all, and models that check the prefix of their thinking refuse it;
    - a host that can only set the system prompt: `rewrite`. It has no cheaper way to show what was discovered. There,
      `frozen` needs a model that caches: without a cache, a short prompt is cheaper at every step.

    Args:
        wish: what the host or the configuration asks for; None for `auto`.
        host: what the host can change during a conversation.
        model: the profile of the model; of an unknown one, what `ModelProfile` assumes.
        instructions: counts the tokens of the instructions of all tools of the call; asked only where it decides.
        before: what the conversation's call before this one got.
    """
    if wish and (host == "messages" or wish.delivery != "append"):
        return wish
    if before and wish is None and (host == "messages" or before.delivery != "append"):
        return Choice(before.delivery, _KEPT + before.reason.removeprefix(_KEPT))
    chosen = _cheapest(host, model, instructions()) if model.searches else _without_searches(model)
    return Choice(chosen.delivery, f"{'instead of append' if wish else 'auto'}: {chosen.reason}")


def _without_searches(model: ModelProfile) -> Choice:
    return Choice("frozen", f"`{model.name}` is known not to call a search tool, so nothing would be discovered")


def _cheapest(host: Host, model: ModelProfile, instructions: int) -> Choice:
    few = instructions <= FEW
    said = f"all instructions take {instructions:,} tokens, {'at most' if few else 'more than'} {FEW:,}"
    if host == "messages":
        return Choice("frozen" if few else "append", f"the host can append messages, and {said}")
    caches = model.cache_read < 1
    if few:
        named = f"`{model.name}`" if model.name else "an unnamed model"
        said += f", and {named} {'caches' if caches else 'is not known to cache'}"
    return Choice("frozen" if few and caches else "rewrite", f"the host can only set the system prompt, and {said}")


def delivery_of(request: CallRequest, opened: DeliveryWish, model: ModelProfile) -> DeliveryChoice:
    """The delivery of a call, for its record.

    Args:
        request: what the call is prepared from.
        opened: the delivery that the engine was opened with.
        model: the profile of the model.
    """
    turn, previous = request.turn, request.previous
    before = Choice(previous.delivery.name, previous.delivery.reason) if previous else None
    chosen = choose_delivery(_wish(request, opened), turn.host, model, lambda: _instruction_tokens(request), before)
    authority = authority_of(chosen.delivery, turn.host, model, turn.authority)
    return DeliveryChoice(
        chosen.delivery, chosen.reason, turn.host, turn.model, authority, endpoint_name(turn.endpoint)
    )


def _wish(request: CallRequest, opened: DeliveryWish) -> Choice | None:
    """What is asked for: by the turn, else by who opened the engine, else by the agent file; None for `auto`."""
    wish = request.turn.delivery or opened
    if wish == "auto":
        return None
    if request.turn.delivery:
        return Choice(wish, "set by the turn")
    said = "set by the agent file" if opened == request.agent.spec.delivery else "set when the engine was opened"
    return Choice(wish, said)


def _instruction_tokens(request: CallRequest) -> int:
    """Tokens of the instructions of all tools that exist for this call."""
    protocols, there = request.agent.protocols, request.turn.tools
    return sum(request.count(each.text) for name, each in protocols.items() if there is None or name in there)


def told_of_model(turn: Turn, before: Call | None, model: ModelProfile) -> tuple[Diagnostic, ...]:
    """What the host should know of the model that a turn names; said once in a conversation."""
    if not turn.model or (before and before.delivery.model == turn.model):
        return ()
    told = []
    if not model.known:
        message = f"nothing is known of `{turn.model}`: it is taken for a model that neither caches nor heeds a system"
        told.append(Diagnostic("unknown-model", f"{message} message mid-conversation"))
    if not model.searches:
        message = f"`{turn.model}` is known not to call a search tool: `delivery: auto` shows it every tool at once"
        told.append(Diagnostic("no-searches", message))
    return tuple(told)


def authority_of(delivery: Delivery, host: Host, model: ModelProfile, said: Authority | None = None) -> Authority:
    """With whose words instructions reach the model that are not there from the start.

    `system` where they stand in the system prompt. Elsewhere they are messages, in the role that the model's profile
    names: `user` is the documented fallback, a `<system-reminder>` in the user's turn, which whatever writes into
    that turn could forge. `unknown` where the turn does not name its model. What the host has `said` of its own
    messages holds over the profile.
    """
    if delivery == "rewrite" or host == "system-only":
        return "system"
    return said or (model.mid_conversation if model.name else "unknown")
