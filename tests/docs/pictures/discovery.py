"""How a tool is found: from the query to the instructions behind the search result."""

from __future__ import annotations

from cuecard import ToolResult, Turn
from docs.pictures.drawing import Sheet
from docs.pictures.session import engine

LEFT, WIDTH, CHARACTERS = 20, 480, 53
QUERY = "create a page"


def picture() -> str:
    """Five steps from top to bottom, each with what the engine really says there."""
    cms = engine()
    explained = cms.explain_search(QUERY)
    chat = cms.conversation()
    chat.user(Turn())
    before = chat.step()
    found = cms.search_tools(QUERY)
    after = chat.step([ToolResult("tool_search", found.to_json(), call_id="call-1")])
    block, budget = after.appended[0], cms.agent.spec.budget.protocols or 0
    hits = [(hit.tool, hit.score) for hit in explained.ranked]
    kept, sheet = found.tools, Sheet("How a tool is found", "")

    y = _card(sheet, 50, 1, "The model searches for what it wants to do", [f'tool_search("{QUERY}")'])
    shown = [f"{score:.2f}  {name}{'' if name in kept else '   left out: too far behind'}" for name, score in hits[:4]]
    y = _card(sheet, y, 2, "The best hits are found", shown, faint=len([hit for hit in hits[:4] if hit[0] in kept]))
    active = [f"{len(before.active_tools)} tools → {len(after.active_tools)} tools: may now be called"]
    y = _card(sheet, y, 3, "They become active, if their instructions fit", [*active, ""])
    _meter(sheet, y - 30, block.tokens, budget)
    lines = ["[the result of the search]", *block.text.splitlines()[:4], "..."]
    y = _card(sheet, y, 4, "Their instructions follow the search result", [_fitting(line) for line in lines])
    same = "the same as before" if before.system == after.system else "changed"
    y = _card(
        sheet,
        y,
        5,
        f"The system prompt is {same}",
        [f"{sum(s.tokens for s in after.segments):,} tokens, in the cache"],
        last=True,
    )
    sheet.summary = (
        f"The query “{QUERY}” finds {', '.join(kept)}. The tools become active, {block.tokens} of {budget:,} tokens "
        f"for instructions are used, and the instructions follow the search result. The system prompt is {same}."
    )
    sheet.height = y + 4
    return sheet.text()


def _card(
    sheet: Sheet, y: float, number: int, heading: str, lines: list[str], *, faint: int = 99, last: bool = False
) -> float:
    """A box with a heading and lines; those from `faint` on are less important. The place of the next one."""
    height = 36 + 19 * len(lines)
    sheet.box(LEFT, y, WIDTH, height, "card", 8)
    sheet.box(LEFT + 12, y + 9, 22, 22, "core", 11)
    sheet.write(LEFT + 23, y + 25, str(number), "on c")
    sheet.write(LEFT + 44, y + 25, heading, "n")
    for place, line in enumerate(lines):
        sheet.write(LEFT + 44, y + 46 + 19 * place, line, "s" if place >= faint else "m")
    if not last:
        sheet.arrow(LEFT + 23, y + height, y + height + 16)
    return y + height + 18


def _fitting(line: str) -> str:
    return line if len(line) <= CHARACTERS else f"{line[: CHARACTERS - 1]}…"


def _meter(sheet: Sheet, y: float, used: int, budget: int) -> None:
    """How much of the budget is used."""
    sheet.box(LEFT + 44, y - 8, 180, 10, "old", 3)
    sheet.box(LEFT + 44, y - 8, max(180 * used / budget, 2), 10, "new", 3)
    sheet.write(LEFT + 234, y + 1, f"{used} of {budget:,} tokens used", "s")
