"""How `cuecard diff` shows a comparison: a table by section, lines of those that changed, and the cache."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from difflib import unified_diff
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.errors import visible
from cuecard.model import CacheRecord, Json
from cuecard.pipeline.changes import Cause, Change, Comparison
from cuecard.pipeline.comparison import compare_manifests
from cuecard.workbench.diff.edition import FieldChange
from cuecard.workbench.diff.review import Review, TurnReview
from cuecard.workbench.diff.sides import Side
from cuecard.workbench.output import counted, json_text
from cuecard.workbench.price import Price

_STYLES = {"+": "green", "-": "red", "@": "cyan"}
_MOST_PAIRS = 4_000_000
_SIGNS = {"added": "+", "removed": "-", "changed": "~", "moved": ">"}


def print_text(before: Side, after: Side, reviewed: Review, price: Price | None) -> None:
    """For people."""
    console = Console(highlight=False)
    (turn,) = reviewed.turns
    comparison = compare_manifests(before.manifest, after.manifest)
    different = [change for change in comparison.changes if change.kind != "same"]
    if not different:
        console.print(f"the same: {counted(len(comparison.changes), 'section')}, {comparison.tokens_after:,} tokens")
        end = _provider(before, after)
    else:
        console.print(_table(before, after, comparison, different))
        same = len(comparison.changes) - len(different)
        console.print(f"the same: {same} of {len(comparison.changes)} sections")
        for change in different:
            _print_lines(console, change.id, lines(before, after, change))
        end = iter((*_cache(comparison, price), *_provider(before, after)))
    _print_fields(console, reviewed)
    for result in turn.results:
        _print_lines(console, f"result of {result.tool}", text_lines(result.before, result.after))
    console.print() if different else None
    for line in end:
        console.print(Text(visible(line)), soft_wrap=True)


def print_turns(reviewed: Review) -> None:
    """Several turns, for people: their tokens, then each change of a section and of a field once."""
    console, told = Console(highlight=False), set[object]()
    differing = [turn for turn in reviewed.turns if turn.differs]
    console.print(f"the same: {len(reviewed.turns) - len(differing)} of {counted(len(reviewed.turns), 'turn')}")
    for turn in differing:
        found = turn.comparison
        why = turn.failure or turn.missing
        tokens = f"{found.tokens_before:,} -> {found.tokens_after:,} tokens" if found else ""
        console.print(
            Text(visible(f"{turn.name}: {tokens or (why.problems[0].message if why else 'new')}")), soft_wrap=True
        )
    for turn in differing:
        for change, shown in changes_of(turn):
            key = change.id, shown
            _print_lines(console, change.id, shown) if key not in told else None
            told.add(key)
    _print_fields(console, reviewed)


def _print_fields(console: Console, reviewed: Review) -> None:
    """Every field of the agent that differs, whether or not a turn reaches it, and queries with other answers."""
    for change in reviewed.changes:
        tokens = f"{change.tokens_before:,} -> {counted(change.tokens_after, 'token')}"
        head = f"{change.label} ({change.change}, {tokens}, {reach(change, reviewed.turns)})"
        _print_lines(console, head, text_lines(change.before, change.after) or ("only white space differs",))
    for search in dict.fromkeys(search for turn in reviewed.turns for search in turn.searches):
        found = (", ".join(names) or "nothing" for names in (search.before, search.after))
        console.print(Text(visible(f'\nsearch "{search.query}": {" -> ".join(found)}'), "bold"), soft_wrap=True)


def _print_lines(console: Console, head: str, shown: Iterable[str]) -> None:
    shown = tuple(shown)
    if shown:
        console.print(Text(f"\n{visible(head)}", "bold"), soft_wrap=True)
    for line in shown:
        console.print(Text(line, _STYLES.get(line[:1], "")), soft_wrap=True)


def reach(change: FieldChange, turns: Sequence[TurnReview]) -> str:
    """By how many of the turns a field is reached; an agent without turn files has an empty one."""
    if change.reached:
        return f"reached by {len(change.reached)} of {counted(len(turns), 'turn')}"
    return "reached by no turn" if any(turn.name for turn in turns) else "no turn file given: --turn"


def print_json(before: Side, after: Side, reviewed: Review, price: Price | None) -> None:
    """For machines. Lines are included for sections whose texts are available."""
    comparison = compare_manifests(before.manifest, after.manifest)
    record = {
        **_prompts(before, after, comparison),
        "differs": any(turn.differs for turn in reviewed.turns),
        **_fields(reviewed),
        "price": asdict(price) if price else None,
        "provider": asdict(told) if (told := _told_by_provider(before, after)) else None,
    }
    print(json_text(record))


def print_turns_as_json(reviewed: Review) -> None:
    """Several turns, for machines."""
    print(json_text({"turns": [_turn(turn) for turn in reviewed.turns], **_fields(reviewed)}))


def _turn(turn: TurnReview) -> dict[str, Any]:
    found, why = turn.comparison, turn.failure or turn.missing
    prompts = _prompts(turn.before, turn.after, found) if found and turn.before and turn.after else {"differs": True}
    problems = [problem.to_json() for problem in why.problems] if why else []
    return {
        "name": turn.name,
        **prompts,
        "differs": turn.differs,
        "rendered": turn.after is not None,
        "problems": problems,
    }


def _prompts(before: Side, after: Side, comparison: Comparison) -> dict[str, Any]:
    broken = comparison.first_break
    return {
        "before": {"name": before.name, "tokens": comparison.tokens_before, "sha256": before.manifest.sha256},
        "after": {"name": after.name, "tokens": comparison.tokens_after, "sha256": after.manifest.sha256},
        "differs": comparison.differs,
        "sections": [
            {**asdict(change), "causes": _told(change.causes), "lines": [*lines(before, after, change)]}
            for change in comparison.changes
        ],
        "first_break": {**asdict(broken), "causes": _told(broken.causes)} if broken else None,
    }


def _fields(reviewed: Review) -> dict[str, Any]:
    turns = [(turn.name, turn) for turn in reviewed.turns]
    return {
        "changes": [asdict(change) for change in reviewed.changes],
        "results": [{"turn": name, **asdict(each)} for name, turn in turns for each in turn.results],
        "searches": [{"turn": name, **asdict(each)} for name, turn in turns for each in turn.searches],
        "turns_compared": len(turns),
    }


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
    yield from text_lines(old, new)


def text_lines(old: str, new: str) -> tuple[str, ...]:
    """The differing lines of two texts, with context."""
    found = line_differences(old.splitlines(), new.splitlines())
    return tuple(visible(line.replace("\t", "    ")) for line in found)


def changes_of(turn: TurnReview) -> Iterator[tuple[Change, tuple[str, ...]]]:
    """What the model reads differently in a turn: sections, then results; each with its differing lines."""
    comparison = turn.comparison
    if comparison is None or turn.before is None or turn.after is None:
        return
    for change in comparison.changes:
        if change.kind != "same":
            yield change, tuple(lines(turn.before, turn.after, change))
    for result in turn.results:
        tokens, name = (result.tokens_before, result.tokens_after), f"result of {result.tool}"
        yield (
            Change(name, "changed", (), *tokens, "message", "step", "", None, None),
            text_lines(result.before, result.after),
        )


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
