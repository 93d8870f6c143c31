"""What a provider reads from its cache when the second request comes, with the breakpoints of the real bodies."""

from __future__ import annotations

from cuecard.workbench.bill import BillRow, Prices, bill
from cuecard.workbench.bill import Request as Billed
from docs.pictures.drawing import Sheet
from docs.pictures.session import MODEL, billed, requests
from shipped import read_models

PRICES = Prices.of(read_models().find(MODEL))
LEFT, WIDTH, HEIGHT, GAP = 20, 64.5, 36, 4
NAMES = {"static": "static", "system": "changing", "added": "instr."}


def picture() -> str:
    """The first request and two second ones, block by block."""
    append, rewrite = list(requests("append"))[:2], list(requests("rewrite"))[:2]
    first, second, rebuilt = billed(append[0]), billed(append[1]), billed(rewrite[1])
    after, anew = bill([first, second], PRICES).rows[1], bill([first, rebuilt], PRICES).rows[1]
    began = bill([first], PRICES).rows[0]
    sheet = Sheet("What the cache reads of the second request", _summary(began, after, anew))
    y = _row(sheet, 64, "Request 1: everything is new", first, None)
    y = _row(sheet, y + 10, "Request 2 under append: what is new comes last", second, first)
    _cost(sheet, y, after)
    y = _row(sheet, y + 34, "Request 2 under rewrite: the prompt has changed", rebuilt, first)
    _cost(sheet, y, anew)
    sheet.write(LEFT, y + 32, "▼ breakpoint: the provider keeps everything in front of it", "s")
    sheet.legend(y + 56, [("kept", "read from the cache: 0.1 each"), ("new", "written to the cache: 1.25 each")])
    sheet.height = y + 74
    return sheet.text()


def _row(sheet: Sheet, y: float, heading: str, request: Billed, before: Billed | None) -> float:
    """The blocks of a request; those that a request before has put into the cache are light."""
    parts = grouped(request)
    read = 0 if before is None else bill([before, request], PRICES).rows[1].cached
    sheet.write(LEFT, y, heading, "n")
    top, x, before_it = y + 24, float(LEFT), 0
    width = WIDTH
    for label, tokens, marked in parts:
        is_read = before_it + tokens <= read
        sheet.box(x, top, width, HEIGHT, "kept" if is_read else "new")
        sheet.write(x + width / 2, top + HEIGHT + 15, NAMES.get(label, label), "s c")
        sheet.write(x + width / 2, top + HEIGHT + 30, f"{tokens:,}", "s c")
        if marked:
            sheet.write(x + width, top - 3, "▼", "s c")
        before_it += tokens
        x += width + GAP
    return top + HEIGHT + 54


def grouped(request: Billed) -> list[tuple[str, int, bool]]:
    """Blocks with one label as one: label, tokens, and whether a breakpoint stands behind it."""
    found: list[tuple[str, int, bool]] = []
    for number, block in enumerate(request.blocks, 1):
        label, tokens, marked = block.label, block.tokens, number in request.breakpoints
        if found and found[-1][0] == label:
            tokens += found.pop()[1]
        found.append((label, tokens, marked))
    return found


def _cost(sheet: Sheet, y: float, row: BillRow) -> None:
    sheet.write(LEFT, y, _told(row), "n")


def _told(row: BillRow) -> str:
    return f"{row.cached:,} of {row.input_tokens:,} tokens read; costs {row.cost:,.0f} plain tokens"


def _summary(*rows: BillRow) -> str:
    first, after, anew = map(_told, rows)
    return f"Request 1: {first}. Request 2 under append: {after}; under rewrite: {anew}."
