"""How `cuecard diff` shows a comparison: a table by section, lines of those that changed, and the cache."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from difflib import unified_diff

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.errors import visible
from cuecard.model import CacheRecord, Json
from cuecard.pipeline.changes import Cause, Change, Comparison
from cuecard.workbench.diff.sides import Side
from cuecard.workbench.output import counted, json_text
from cuecard.workbench.price import Price

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_MOST_PAIRS = 4_000_000
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


def print_text(before: Side, after: Side, comparison: Comparison, price: Price | None) -> None:
    """For people."""
    console = Console(highlight=False)
    different = [change for change in comparison.changes if change.kind != "same"]
    if not different:
        console.print(f"the same: {counted(len(comparison.changes), 'section')}, {comparison.tokens_after:,} tokens")
        for line in _provider(before, after):
            console.print(Text(visible(line)), soft_wrap=True)
        return
    console.print(_table(before, after, comparison, different))
    same = len(comparison.changes) - len(different)
    console.print(f"the same: {same} of {len(comparison.changes)} sections")
    for change in different:
        differing = tuple(lines(before, after, change))
        if differing:
            console.print(Text(f"\n{change.id}", "bold"), soft_wrap=True)
        for line in differing:
            console.print(Text(line, _STYLES.get(line[:1], "")), soft_wrap=True)
    console.print()
    for line in (*_cache(comparison, price), *_provider(before, after)):
        console.print(Text(visible(line)), soft_wrap=True)


def print_json(before: Side, after: Side, comparison: Comparison, price: Price | None) -> None:
    """For machines. Lines are included for sections whose texts are available."""
    broken = comparison.first_break
    record = {
        "before": {"name": before.name, "tokens": comparison.tokens_before, "sha256": before.manifest.sha256},
        "after": {"name": after.name, "tokens": comparison.tokens_after, "sha256": after.manifest.sha256},
        "differs": comparison.differs,
        "sections": [
            {**asdict(change), "causes": _told(change.causes), "lines": [*lines(before, after, change)]}
            for change in comparison.changes
        ],
        "first_break": {**asdict(broken), "causes": _told(broken.causes)} if broken else None,
        "price": asdict(price) if price else None,
        "provider": asdict(told) if (told := _told_by_provider(before, after)) else None,
    }
    print(json_text(record))


def _told(causes: tuple[Cause, ...]) -> list[Json]:
    return [asdict(cause) for cause in causes]


def _table(before: Side, after: Side, comparison: Comparison, different: list[Change]) -> Table:
    table = Table(title=Text(visible(f"{before.name} -> {after.name}")), title_justify="left", show_footer=True)
    table.add_column("")
    table.add_column("section", footer="total", overflow="fold")
    table.add_column("tier")
    table.add_column("place")
    table.add_column("before", justify="right", footer=f"{comparison.tokens_before:,}")
    table.add_column("after", justify="right", footer=f"{comparison.tokens_after:,}")
    table.add_column("tokens", justify="right", footer=_delta(comparison.tokens_before, comparison.tokens_after))
    table.add_column("cause", overflow="fold")
    for c in different:
        counts = f"{c.tokens_before:,}", f"{c.tokens_after:,}", _delta(c.tokens_before, c.tokens_after)
        causes = Text(visible("; ".join(str(cause) for cause in c.causes)))
        table.add_row(_SIGNS[c.kind], Text(c.id), c.tier, c.placement, *counts, causes)
    return table


def _delta(before: int, after: int) -> str:
    return f"{after - before:+,}" if after != before else "0"


def lines(before: Side, after: Side, change: Change) -> Iterator[str]:
    """The differing lines with context; none if a text is unavailable, or the texts are the same."""
    if before.texts is None or after.texts is None:
        return
    old = before.texts[change.at_before] if change.at_before is not None else ""
    new = after.texts[change.at_after] if change.at_after is not None else ""
    yield from (visible(line.replace("\t", "    ")) for line in line_differences(old.splitlines(), new.splitlines()))


def line_differences(old: list[str], new: list[str]) -> list[str]:
    """A unified diff without its first two lines. For very long texts, everything between the first and the last
    differing line is shown as replaced: `difflib` compares every pair of lines, which would take hours.
    """
    if len(old) * len(new) <= _MOST_PAIRS:
        return list(unified_diff(old, new, lineterm=""))[2:]
    pairs = list(zip(old, new, strict=False))
    head = next((at for at, (one, other) in enumerate(pairs) if one != other), len(pairs))
    ends = zip(reversed(old[head:]), reversed(new[head:]), strict=False)
    tail = next((at for at, (one, other) in enumerate(ends) if one != other), min(len(old), len(new)) - head)
    gone, come = old[head : len(old) - tail], new[head : len(new) - tail]
    if not gone and not come:
        return []
    place = f"@@ -{head + 1},{len(gone)} +{head + 1},{len(come)} @@"
    return [place, *(f"-{line}" for line in gone), *(f"+{line}" for line in come)]


def _told_by_provider(before: Side, after: Side) -> CacheRecord | None:
    """The provider's answer in the later manifest, if it compares it with the earlier one."""
    told = after.manifest.cache
    return told if told and told.before == before.manifest.sha256 else None


def _provider(before: Side, after: Side) -> Iterator[str]:
    told = _told_by_provider(before, after)
    if told is None:
        return
    tokens = f", about {told.tokens:,} tokens" if told.tokens is not None else ""
    yield f"  provider    {' '.join(filter(None, (told.outcome, told.reason)))}{tokens}: {_VERDICTS[told.verdict]}"


_VERDICTS = {
    "agrees": "agrees with this",
    "elsewhere": "the prompt did not change, so check messages, tools and settings",
    "overlooked": "saw no break",
    "differs": "saw a break in another part of the request",
    "unknown": "could not say",
}


def _cache(comparison: Comparison, price: Price | None) -> Iterator[str]:
    broken = comparison.first_break
    if broken is None:
        new = sum(c.tokens_after for c in comparison.changes if c.kind == "added")
        yield f"cache: the later prompt begins with the earlier one; only what it appends is new, {new:,} tokens"
    else:
        yield f"cache: the shared start ends at `{broken.id}` ({broken.placement})"
        yield f"  cause       {'; '.join(str(cause) for cause in broken.causes)}"
        yield f"  read again  {broken.tokens:,} of {comparison.tokens_after:,} tokens"
    if price:
        yield f"  cost        {price.cost:,.1f} uncached input tokens on {price.model}; {price.warm:,.1f} once cached"
        if comparison.tokens_after < price.minimum:
            few = f"fewer than {price.minimum:,} tokens are not cached, unless tools or messages add to them"
            yield f"              ({few})"
