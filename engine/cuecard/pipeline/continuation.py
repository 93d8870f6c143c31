"""A conversation that goes on: its system prompt stays, and what has changed arrives once, in a block.

The whole state is in the previous call, which the host keeps; the engine keeps nothing. Now and then a conversation
gets a new baseline: a system prompt made anew, with nothing appended yet. What was cached is lost then, so there is one
only where it cannot be helped, and a cut of the name `baseline` records each, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from cuecard.agent import PROTOCOLS, UPDATE, Agent
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import Appended, Call, CountTokens, Cut
from cuecard.pipeline.budget import Fitted, fit
from cuecard.pipeline.fingerprints import sha256
from cuecard.pipeline.limits import balanced
from cuecard.pipeline.messages import as_before
from cuecard.pipeline.request import CallRequest, StepRequest
from cuecard.pipeline.segments import render_sections, said
from cuecard.pipeline.tools import discover_more


def earlier_tools(request: CallRequest) -> tuple[str, ...]:
    """The discovered tools whose protocols belong to the system prompt of the next call, in order of first discovery.

    After a compaction those are all that the model was told about: the blocks that told it are gone.
    """
    previous = request.previous
    if previous is None or request.kept is None:
        return previous.tools.earlier if previous else ()
    found = _last_step(request, previous).shown
    tools = previous.tools
    return tuple(dict.fromkeys((*tools.earlier, *tools.sent, *(discovery.tool for discovery in found))))


def continue_conversation(request: CallRequest, call: Call) -> Call:
    """The call as the next one of the conversation of `request.previous`.

    Without a new baseline, its segments are those of the conversation's first call. What the model has not seen yet is
    sent as a block with the new user message: sections whose text changed (working memory, a date that rolled over,
    inputs), and tools that no longer exist. Where the system prompt is made anew for every call, nothing has to be
    said twice: under `rewrite`, and for a host that cannot append messages.

    Args:
        request: what the call is prepared from.
        call: the call as it would be without a conversation.
    """
    previous = request.previous
    if previous is None:
        return call
    call = replace(call, turn=previous.turn + 1 if request.kept is None else request.kept)
    reason = _broken(call, previous, compacted=request.kept is not None)
    if reason:
        return replace(call, record=replace(call.record, cuts=(*call.record.cuts, Cut("baseline", reason))))
    if call.delivery.rebuilds or call.delivery.host == "system-only":
        return call
    return _appended(request, call, previous)


def _broken(call: Call, previous: Call, *, compacted: bool) -> str:
    """Why the system prompt is not the one sent before; empty where it is."""
    if compacted:
        return "compacted: the history was shortened, so the system prompt is made anew and tells what was discovered"
    if previous.configuration.sha256 != call.configuration.sha256:
        return "the configuration changed: the system prompt is not the one sent before"
    if previous.delivery.name != call.delivery.name:
        changed = f"the delivery changed from {previous.delivery.name} to {call.delivery.name}"
        return f"{changed}: the system prompt is not the one sent before"
    return ""


def _appended(request: CallRequest, call: Call, previous: Call) -> Call:
    agent, last = request.agent, _last_step(request, previous)
    sent = tuple(dict.fromkeys((*previous.tools.sent, *(discovery.tool for discovery in last.shown))))
    told = dict.fromkeys((*previous.tools.base, *sent))
    untold = tuple(name for name in call.tools.initial if name not in told)
    before, now = previous.prompt.shown, call.prompt.shown
    gone = [name for name, body in before.items() if body and not now.get(name)]
    words = agent.spec.words
    notices = _notices(told, previous.tools.available, call.tools.available, words)
    news = "".join([_news(agent, call, previous, untold), *_gone(gone, agent), *notices])
    prompt = replace(
        call.prompt,
        segments=previous.prompt.segments,
        sent=(*last.placed.appended, *_update(news, call.turn, request.count, words)),
        messages=as_before(call, previous, {section.id for section in agent.sections}),
    )
    return replace(call, prompt=prompt, tools=replace(call.tools, base=previous.tools.base, sent=(*sent, *untold)))


def _news(agent: Agent, call: Call, previous: Call, untold: Sequence[str]) -> str:
    """The sections that changed; one of protocols alone, with those only that the model was not told yet."""
    before = previous.prompt.shown
    changed = {name: body for name, body in call.prompt.shown.items() if body != before.get(name, "")}
    edition = agent.edition(call.configuration.profile, call.configuration.variant)
    sections = [section for section in edition if section.id in changed]
    slots = [section for section in sections if section.reads == {PROTOCOLS}]
    if slots:
        new = [name for name in untold if name in agent.protocols]
        bodies = render_sections(agent, slots, call.values, new) if new else [""] * len(slots)
        changed |= {section.id: body for section, body in zip(slots, bodies, strict=True)}
    told = [section for section in sections if changed[section.id] or section not in slots]
    changed |= {section.id: balanced(changed[section.id], agent.names) for section in told if section.frame}
    return said(told, [changed[section.id] for section in told])


def _last_step(request: CallRequest, previous: Call) -> Fitted:
    """What the last step of the previous call has sent; its tools were found while those of that call existed."""
    step = StepRequest(request.agent, previous, request.found, request.count)
    found, _ = discover_more(step)
    return fit(step, found)


def _gone(names: Sequence[str], agent: Agent) -> Iterator[str]:
    """Which sections no longer hold, by the titles that the model has seen, or by their ids."""
    if names:
        titles = {section.id: section.spec.title for section in agent.sections}
        told = agent.spec.words.listed(titles.get(name) or name for name in names)
        yield fill(agent.spec.words.notices.withdrawn_sections, {"sections": told})


def _notices(told: Iterable[str], before: Collection[str], now: Collection[str], words: WordsSpec) -> Iterator[str]:
    """Which of the tools that the model was told about have gone, or come back, since the call before."""
    gone = [name for name in told if name in before and name not in now]
    back = [name for name in told if name not in before and name in now]
    if gone:
        yield fill(words.notices.withdrawn_tools, {"tools": words.listed(gone)})
    if back:
        yield fill(words.notices.restored_tools, {"tools": words.listed(back)})


def _update(body: str, turn: int, count: CountTokens, words: WordsSpec) -> tuple[Appended, ...]:
    """One block, numbered, because the same text may have to be said again later."""
    if not body:
        return ()
    text = fill(words.notices.update, {"turn": str(turn + 1), "text": body})
    digest = sha256(text)
    return (Appended(None, text, f"{UPDATE}-{digest[:12]}", count(text), digest, turn),)
