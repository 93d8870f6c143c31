"""What texts of one turn cost: where they stay until the turn ends, and if they moved to the end of each request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cuecard.analysis.cost import Prices, bill
from cuecard.analysis.replay.play import Sent


@dataclass(frozen=True, slots=True)
class TextPrice:
    """The price of the texts of one turn in a conversation, in plain input tokens, beyond what it costs without them.

    With T tokens in a turn of k requests, which send m tokens each behind the text, at a price of w for writing and r
    for reading: staying costs wT + rT(k-1), and once the turn has ended (w-r)km, because what was said behind the text
    is written again; moving costs Tk. Where nothing is cached, both cost Tk.

    Attributes:
        tokens: the tokens of all of them, each counted once a turn.
        requests: in how many requests they are.
        staying: with `lifetime: turn`, as they are sent.
        moving: with `lifetime: step`: at the end of each request, where nothing is cached.
    """

    tokens: int
    requests: int
    staying: float
    moving: float


def text_price(sent: Sequence[Sent], prices: Prices) -> TextPrice | None:
    """The price of the texts of one turn in these requests; None if there are none."""
    own = [one for one in sent if one.own]
    if not own:
        return None
    without, moving = ([getattr(one, name) or one.request for one in sent] for name in ("without", "moving"))
    least = bill(without, prices).cost
    first = {one.turn: sum(one.own) for one in reversed(own)}
    return TextPrice(
        tokens=sum(first.values()),
        requests=len(own),
        staying=round(bill((one.request for one in sent), prices).cost - least, 2),
        moving=round(bill(moving, prices).cost - least, 2),
    )
