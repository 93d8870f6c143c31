"""Advice for authors on the findings."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.analysis.field.findings import SearchUse, ToolUse


def tool_advice(use: ToolUse, *, with_calls: bool) -> Iterator[str]:
    """What stands out about a tool; empty if all is well."""
    if with_calls and use.found and not use.calls:
        yield "found but never called: narrow its phrases, or see which tool was called instead"
    if use.unread:
        yield f"{_times(use.unread, 'call')} without its instructions"
    if use.errors and use.foretold is None:
        yield f"{_times(use.errors, 'error')}: with `--agent`, the report says whether its GOTCHA warns about them"
    if use.foretold:
        yield f"its GOTCHA warns about {_times(use.foretold, 'error')} that still happened: move the warning to BEFORE"
    if use.foretold is not None and use.errors > use.foretold:
        yield f"its GOTCHA does not mention the cause of {_times(use.errors - use.foretold, 'error')}"


def search_advice(use: SearchUse) -> str:
    """What to do about a search that did not help."""
    if use.meant:
        return f"add the phrase to {use.meant}"
    return (
        "later searches found no tool either: does one exist?"
        if not use.found
        else "none of the tools found was called"
    )


def _times(number: int, what: str) -> str:
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
