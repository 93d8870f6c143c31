"""The sentence of the Timeline: why the cache broke in a step, what was paid for again, and the way out.

Every word comes from manifests, bills and what providers reported; what they do not tell is said to be unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from cuecard.config.model_profile import ModelProfile
from cuecard.errors import visible
from cuecard.studio.steps import DeliveryRun, StepBreak, StudioRequest
from cuecard.workbench.bill import BillRow, Prices, Request
from cuecard.workbench.output import counted


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a sentence: plain words, words that stand out, a name as it is written, or a link."""

    text: str
    kind: Literal["", "strong", "code"] = ""
    href: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a visitor came to find out.

    Attributes:
        edge: how it looks: `good`, `bad`, or `plain`.
        question: the question.
        first: the answer, in one sentence; `more` are at most three sentences behind it.
        way: the delivery that avoids the break; empty if none is known to.
    """

    edge: Literal["good", "bad", "plain"]
    question: str
    first: tuple[Piece, ...]
    more: tuple[tuple[Piece, ...], ...] = ()
    way: str = ""


@dataclass(frozen=True, slots=True)
class PricedStep:
    """A step with its price.

    Attributes:
        sent: the step.
        row: what it costs, as reckoned from its blocks.
        before: the blocks of the step before; None for the first one.
    """

    sent: StudioRequest
    row: BillRow
    before: Request | None

    @property
    def split(self) -> Split:
        """Its tokens by what became of them."""
        return split_of(self.before, self.sent.billed, self.row)


@dataclass(frozen=True, slots=True)
class Split:
    """The tokens of a request by what became of them; they add up to it.

    Attributes:
        kept: read from the cache.
        ahead: the same as before, in front of the first change, but behind the last entry of the cache.
        again: the same as before, and paid for again.
        new: not in the request before.
    """

    kept: int
    ahead: int
    again: int
    new: int


def split_of(before: Request | None, after: Request, row: BillRow) -> Split:
    """What became of the tokens of a request that follows another one."""
    left = Counter(block.key for block in before.blocks) if before else Counter[str]()
    at, ahead, again = 0, 0, 0
    for number, block in enumerate(after.blocks):
        at += block.tokens
        paid = max(0, min(block.tokens, at - row.cached))
        if left[block.key] > 0:
            left[block.key] -= 1
            in_front = row.first_break is not None and number < row.first_break
            ahead, again = (ahead + paid, again) if in_front else (ahead, again + paid)
    return Split(row.cached, ahead, again, row.input_tokens - row.cached - ahead - again)


def answer_of(
    steps: Sequence[PricedStep],
    at: int,
    run: DeliveryRun,
    others: Mapping[str, Sequence[PricedStep]],
    model: ModelProfile,
    link: Callable[[str], str],
) -> Answer:
    """The answer for a step.

    Args:
        steps: the priced steps of the conversation.
        at: the step, counted from 0.
        run: the conversation.
        others: the same conversation under the other deliveries; none where only records are known.
        model: the model that it is priced for.
        link: makes the link that opens a place such as `agent.xml:47`; empty where there is none.
    """
    priced = steps[at]
    sent, broken = priced.sent, priced.sent.broken
    where = f"turn {sent.turn}" if sent.number == 1 else f"step {sent.place}"
    if broken is None:
        return _unbroken(priced, steps[at - 1].sent if at else None, run, model)
    way = _way(steps, at, others)
    more = [
        _place(broken, sent, run, steps[at - 1].sent, link),
        _way_out(way, priced, at, others),
        *_provider(priced),
    ]
    first = _reported(sent, broken) or _paid(broken, sent, priced.split, model)
    return Answer("bad", f"Why the cache broke in {where}", first, tuple(filter(None, more)), way)


def _paid(broken: StepBreak, sent: StudioRequest, split: Split, model: ModelProfile) -> tuple[Piece, ...]:
    if broken.part == "salt":
        told = "The fingerprints of this step were made with another salt than those before it: they tell nothing."
        return (Piece(told),)
    if Prices.of(model).read >= 1:
        return (
            *_what(broken, sent),
            Piece(f", and {model.name} gains nothing from a cache: every token costs the same."),
        )
    if not split.again:
        return (
            *_what(broken, sent),
            Piece("; nothing behind it was the same as before, so nothing was paid for again."),
        )
    behind = "them" if broken.part == "tools" and len(sent.came or sent.gone) != 1 else "it"
    unchanged = f", and {split.again:,} unchanged tokens behind {behind} were paid for again."
    return (*_what(broken, sent), Piece(unchanged))


_CHANGED = {
    "changed": "changed",
    "added": "entered",
    "removed": "left",
    "moved": "moved to another place",
    "same": "is the same",
}


def _what(broken: StepBreak, sent: StudioRequest) -> tuple[Piece, ...]:
    """What changed, as the beginning of a sentence."""
    match broken.part:
        case "tools":
            if sent.came or sent.gone:
                tools, verb = (sent.came, "entered") if sent.came else (sent.gone, "left")
                noun = "the definition of 1 tool" if len(tools) == 1 else f"the definitions of {len(tools)} tools"
                return (Piece(f"{noun[0].upper()}{noun[1:]} {verb} in front of the system prompt"),)
            return (Piece("The definitions of tools stand in another order"),)
        case "messages":
            told = "what the user wrote" if broken.name == "user" else "what was said before"
            return (Piece(f"{told[0].upper()}{told[1:]} is no longer as it was sent"),)
        case "model":
            return (
                Piece("The model changed ("),
                Piece(visible(broken.name), "code"),
                Piece("), and caches are kept by model"),
            )
        case "appended":
            changed = Piece(f" {_CHANGED[broken.change]}")
            return (Piece("The appended text "), Piece(visible(broken.name), "code"), changed)
        case _:
            return (Piece("The section "), Piece(visible(broken.name), "code"), Piece(f" {_CHANGED[broken.change]}"))


def _place(
    broken: StepBreak, sent: StudioRequest, run: DeliveryRun, before: StudioRequest, link: Callable[[str], str]
) -> tuple[Piece, ...]:
    """Where it stands, and why it changed."""
    between = "between the turns" if before.turn != sent.turn else "between the two requests"
    cause = _cause(broken, sent, between)
    source = (Piece(" ("), Piece(broken.source, "", link(broken.source)), Piece(")")) if broken.source else ()
    match broken.part:
        case "system":
            front = "It stands in the system prompt, in front of everything that was said"
        case "message":
            front = "It is a message right after the system prompt"
        case "appended":
            front = "It stands in the conversation"
        case "tools":
            front = "A provider reads the definitions first, then the system prompt, then the messages"
        case "messages":
            return (
                Piece("Your program sends its messages; their texts are not in manifests, so the reason is not known."),
            )
        case _:
            return ()
    alone = "" if run.whole else " Only the prompt is known here, not the messages and definitions around it."
    return (Piece(front), *source, *cause, Piece(f".{alone}"))


_CAUSES = {
    "memory": ", and memory changed {between}",
    "clock": ", and the time in it changed {between}",
    "input": ", and the value of {names} changed {between}",
    "file": ", and the agent's files were edited {between}",
    "delivery": ", and the delivery changed: {names}",
    "compaction": ", and the history was shortened",
    "ended": ", and was for one turn or request alone",
    "order": ", and its parts stand in another order",
}


def _cause(broken: StepBreak, sent: StudioRequest, between: str) -> tuple[Piece, ...]:
    kind, _, names = broken.cause.partition(" ")
    if kind == "discovery" and (tools := sent.came or sent.gone):
        shown = visible(", ".join(tools[:3])) + (f" and {len(tools) - 3} more" if len(tools) > 3 else "")
        return (Piece(f", and a search found {shown}" if sent.came else f", and {shown} cannot be called any more"),)
    if kind not in _CAUSES or (kind == "input" and not names):
        return (Piece("; it was sent again for a reason that the manifest does not hold"),)
    return (Piece(visible(_CAUSES[kind].format(between=between, names=names))),)


def _way(steps: Sequence[PricedStep], at: int, others: Mapping[str, Sequence[PricedStep]]) -> str:
    """The cheapest delivery under which this step does not break, and costs less; empty if there is none."""
    cost = steps[at].row.cost
    fitting = [
        (sum(each.row.cost for each in priced), name)
        for name, priced in others.items()
        if at < len(priced) and priced[at].sent.broken is None and priced[at].row.cost < cost
    ]
    return min(fitting, default=(0.0, ""))[1]


def _way_out(way: str, priced: PricedStep, at: int, others: Mapping[str, Sequence[PricedStep]]) -> tuple[Piece, ...]:
    if not others:
        told = "What another delivery would cost is not known: records hold manifests, and not the conversation."
        return (Piece(told),)
    if not way:
        return (Piece("Under no other delivery is this step cheaper."),)
    other, this = others[way][at].row.cost, priced.row.cost
    broken = priced.sent.broken
    does = {
        ("append", "tools"): "they come behind the search result that found them",
        ("append", "system"): "the same change goes behind the messages",
        ("frozen", "tools"): "they are there from the start",
    }.get((way, broken.part if broken else ""), "nothing in front changes here")
    much = Piece(f"{other:,.0f} instead of {this:,.0f}", "strong")
    whole = sum(each.row.cost for each in others[way])
    price = () if way != "frozen" else (Piece(f"; the whole conversation then costs {whole:,.0f}"),)
    return (Piece("Under "), Piece(way, "strong"), Piece(f" {does}, and this step costs "), much, *price, Piece("."))


def _reported(sent: StudioRequest, broken: StepBreak) -> tuple[Piece, ...]:
    """The answer where the provider's figures are known: they win over what is reckoned."""
    if usage := sent.usage:
        rest = usage.input_tokens - usage.cached_tokens
        told = f"; the provider read {usage.cached_tokens:,} of {usage.input_tokens:,} tokens from its cache, "
        return (*_what(broken, sent), Piece(f"{told}and not the other {rest:,}."))
    if sent.cache and sent.cache.outcome == "hit":
        return (*_what(broken, sent), Piece(", but the provider reports that it found the prompt in its cache."))
    return ()


def _provider(priced: PricedStep) -> Iterator[tuple[Piece, ...]]:
    """What the provider reported, beside what was reckoned here."""
    sent, row = priced.sent, priced.row
    if sent.usage:
        told = f"Reckoned here were {row.cached:,} of {row.input_tokens:,}; the provider counts in tokens of its own."
        yield (Piece(told),)
    if (cache := sent.cache) and cache.outcome != "unknown":
        about = f", about {cache.tokens:,} tokens" if cache.tokens is not None else ""
        word = " ".join(filter(None, (cache.outcome, cache.reason)))
        yield (Piece("The provider reports "), Piece(word, "code"), Piece(f"{about}: it {_VERDICTS[cache.verdict]}."))


_VERDICTS = {
    "agrees": "agrees with the manifests",
    "elsewhere": "missed something that no manifest covers: messages, tools or settings",
    "overlooked": "saw no break where the manifests have one",
    "differs": "saw the break in another part of the request",
    "unknown": "could not say",
}


def _unbroken(priced: PricedStep, before: StudioRequest | None, run: DeliveryRun, model: ModelProfile) -> Answer:
    sent, row = priced.sent, priced.row
    question = f"What step {sent.place} cost"
    more = tuple(_provider(priced))
    if before is None:
        first = "The first request that is held" if run.earlier else "The first request"
        return Answer("plain", question, (Piece(f"{first}: {_first_cost(priced)}"),), more)
    if sent.usage:
        usage = sent.usage
        told = f"The provider read {usage.cached_tokens:,} of {usage.input_tokens:,} tokens from its cache."
        return Answer("plain", question, (Piece(f"Nothing that was sent before changed. {told}"),), more)
    if sent.cache and sent.cache.outcome == "miss":
        told = "Nothing that cuecard wrote changed, and yet the provider missed its cache"
        return Answer("bad", question, (Piece(f"{told}: {sent.cache.reason or 'it gave no reason'}."),), more)
    if why := _forgotten(priced, model):
        again = priced.split.again
        return Answer(
            "bad", question, (Piece(f"Nothing changed, but {again:,} tokens were paid for again: {why}."),), more
        )
    if Prices.of(model).read >= 1:
        told = f"Nothing that was sent before changed, and {model.name} gains nothing from a cache."
        return Answer("plain", question, (Piece(told),), more)
    news = f"{row.input_tokens - row.cached:,} are new" if row.input_tokens > row.cached else "nothing is new"
    told = f"Nothing broke: {row.cached:,} of {row.input_tokens:,} tokens were read from the cache, and {news}."
    return Answer("good", question, (Piece(told),), more)


def _first_cost(priced: PricedStep) -> str:
    row = priced.row
    if row.written:
        return f"all of its {row.input_tokens:,} tokens are new, and {row.written:,} were written to the cache."
    return f"all of its {row.input_tokens:,} tokens are new."


def _forgotten(priced: PricedStep, model: ModelProfile) -> str:
    """Why the cache did not hold what had not changed; empty if it did."""
    before, now, prices = priced.before, priced.sent.billed, Prices.of(model)
    if before is None or not priced.split.again or prices.read >= 1:
        return ""
    if priced.row.below_minimum:
        return f"{model.name} caches nothing shorter than {prices.minimum:,} tokens"
    if before.at is not None and now.at is not None and prices.lifetime and now.at - before.at > prices.lifetime:
        lay = counted(round((now.at - before.at) / 60), "minute")
        return f"{lay} lay between the two requests, and the cache keeps entries for {prices.lifetime / 60:g}"
    return ""
