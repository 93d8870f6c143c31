"""A conversation that goes on: its system prompt stays, and what has changed arrives once, in a block.

The whole state is in the previous call, which the host keeps; the engine keeps nothing. Now and then a conversation
gets a new baseline: a system prompt made anew, with nothing appended yet. What was cached is lost then, so there is one
only where it cannot be helped, and a cut of the name `baseline` records each, with the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from cuecard.agent import PROTOCOLS, UPDATE, Agent
from cuecard.config.values.placeholders import fill
from cuecard.config.words_spec import WordsSpec
from cuecard.model import Appended, Call, CountTokens, Cut, History
from cuecard.pipeline.budget import fit
from cuecard.pipeline.call import as_before
from cuecard.pipeline.placement import Delivered, deliver
from cuecard.pipeline.segments import render_sections, said, sha256
from cuecard.pipeline.tools import discover_more


def earlier_tools(
    agent: Agent, previous: Call | None, history: History, count: CountTokens, *, compacted: bool
) -> tuple[str, ...]:
    """The discovered tools whose protocols belong to the system prompt of the next call, in order of first discovery.

    After a compaction those are all that the model was told about: the blocks that told it are gone.
    """
    if previous is None or not compacted:
        return previous.earlier if previous else ()
    _, found = _said(agent, previous, history, count)
    return tuple(dict.fromkeys((*previous.earlier, *previous.sent_tools, *found)))


def continue_conversation(
    agent: Agent, call: Call, previous: Call, history: History, count: CountTokens, *, kept: int | None = None
) -> Call:
    """The call as the next one of the conversation of `previous`.

    Without a new baseline, its segments are those of the conversation's first call. What the model has not seen yet is
    sent as a block with the new user message: sections whose text changed (working memory, a date that rolled over,
    inputs), and tools that no longer exist. Where the system prompt is made anew for every call, nothing has to be
    said twice: under `rewrite`, and for a host that cannot append messages.

    Args:
        agent: the compiled agent.
        call: the call as it would be without a conversation.
        previous: the conversation's call before it.
        history: all tool results until now.
        count: how tokens are counted.
        kept: after a compaction, how many messages of the user are left before the new one; None without one.
    """
    call = replace(call, turn=previous.turn + 1 if kept is None else kept)
    reason = _broken(call, previous, compacted=kept is not None)
    if reason:
        return replace(call, cuts=(*call.cuts, Cut("baseline", reason)))
    if call.delivery == "rewrite" or call.host == "system-only":
        return call
    return _appended(agent, call, previous, history, count)


def _broken(call: Call, previous: Call, *, compacted: bool) -> str:
    """Why the system prompt is not the one sent before; empty where it is."""
    if compacted:
        return "compacted: the history was shortened, so the system prompt is made anew and tells what was discovered"
    if previous.spec_sha256 != call.spec_sha256:
        return "the configuration changed: the system prompt is not the one sent before"
    if previous.delivery != call.delivery:
        changed = f"the delivery changed from {previous.delivery} to {call.delivery}"
        return f"{changed}: the system prompt is not the one sent before"
    return ""


def _appended(agent: Agent, call: Call, previous: Call, history: History, count: CountTokens) -> Call:
    delivered, found = _said(agent, previous, history, count)
    sent_tools = tuple(dict.fromkeys((*previous.sent_tools, *found)))
    told = dict.fromkeys((*previous.base, *sent_tools))
    untold = tuple(name for name in call.initial if name not in told)
    news = _news(agent, call, previous, untold)
    gone = [name for name, body in previous.shown.items() if body and not call.shown.get(name)]
    words = agent.spec.words
    notices = [news, *_gone(gone, agent), *_notices(told, previous.tools, call.tools, words)]
    return replace(
        call,
        segments=previous.segments,
        messages=as_before(agent, call, previous),
        base=previous.base,
        sent=(*delivered.appended, *_update("".join(notices), call.turn, count, words)),
        sent_tools=(*sent_tools, *untold),
        shown=call.shown,
    )


def _news(agent: Agent, call: Call, previous: Call, untold: Sequence[str]) -> str:
    """The sections that changed; one of protocols alone, with those only that the model was not told yet."""
    changed = {name: body for name, body in call.shown.items() if body != previous.shown.get(name, "")}
    sections = [section for section in agent.edition(call.profile, call.variant) if section.id in changed]
    slots = [section for section in sections if section.reads == {PROTOCOLS}]
    if slots:
        new = [name for name in untold if name in agent.protocols]
        bodies = render_sections(agent, slots, call.values, new) if new else [""] * len(slots)
        changed |= {section.id: body for section, body in zip(slots, bodies, strict=True)}
    told = [section for section in sections if changed[section.id] or section not in slots]
    return said(told, [changed[section.id] for section in told])


def _said(agent: Agent, previous: Call, history: History, count: CountTokens) -> tuple[Delivered, tuple[str, ...]]:
    """What the last step of the previous call has sent, and the discovered tools in it.

    They were found while the tools of that call existed.
    """
    found, _ = discover_more(agent, previous.tools, previous.initial, history, previous.discovered)
    give = partial(deliver, agent, previous, count=count)
    budget, protocols = agent.spec.budget, agent.protocols
    sent, earlier = previous.sent_tools, previous.earlier
    delivered, shown, _ = fit(found, give, budget, protocols, count, sent=sent, earlier=earlier)
    return delivered, tuple(discovery.tool for discovery in shown)


def _gone(names: Sequence[str], agent: Agent) -> Iterator[str]:
    """Which sections of a list no longer hold, by the titles that the model has seen; a template's are always there."""
    if names and agent.spec.sections:
        titles = {section.id: section.spec.title for section in agent.sections if section.spec}
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
