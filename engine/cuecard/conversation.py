"""A conversation that goes on: under `append`, its system prompt stays, and what has changed arrives once, in a block.

The whole state is in the previous call, which the host keeps; the engine keeps nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from functools import partial

from cuecard.agent import UPDATE, Agent
from cuecard.budget import fit
from cuecard.delivery import deliver
from cuecard.model import Appended, Call, CountTokens, Cut, History
from cuecard.plan import discover_more
from cuecard.render import sha256


def continue_conversation(agent: Agent, call: Call, previous: Call, history: History, count: CountTokens) -> Call:
    """The call as the next one of the conversation of `previous`, given all tool results until now.

    Its segments are those of the conversation's first call. What the model has not seen yet is sent as a block with
    the new user message: sections whose text changed (working memory, a date that rolled over, inputs), and tools that
    no longer exist. When the configuration or the delivery changed, the conversation gets a new baseline, and a cut
    says so.
    """
    if (previous.spec_sha256, previous.delivery) != (call.spec_sha256, call.delivery):
        cut = Cut("baseline", "the configuration changed: the system prompt is not the one sent before")
        return replace(call, turn=previous.turn + 1, cuts=(*call.cuts, cut))
    # What the steps of the previous call have appended: found while the tools of that call existed.
    found, _ = discover_more(agent, previous.tools, previous.initial, history, previous.discovered)
    give = partial(deliver, agent, previous, count=count)
    delivered, shown, _ = fit(found, give, agent.spec.budget, agent.protocols, count, sent=previous.sent_tools)
    told = (*previous.initial, *previous.sent_tools, *(discovery.tool for discovery in shown))
    changed = [segment for segment in call.segments if segment.text != previous.shown.get(segment.id)]
    notices = [*(segment.text for segment in changed), *_notices(dict.fromkeys(told), previous.tools, call.tools)]
    update = _update("".join(notices), previous.turn + 1, count)
    return replace(
        call,
        segments=previous.segments,
        turn=previous.turn + 1,
        initial=tuple(name for name in call.initial if name in agent.spec.tools.core or name in told),
        sent=(*delivered.appended, *update),
        sent_tools=tuple(dict.fromkeys((*previous.sent_tools, *(discovery.tool for discovery in shown)))),
        shown={**previous.shown, **{segment.id: segment.text for segment in changed}},
    )


def _notices(told: Iterable[str], before: Collection[str], now: Collection[str]) -> Iterator[str]:
    """Which of the tools that the model was told about have gone, or come back, since the call before."""
    gone = [name for name in told if name in before and name not in now]
    back = [name for name in told if name not in before and name in now]
    if gone:
        yield f"<withdrawn-tools>\n{', '.join(gone)}\n</withdrawn-tools>\n"
    if back:
        yield f"<restored-tools>\n{', '.join(back)}\n</restored-tools>\n"


def _update(body: str, turn: int, count: CountTokens) -> tuple[Appended, ...]:
    """One block, numbered, because the same text may have to be said again later."""
    if not body:
        return ()
    text = f'<{UPDATE} turn="{turn + 1}">\n{body}</{UPDATE}>\n'
    digest = sha256(text)
    return (Appended(None, text, f"{UPDATE}-{digest[:12]}", count(text), digest, turn),)
