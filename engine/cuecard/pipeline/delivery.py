"""The delivery of a call, and the authority with which its instructions reach the model."""

from __future__ import annotations

from collections.abc import Callable

from cuecard.config.model_profile import ModelProfile
from cuecard.config.models_file import endpoint_name
from cuecard.errors import InputError, Problem
from cuecard.model import Authority, Call, Delivery, DeliveryChoice, DeliveryWish, Diagnostic, Host, Turn
from cuecard.pipeline.request import CallRequest
from cuecard.records import dataclass

FEW = 2200
"""The number of tokens of instructions up to which `frozen` is the better choice: a dozen tools of 185 tokens each.

Simulated over 15 requests in 3 turns, reading from the cache at 0.1 and writing to it at 1.25 of the plain price: with
12 such tools, `frozen` costs 0.73 of `append` if the model then no longer searches, and 1.06 if it still does. With 30
tools (5,550 tokens) these are 0.97 and 1.33, with 40 tools 1.08 and 1.47: the risk is no longer worth it, and a context
full of instructions for other tools also distracts the model.
"""

_KEPT = "unchanged in this conversation: "


@dataclass(frozen=True, slots=True)
class Choice:
    """A delivery, and the reason for it, for the manifest."""

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

    A wish is granted, except for `append` if the host can only set the system prompt, which leaves no place for blocks.
    Without a wish (`auto`), the cost over a conversation decides (with prices of cached prefixes, see `FEW`):

    - a conversation keeps its first delivery, since every change rewrites the cached prefix;
    - a model that is known never to call a search tool: `frozen`, since it would otherwise never see an instruction;
    - few instructions: `frozen`. The prompt never changes, and no request is spent on a search;
    - a host that can append messages: `append`, the cheapest. Rebuilding the system prompt within a run costs 4.7 times
      as much, more than no caching at all, and models that verify the prefix of their thinking reject it;
    - a host that can only set the system prompt: `rewrite`. There is no cheaper way to show what was discovered. In
      this case, `frozen` requires a model that caches: without a cache, a short prompt is cheaper at every step.

    Args:
        wish: the delivery wanted by the host or the configuration; None for `auto`.
        host: what the host can change during a conversation.
        model: the profile of the model; for an unknown one, the defaults of `ModelProfile`.
        instructions: counts the tokens of the instructions of all tools of the call; called only if it decides.
        before: the delivery of the conversation's previous call.
    """
    if wish and (host == "messages" or wish.delivery != "append"):
        return wish
    if before and wish is None and (host == "messages" or before.delivery != "append"):
        return Choice(before.delivery, _KEPT + before.reason.removeprefix(_KEPT))
    chosen = _cheapest(host, model, instructions()) if model.searches else _without_searches(model)
    return Choice(chosen.delivery, f"{'instead of append' if wish else 'auto'}: {chosen.reason}")


def _without_searches(model: ModelProfile) -> Choice:
    return Choice("frozen", f"`{model.name}` is known not to call a search tool, so nothing would be discovered")


def measured(instructions: int) -> str:
    """The figure that decides between `frozen` and discovery, and on which side of it an agent is."""
    return f"all instructions take {instructions:,} tokens, {'at most' if instructions <= FEW else 'more than'} {FEW:,}"


def _cheapest(host: Host, model: ModelProfile, instructions: int) -> Choice:
    few, said = instructions <= FEW, measured(instructions)
    if host == "messages":
        return Choice("frozen" if few else "append", f"the host can append messages, and {said}")
    caches = model.cache_read < 1
    if few:
        named = f"`{model.name}`" if model.name else "an unnamed model"
        said += f", and {named} {'caches' if caches else 'is not known to cache'}"
    return Choice("frozen" if few and caches else "rewrite", f"the host can only set the system prompt, and {said}")


def delivery_of(request: CallRequest, opened: DeliveryWish, model: ModelProfile) -> DeliveryChoice:
    """The delivery of a call, for its manifest.

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


def check_lifetimes(request: CallRequest, model: ModelProfile) -> None:
    """Refuse texts that move with each request for a model that checks its thinking against what stands before it.

    Raises:
        InputError: naming each section of lifetime `step` of the call.
    """
    if not (request.apart and model.checks_thinking):
        return
    sections = request.agent.edition(request.turn.profile, request.turn.variant)
    told = f"`{model.name}` checks its thinking against the text before it, and section `{{}}` moves with each request"
    hint = "write `lifetime: turn` in place of `step`, or leave the section out of this profile"
    problems = [
        Problem("checked-thinking", told.format(section.id), hint, "turn.model")
        for section in sections
        if section.lifetime == "step"
    ]
    if problems:
        raise InputError(problems)


def _wish(request: CallRequest, opened: DeliveryWish) -> Choice | None:
    """The wish of the turn, otherwise of the host that opened the engine, otherwise of the agent file; None for
    `auto`.
    """
    wish = request.turn.delivery or opened
    if wish == "auto":
        return None
    if request.turn.delivery:
        return Choice(wish, "set by the turn")
    said = "set by the agent file" if opened == request.agent.spec.delivery else "set when the engine was opened"
    return Choice(wish, said)


def _instruction_tokens(request: CallRequest) -> int:
    """The tokens of the instructions of all tools that exist for this call."""
    protocols, there = request.agent.protocols, request.turn.tools
    return sum(request.count(each.text) for name, each in protocols.items() if there is None or name in there)


def told_of_model(turn: Turn, before: Call | None, model: ModelProfile) -> tuple[Diagnostic, ...]:
    """What the host should know about the turn's model; reported once per conversation."""
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
    """The authority of instructions that reach the model mid-conversation.

    `system` if they are in the system prompt. Otherwise they are messages, with the role from the model's profile:
    `user` is the documented fallback, a `<system-reminder>` in the user's turn, which anything that writes into that
    turn could forge. `unknown` if the turn does not name its model. What the host has `said` about its own messages
    overrides the profile.
    """
    if delivery == "rewrite" or host == "system-only":
        return "system"
    return said or (model.mid_conversation if model.name else "unknown")
