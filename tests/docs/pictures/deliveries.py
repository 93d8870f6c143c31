"""What each request holds under each delivery, and how much of it the request before has sent already."""

from __future__ import annotations

from collections.abc import Mapping

from cuecard.types import DeliveryWish
from docs.pictures.drawing import Sheet
from docs.pictures.session import DELIVERIES, MEANINGS, Request, blocks, bodies

LEFT, RIGHT, ROW = 30, 66, 17


def picture() -> str:
    """A bar for each request: the beginning that it shares with the request before, and the rest."""
    played = {delivery: [bars(before, after) for before, after in bodies(delivery)] for delivery in DELIVERIES}
    longest = max(sum(bar) for rows in played.values() for bar in rows)
    unit = (520 - LEFT - RIGHT - 20) / longest
    sheet = Sheet("What five requests hold", _summary(played))
    sheet.legend(56, [("kept", "same beginning as the previous request: cached"), ("new", "new")])
    y = 74.0
    for delivery, rows in played.items():
        sheet.write(20, y + 18, delivery, "n")
        sheet.write(92, y + 18, MEANINGS[delivery], "s")
        y += 28
        for number, (kept, new) in enumerate(rows, 1):
            sheet.write(20, y + 11, str(number), "s")
            sheet.box(LEFT + 10, y, kept * unit, ROW - 5, "kept", 1)
            sheet.box(LEFT + 10 + kept * unit, y, new * unit, ROW - 5, "new", 1)
            sheet.write(LEFT + 16 + (kept + new) * unit, y + 11, f"{kept + new:,}", "s")
            y += ROW
        y += 14
    sheet.write(20, y + 8, "Tokens of system prompt and messages, without tool definitions", "s")
    sheet.height = y + 26
    return sheet.text()


def bars(before: Request | None, after: Request) -> tuple[int, int]:
    """Tokens of the beginning that both requests share, and of the rest."""
    earlier = [block.key for block in blocks(before)] if before else []
    now = blocks(after)
    same = 0
    while same < min(len(now), len(earlier)) and now[same].key == earlier[same]:
        same += 1
    return sum(block.tokens for block in now[:same]), sum(block.tokens for block in now[same:])


def _summary(played: Mapping[DeliveryWish, list[tuple[int, int]]]) -> str:
    told = [
        f"{delivery}: {', '.join(f'{new:,} of {kept + new:,}' for kept, new in rows)}"
        for delivery, rows in played.items()
    ]
    return "New tokens of all tokens, request by request. " + "; ".join(told) + "."
