"""Which sections of the prompt change from request to request."""

from __future__ import annotations

from itertools import pairwise

from docs.pictures.drawing import Sheet
from docs.pictures.session import Request, requests

TIERS = {
    "static": "static: the same for everybody, all day",
    "call": "call: may change with each message of the user",
    "step": "step: may change with each request to the model",
}
LEFT, CELL, ROW = 200, 60, 26


def picture() -> str:
    """A row for each section, a column for each request: coloured by whether its text is new."""
    sent = list(requests("rewrite"))
    changes = changed(sent)
    sheet = Sheet("How often each section changes", _summary(changes))
    columns = [LEFT + CELL * number for number in range(len(sent))]
    first = sum(request.user == 0 for request in sent)
    sheet.write(columns[0], 62, "user’s 1st message", "s")
    sheet.write(columns[first], 62, "2nd message", "s")
    for user, x in ((0, columns[0]), (1, columns[first])):
        width = CELL * sum(request.user == user for request in sent) - 8
        sheet.line(x, 70, x + width, 70)
    for number, x in enumerate(columns, 1):
        sheet.write(x + CELL / 2 - 4, 88, f"request {number}" if number == 1 else str(number), "s c")
    y = 104.0
    for tier, meaning in TIERS.items():
        sheet.write(20, y + 18, meaning, "n")
        y += 30
        for name in (name for name, (of, _) in changes.items() if of == tier):
            sheet.write(26, y + 16, name, "s")
            for x, changed_here in zip(columns, changes[name][1], strict=True):
                sheet.box(x, y, CELL - 8, ROW - 8, "new" if changed_here else "kept")
            y += ROW
        y += 8
    sheet.legend(y + 16, [("new", "new text"), ("kept", "same text as in the previous request")])
    sheet.height = y + 34
    return sheet.text()


def changed(sent: list[Request]) -> dict[str, tuple[str, tuple[bool, ...]]]:
    """The tier of each section, and in which requests its text is new; the root's tags left out."""
    shown = [{segment.id: segment for segment in request.step.segments} for request in sent]
    found: dict[str, tuple[str, tuple[bool, ...]]] = {}
    for name, segment in shown[0].items():
        if name.strip("/") != "agent":
            texts = [each[name].sha256 for each in shown]
            found[name] = segment.tier, (True, *(a != b for a, b in pairwise(texts)))
    return found


def _summary(changes: dict[str, tuple[str, tuple[bool, ...]]]) -> str:
    told = []
    for name, (tier, new) in changes.items():
        places = [str(number) for number, is_new in enumerate(new, 1) if is_new]
        told.append(f"{name} ({tier}): new in request {', '.join(places)}")
    return "Sections of the shipped CMS assistant over five requests. " + "; ".join(told) + "."
