"""The report on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.errors import visible
from cuecard.workbench.output import counted
from cuecard.workbench.replay.recommend import MOST_TOOLS, Recommendation, Threshold
from cuecard.workbench.replay.report import FROZEN_DIRECT, NO_CACHE, ReplayReport, Variant

_NAMED = 6


def headline(report: ReplayReport) -> str:
    """The agent of this conversation, and its length."""
    sent = report.variants[0].sent
    turns = len({one.turn for one in sent})
    return (
        f"{report.agent} · {report.transcript} · {_count(turns, 'turn')}, {_count(len(sent), 'request')}, "
        f"{_count(report.tools, 'tool')} · costs in plain input tokens"
    )


def advice_lines(report: ReplayReport, advice: Recommendation) -> Iterator[str]:
    """The cheapest delivery, and the number of tools from which another one is cheaper."""
    yield f"{advice.delivery} is the cheapest delivery here, with {report.model}: {advice.cost:,.0f}"
    yield from (_threshold(threshold) for threshold in advice.thresholds)


@dataclass(frozen=True, slots=True)
class BreakGroup:
    """Breaks of one delivery at the same block for the same reason: where, and the total loss."""

    variant: str
    id: str
    cause: str
    places: tuple[str, ...]
    lost: int

    @property
    def where(self) -> str:
        """The requests, with the first one named."""
        more = len(self.places) - _NAMED
        return ", ".join(self.places[:_NAMED]) + (f" and {more} more" if more > 0 else "")


def break_groups(variant: Variant) -> list[BreakGroup]:
    """Every break of a variant, in the order of its first request."""
    found: dict[tuple[str, str], list[tuple[str, int]]] = {}
    for sent, broken in zip(variant.sent, variant.breaks, strict=True):
        if broken:
            place = f"{sent.turn}.{sent.number}"
            found.setdefault((broken.id, broken.cause), []).append((place, broken.lost))
    return [
        BreakGroup(variant.name, name, cause, tuple(place for place, _ in rows), sum(lost for _, lost in rows))
        for (name, cause), rows in found.items()
    ]


def percent(share: float) -> str:
    """A share from 0 to 1 as a percentage."""
    return f"{100 * share:.1f}\N{NO-BREAK SPACE}%"


def _threshold(threshold: Threshold) -> str:
    frozen = "frozen without the searches" if threshold.variant == FROZEN_DIRECT else "frozen"
    against = threshold.against
    if threshold.tools is None:
        return f"{frozen} costs less than {against} even with {MOST_TOOLS:,} tools like these"
    if threshold.tools <= threshold.fewest:
        return f"{frozen} costs more than {against} even with just the {threshold.fewest} tools this conversation needs"
    return (
        f"with {threshold.tools:,} tools or more, {against} costs less than {frozen}; with fewer, {frozen} costs less"
    )


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


BAR = 24
"""Characters of the longest bar."""

_FIGURES, _SHORTEST = 80, 6

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STYLES = {"append": "green", "rewrite": "red", "frozen": "blue"}


def show(report: ReplayReport, advice: Recommendation | None, console: Console) -> None:
    """Print the whole report."""
    console.print(Text(visible(headline(report)), style="bold"), soft_wrap=True)
    console.print(_totals(report, console.width - _FIGURES))
    if len(report.models) > 1:
        console.print(_by_model(report))
    console.print(_requests(report, console.width))
    for line in (*_texts(report), *_breaks(report), *_reported(report)):
        console.print(line, soft_wrap=True, highlight=False)
    for text in advice_lines(report, advice) if advice else ():
        console.print(Text(text, style="bold"), soft_wrap=True)


def bar(value: float, most: float, width: int = BAR) -> str:
    """A bar of block characters; every value above 0 shows at least a sliver."""
    eighths = round(value / most * width * 8) if most else 0
    eighths = max(eighths, 1) if value > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _totals(report: ReplayReport, room: int) -> Table:
    """The whole conversation; with bars if there is room."""
    width = min(room, BAR)
    table = Table(title=_title(report), title_justify="left")
    table.add_column("delivery", no_wrap=True)
    bills = [report.bill(variant) for variant in report.variants]
    short = any(one.below_minimum for one in bills)
    for name in ("input", "cached", "output", "cost", "rewrites", *(["too short"] if short else [])):
        table.add_column(name, justify="right", no_wrap=True)
    if width >= _SHORTEST:
        table.add_column("cost", no_wrap=True)
    most = max(one.cost for one in bills)
    for variant, bill in zip(report.variants, bills, strict=True):
        style = _style(variant)
        numbers = (bill.output_tokens, bill.cost, bill.rewrites, *([bill.below_minimum] if short else []))
        figures = (f"{bill.input_tokens:,}", percent(bill.cached_share), *(f"{number:,.0f}" for number in numbers))
        bars = [Text(bar(bill.cost, most, width), style=style)] if width >= _SHORTEST else []
        table.add_row(Text(variant.name, style=style), *figures, *bars)
    return table


def _title(report: ReplayReport) -> str:
    model = report.models[0]
    short = any(report.bill(variant).below_minimum for variant in report.variants)
    small = "; too short: below the minimum" if short else ""
    return f"prices of {visible(model.name)}, {model.output:g} for a token of output; thinking is not billed{small}"


def _by_model(report: ReplayReport) -> Table:
    """Costs with every model, the cheapest delivery of each marked."""
    table = Table(title="cost with each model", title_justify="left")
    table.add_column("model", no_wrap=True)
    for variant in report.variants:
        table.add_column(variant.name, justify="right")
    for model in report.models:
        costs = [variant.bills[model.name].cost for variant in report.variants]
        least = min(costs)
        cells = [Text(f"{cost:,.0f}", style="bold green" if cost == least else "") for cost in costs]
        table.add_row(Text(visible(model.name)), *cells)
    return table


def _requests(report: ReplayReport, room: int) -> Table:
    """What each request costs: one row per request, a column per delivery, `!` where it rewrites."""
    shown = [variant for variant in report.variants if variant.name in _STYLES]
    table = Table(title="cost per request (turn.request; ! rewrites earlier content)", title_justify="left")
    table.add_column("request", no_wrap=True)
    width = max(_SHORTEST, min(BAR // 2, (room - _FIGURES // 6) // len(shown) - _FIGURES // 5))
    for variant in shown:
        table.add_column(variant.name, justify="right", no_wrap=True)
        table.add_column("", min_width=width, no_wrap=True)
    most = max((row.cost for variant in shown for row in report.bill(variant).rows), default=0)
    for place, sent in enumerate(shown[0].sent):
        cells: list[Text] = []
        for variant in shown:
            row = report.bill(variant).rows[place]
            cells.append(Text(f"{'! ' if row.rewrites else ''}{row.cost:,.0f}"))
            cells.append(Text(bar(row.cost, most, width), style=_style(variant)))
        table.add_row(f"{sent.turn}.{sent.number}", *cells)
    return table


def _texts(report: ReplayReport) -> Iterator[Text]:
    """What texts of one turn cost where they are, and at the end of each request."""
    for variant in report.variants:
        for model, price in variant.texts.items():
            told = (
                f"texts of one turn: {price.tokens:,} tokens in {counted(price.requests, 'request')}; staying until "
                f"the turn ends costs {price.staying:,.0f}, moving with each request {price.moving:,.0f} "
                f"({visible(model)})"
            )
            yield Text.assemble((f"{variant.name} ", _style(variant)), told)


def _breaks(report: ReplayReport) -> Iterator[Text]:
    for variant in report.variants:
        for group in break_groups(variant) if variant.name != NO_CACHE else ():
            said = f"{group.id} ({group.cause}); {group.lost:,} tokens after it were no longer cached"
            yield Text.assemble((f"{variant.name} {group.where}: ", _style(variant)), visible(said))


def _reported(report: ReplayReport) -> Iterator[Text]:
    usage = report.reported
    if usage:
        share = percent(usage.cached_tokens / usage.input_tokens) if usage.input_tokens else "none"
        yield Text(f"the provider reported {usage.input_tokens:,} input tokens, {share} of them cached")


def _style(variant: Variant) -> str:
    return _STYLES.get(variant.name, "dim")
