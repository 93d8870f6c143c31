"""Draws docs/overview.svg, the tokens of a shipped agent's prompt as its conversation finds tools: `make picture`."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from cuecard import Engine, ToolResult, Turn

ROOT = Path(__file__).parents[2]
PICTURE = ROOT / "docs" / "overview.svg"
SEARCHES = ("create a page", "add an image to a section", "publish a post")
# As wide as a phone shows with letters that can be read; a label stands above its bar.
WIDTH, ROW, TOP, LEFT, RIGHT, SHOWN = 440, 50, 92, 16, 64, 520
CSS = """
text { font: 13px system-ui, sans-serif; fill: #5c6470; } .t { font-size: 16px; font-weight: 600; fill: #1d2129; }
.n { font-weight: 600; fill: #1d2129; } .paper { fill: #fbfaf8; }
.core { fill: #0b7a5e; } .sent { fill: #7fc3ae; } .new { fill: #e08a2b; } .all { fill: #b9bec7; }
@media (prefers-color-scheme: dark) {
 text { fill: #9aa3b0; } .t, .n { fill: #e8eaee; } .paper { fill: #14171c; }
 .core { fill: #3ecf9f; } .sent { fill: #1d6f57; } .new { fill: #f0a550; } .all { fill: #4a515e; }
}
"""


@dataclass(frozen=True, slots=True)
class Growth:
    """Tokens of a conversation's prompt, step by step.

    Attributes:
        tools: how many tools the agent has.
        totals: the tokens of prompt and appended instructions, before the first search and after each.
        everything: the tokens of the prompt with the instructions of all tools.
    """

    tools: int
    totals: tuple[int, ...]
    everything: int


def growth() -> Growth:
    """The shipped CMS assistant with default settings, played through `SEARCHES`."""
    engine = Engine.open(ROOT / "prompts" / "cms")
    chat = engine.conversation()
    chat.user(Turn())
    totals = [chat.step().manifest.total_tokens]
    for number, query in enumerate(SEARCHES):
        found = engine.search_tools(query)
        step = chat.step([ToolResult("tool_search", found.to_json(), call_id=f"call-{number}")])
        totals.append(step.manifest.total_tokens)
    frozen = engine.prepare_step(engine.prepare_call(Turn(delivery="frozen")))
    return Growth(len(engine.tools), tuple(totals), frozen.manifest.total_tokens)


def picture(shown: Growth) -> str:
    """One bar per request: the lean core, what was sent before, what is new; and all instructions at once below."""
    height = TOP + ROW * (len(shown.totals) + 1) + 20
    title = f"Tokens of the prompt: {shown.tools} tools, and only the instructions that the agent has found"
    size = f'width="{SHOWN}" viewBox="0 0 {WIDTH} {height}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{title}">'
    paper = f'<rect class="paper" width="{WIDTH}" height="{height}" rx="10"/>'
    lines = (f"Tokens of the prompt: {shown.tools} tools, and", "only the instructions that were found")
    caption = "".join(
        f'<text class="t" x="{LEFT}" y="{y}">{line}</text>' for y, line in zip((28, 50), lines, strict=True)
    )
    return "\n".join([head, f"<style>{CSS}</style>", paper, caption, *_legend(), *_bars(shown), "</svg>"]) + "\n"


def _legend() -> Iterator[str]:
    x = LEFT
    for style, text in (("core", "core prompt"), ("sent", "sent before (cached)"), ("new", "new")):
        yield f'<rect class="{style}" x="{x}" y="66" width="12" height="12" rx="2"/>'
        yield f'<text x="{x + 18}" y="77">{text}</text>'
        x += 36 + 7 * len(text)


def _bars(shown: Growth) -> Iterator[str]:
    core = shown.totals[0]
    yield from _bar(0, "first request", (("core", core),), shown)
    for row, query in enumerate(SEARCHES, 1):
        before, now = shown.totals[row - 1], shown.totals[row]
        parts = (("core", core), ("sent", before - core), ("new", now - before))
        yield from _bar(row, f"finds “{query}”", parts, shown)
    yield from _bar(len(shown.totals), "every instruction from the start", (("all", shown.everything),), shown)


def _bar(row: int, label: str, parts: Sequence[tuple[str, int]], shown: Growth) -> Iterator[str]:
    y, x, unit = TOP + row * ROW + 8, float(LEFT), (WIDTH - LEFT - RIGHT) / shown.everything
    yield f'<text x="{LEFT}" y="{y + 12}">{label}</text>'
    for style, tokens in parts:
        if tokens:
            yield f'<rect class="{style}" x="{x:.1f}" y="{y + 18}" width="{tokens * unit:.1f}" height="20"/>'
            x += tokens * unit
    total = sum(tokens for _, tokens in parts)
    yield f'<text class="n" x="{x + 8:.1f}" y="{y + 33}">{total:,}</text>'


if __name__ == "__main__":
    PICTURE.write_text(picture(growth()), encoding="utf-8")
    sys.stdout.write(f"wrote {PICTURE}\n")
