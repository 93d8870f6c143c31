"""A comparison as a comment of a pull request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cuecard.config.model_profile import ModelProfile
from cuecard.errors import CuecardError, visible
from cuecard.pipeline.changes import Change
from cuecard.workbench.diff.edition import FieldChange
from cuecard.workbench.diff.review import Review, TurnReview
from cuecard.workbench.diff.sides import Side
from cuecard.workbench.diff.view import changes_of, reach, text_lines
from cuecard.workbench.output import counted
from cuecard.workbench.price import dollars, price_of_calls

# Between letters, an underscore begins no emphasis, and a tool's name stays one that people can search for.
_PLAIN = re.compile(r"[^A-Za-z0-9_ ./,+-]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
_TICKS = re.compile(r"`+")


def code(text: str, most: int = 80) -> str:
    """The text as inline code for a table or a heading, truncated to a number of characters."""
    shown = visible(text)
    cut = shown if len(shown) <= most else f"{shown[: most - 3]}..."
    return f"<code>{_PLAIN.sub(lambda found: f'&#{ord(found[0])};', cut)}</code>"


def fenced(lines: Iterable[str], language: str) -> str:
    """The lines as a code block that none of them can end."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(found) for found in _TICKS.findall(text)), default=0))
    return f"{fence}{language}\n{text}\n{fence}\n"


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


class CommentText:
    """A text with a maximum length.

    Args:
        most: the maximum length in characters.
    """

    def __init__(self, most: int) -> None:
        self.text: str = ""
        self.most: int = most

    def take(self, text: str, *, spare: int = 0) -> bool:
        """Add the text if there is room for it and `spare` more characters; returns whether there was."""
        fits = len(self.text) + len(text) + spare <= self.most
        self.text += text if fits else ""
        return fits

    def take_rows(self, rows: Sequence[str], *, spare: int, what: str) -> None:
        """Add rows of a table while there is room, and state how many were left out."""
        taken = next((at for at, each in enumerate(rows) if not self.take(each, spare=spare)), len(rows))
        if taken < len(rows):
            self.text += f"\n{len(rows) - taken:,} more {what} are omitted.\n"


MAX_CHARACTERS = 60_000
"""The maximum length in characters: GitHub rejects comments of more than 65,536, and the action adds a line before
it.
"""

_ROOM_OF_TURNS = 20_000
_ROOM_OF_SECTIONS = 30_000
_ROOM_OF_FIELDS = 45_000
_ROOM_OF_SEARCHES = 50_000
_MOST_LINES = 300
_REQUESTS = 1000


@dataclass(frozen=True, slots=True)
class Rate:
    """The price of tokens: the model, and US dollars per million of its uncached input tokens, if known."""

    profile: ModelProfile
    per_million: float | None = None

    def of(self, side: Side | None) -> tuple[str, str]:
        """The price of 1,000 requests with this prompt, uncached and cached."""
        if side is None:
            return "-", "-"
        calls = price_of_calls(side.manifest, self.profile)
        return self._told(calls.first), self._told(calls.again)

    def _told(self, tokens: float) -> str:
        if self.per_million is None:
            return f"{tokens * _REQUESTS:,.0f}"
        return f"${dollars(tokens * _REQUESTS, self.profile, self.per_million):,.2f}"


@dataclass(slots=True)
class _Section:
    """The same change to a section in several turns."""

    change: Change
    lines: tuple[str, ...]
    turns: list[str] = field(default_factory=list)


def markdown(review: Review, rate: Rate | None) -> str:
    """The review for people, at most `MAX_CHARACTERS` long; with `rate`, it includes the cost of calls."""
    differing = [turn for turn in review.turns if turn.differs]
    body = CommentText(MAX_CHARACTERS)
    body.take(f"**{_headline(review, differing)}**\n\n{code(review.before)} → {code(review.after)}\n")
    if differing:
        _add_turns(body, differing, rate)
    sections = _sections(differing)
    if sections:
        body.take("\n| section | | before | after | change | why | turns |\n|---|---|--:|--:|--:|---|--:|\n")
        rows = [_section_row(section, len(review.turns)) for section in sections]
        body.take_rows(rows, spare=MAX_CHARACTERS - _ROOM_OF_SECTIONS, what="sections")
    _add_fields(body, review)
    _add_searches(body, review.turns)
    details = [*_section_details(sections)]
    _add_lines(body, [*_field_details(review, "\n".join(line for each in details for line in each.lines)), *details])
    return body.text


def _add_turns(body: CommentText, differing: Sequence[TurnReview], rate: Rate | None) -> None:
    body.take(f"\n{_heading(rate)}")
    body.take_rows([_turn_row(turn, rate) for turn in differing], spare=MAX_CHARACTERS - _ROOM_OF_TURNS, what="turns")
    if rate:
        body.take(f"\n{_unit(rate)}\n")


def _add_fields(body: CommentText, review: Review) -> None:
    """A row for each field of the agent that differs, those that no turn reaches first."""
    if not review.changes:
        return
    body.take("\n| the agent says | | before | after | change | reached |\n|---|---|--:|--:|--:|---|\n")
    changes = sorted(review.changes, key=lambda change: bool(change.reached))
    rows = [_field_row(change, review.turns) for change in changes]
    body.take_rows(rows, spare=MAX_CHARACTERS - _ROOM_OF_FIELDS, what="fields")


def _field_row(change: FieldChange, turns: Sequence[TurnReview]) -> str:
    counts = f"{change.tokens_before:,}", f"{change.tokens_after:,}", _delta(change.tokens_before, change.tokens_after)
    return row([code(change.label), change.change, *counts, reach(change, turns)])


def _add_searches(body: CommentText, turns: Sequence[TurnReview]) -> None:
    """A row for each query that finds other tools than before."""
    if not (found := list(dict.fromkeys(search for turn in turns for search in turn.searches))):
        return
    body.take("\n| query | found before | finds now |\n|---|---|---|\n")
    rows = [
        row([code(each.query), *(code(", ".join(names) or "nothing", 300) for names in (each.before, each.after))])
        for each in found
    ]
    body.take_rows(rows, spare=MAX_CHARACTERS - _ROOM_OF_SEARCHES, what="queries")


def _headline(review: Review, differing: Sequence[TurnReview]) -> str:
    count = len(review.turns)
    where = f" in {len(differing)} of {count} turns" if count > 1 else ""
    failed = sum(turn.after is None for turn in differing)
    if not differing:
        same = f" in all {count} turns" if count > 1 else ""
        fields = counted(len(review.changes), "field")
        return f"The prompt is the same{same}{f', but the agent differs in {fields}' if review.changes else ''}."
    if failed:
        return f"{failed} of {count} {'prompts' if count > 1 else 'prompt'} cannot be rendered."
    deltas = [found.tokens_after - found.tokens_before for turn in differing if (found := turn.comparison)]
    if not deltas:
        return f"The prompt is new{where}."
    low, high = min(deltas), max(deltas)
    tokens = f"{low:+,}" if low == high else f"{low:+,} to {high:+,}"
    return f"The prompt changes{where}: {tokens if (low, high) != (0, 0) else '0'} tokens."


def _heading(rate: Rate | None) -> str:
    names, lines_ = ["turn", "tokens before", "after", "change"], ["---", "--:", "--:", "--:"]
    if rate:
        names += [f"{_REQUESTS:,} requests, first", f"{_REQUESTS:,} requests, cached"]
        lines_ += ["--:", "--:"]
    return row(names) + row(lines_)


def _turn_row(turn: TurnReview, rate: Rate | None) -> str:
    counts = [f"{side.manifest.total_tokens:,}" if side else "-" for side in (turn.before, turn.after)]
    found = turn.comparison
    change = _delta(found.tokens_before, found.tokens_after) if found else _why(turn)
    prices = [
        old if old == new else f"{old} → {new}"
        for old, new in (zip(rate.of(turn.before), rate.of(turn.after), strict=True) if rate else ())
    ]
    return row([code(turn.name or "no turn file"), *counts, change, *prices])


def _why(turn: TurnReview) -> str:
    """The text in place of a change."""
    if turn.failure:
        return f"cannot be rendered: {_first(turn.failure)}"
    return f"new: {_first(turn.missing)}" if turn.missing else "new"


def _first(error: CuecardError) -> str:
    problem = error.problems[0]
    return f"{problem.code}, {code(problem.message, 120)}"


def _unit(rate: Rate) -> str:
    model = code(rate.profile.name)
    if rate.per_million is None:
        return f"Requests are priced in uncached input tokens of {model}; the prompt alone, without messages and tools."
    price = f"${rate.per_million:,.2f} for a million input tokens"
    return f"Requests are priced for {model} at {price}; the prompt alone, without messages and tools."


def _sections(turns: Iterable[TurnReview]) -> list[_Section]:
    """Each change once, with its turns, the largest first."""
    found: dict[object, _Section] = {}
    for turn in turns:
        for change, differing in changes_of(turn):
            key = change.id, change.kind, change.tokens_before, change.tokens_after, differing
            found.setdefault(key, _Section(change, differing)).turns.append(turn.name)
    return sorted(found.values(), key=lambda each: -abs(each.change.tokens_after - each.change.tokens_before))


def _section_row(section: _Section, turns: int) -> str:
    change = section.change
    why = code("; ".join(str(cause) for cause in change.causes), 120) if change.causes else ""
    counts = f"{change.tokens_before:,}", f"{change.tokens_after:,}", _delta(change.tokens_before, change.tokens_after)
    return row([code(change.id), change.kind, *counts, why, f"{len(section.turns)} of {turns}"])


def _delta(before: int, after: int) -> str:
    return f"{after - before:+,}" if after != before else "0"


@dataclass(frozen=True, slots=True)
class _Detail:
    """Differing lines under a summary."""

    summary: str
    lines: Sequence[str]


def _field_details(review: Review, told: str) -> Iterator[_Detail]:
    """The lines of each field, unless the sections tell them already."""
    for change in sorted(review.changes, key=lambda change: bool(change.reached)):
        found = text_lines(change.before, change.after)
        if not all(line[1:] in told for line in found if line[:1] in {"+", "-"}):
            yield _Detail(code(change.label), found)


def _section_details(sections: Iterable[_Section]) -> Iterator[_Detail]:
    for section in sections:
        where = "" if len(section.turns) == 1 and not section.turns[0] else f" in {code(section.turns[0])}"
        yield _Detail(f"{code(section.change.id)}{where}", section.lines)


def _add_lines(body: CommentText, details: Iterable[_Detail]) -> None:
    """Add the lines of each detail, folded, while there is room; then the number of those left out."""
    note = "\nMore lines are omitted: `cuecard diff` shows them.\n"
    for detail in details:
        shown = [*islice(detail.lines, _MOST_LINES)]
        if len(shown) < len(detail.lines):
            shown.append(f" ... {len(detail.lines) - len(shown):,} more lines")
        summary = f"<details><summary>{detail.summary}</summary>"
        if shown and not body.take(f"\n{summary}\n\n{fenced(shown, 'diff')}\n</details>\n", spare=len(note)):
            body.take(note)
            return
