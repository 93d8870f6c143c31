"""A report on a terminal: totals with bars, what each request costs, and where a prefix broke."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from cuecard.cli.replaying.words import advice_lines, headline, percent
from cuecard.errors import visible
from cuecard.replay.recommend import Recommendation
from cuecard.replay.report import NO_CACHE, Report, Variant

BAR = 20
"""Characters of the longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_STYLES = {"append": "green", "rewrite": "red", "frozen": "blue"}


def show(report: Report, advice: Recommendation | None, console: Console) -> None:
    """Print everything that a report says."""
    console.print(Text(visible(headline(report)), style="bold"), soft_wrap=True)
    console.print(_totals(report))
    if len(report.models) > 1:
        console.print(_by_model(report))
    console.print(_requests(report))
    for line in (*_breaks(report), *_reported(report)):
        console.print(line, soft_wrap=True, highlight=False)
    for text in advice_lines(report, advice) if advice else ():
        console.print(Text(text, style="bold"), soft_wrap=True)


def bar(value: float, most: float, width: int = BAR) -> str:
    """A bar of block characters; every value above 0 shows at least a sliver."""
    eighths = round(value / most * width * 8) if most else 0
    eighths = max(eighths, 1) if value > 0 else 0
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _totals(report: Report) -> Table:
    table = Table(title=_title(report), title_justify="left")
    table.add_column("delivery", no_wrap=True)
    for name in ("input tokens", "cached", "cost"):
        table.add_column(name, justify="right")
    table.add_column("", min_width=BAR, no_wrap=True)
    table.add_column("rewrites", justify="right")
    table.add_column("too short", justify="right")
    most = max(report.bill(variant).cost for variant in report.variants)
    for variant in report.variants:
        bill = report.bill(variant)
        table.add_row(
            Text(variant.name, style=_style(variant)),
            f"{bill.input_tokens:,}",
            percent(bill.cached_share),
            f"{bill.cost:,.0f}",
            Text(bar(bill.cost, most), style=_style(variant)),
            f"{bill.rewrites}",
            f"{bill.below_minimum:,}",
        )
    return table


def _title(report: Report) -> str:
    return f"whole conversation, prices of {report.model} (too short: not cached, below the minimum)"


def _by_model(report: Report) -> Table:
    """Costs with every model, the cheapest delivery of each marked."""
    table = Table(title="cost with each model", title_justify="left")
    table.add_column("model")
    for variant in report.variants:
        table.add_column(variant.name, justify="right")
    for model in report.models:
        costs = [variant.bills[model.name].cost for variant in report.variants]
        least = min(costs)
        cells = [Text(f"{cost:,.0f}", style="bold green" if cost == least else "") for cost in costs]
        table.add_row(Text(visible(model.name)), *cells)
    return table


def _requests(report: Report) -> Table:
    """What each request costs: one row per request, a column per delivery, `!` where it rewrites."""
    shown = [variant for variant in report.variants if variant.name in _STYLES]
    table = Table(title="cost per request (turn.request; ! rewrites earlier content)", title_justify="left")
    table.add_column("request")
    for variant in shown:
        table.add_column(variant.name, justify="right")
        table.add_column("", min_width=BAR // 2, no_wrap=True)
    most = max((row.cost for variant in shown for row in report.bill(variant).rows), default=0)
    for place, sent in enumerate(shown[0].sent):
        cells: list[Text] = []
        for variant in shown:
            row = report.bill(variant).rows[place]
            cells.append(Text(f"{'! ' if row.rewrites else ''}{row.cost:,.0f}"))
            cells.append(Text(bar(row.cost, most, BAR // 2), style=_style(variant)))
        table.add_row(f"{sent.turn}.{sent.number}", *cells)
    return table


def _breaks(report: Report) -> Iterator[Text]:
    for variant in report.variants:
        if variant.name == NO_CACHE:
            continue
        for sent, broken in zip(variant.sent, variant.breaks, strict=True):
            if broken:
                place = f"{variant.name} {sent.turn}.{sent.number}: "
                said = f"{broken.id} ({broken.cause}); {broken.lost:,} tokens after it were sent in vain"
                yield Text.assemble((place, _style(variant)), visible(said))


def _reported(report: Report) -> Iterator[Text]:
    usage = report.reported
    if usage:
        share = percent(usage.cached_tokens / usage.input_tokens) if usage.input_tokens else "none"
        yield Text(f"the provider reported {usage.input_tokens:,} input tokens, {share} of them cached")


def _style(variant: Variant) -> str:
    return _STYLES.get(variant.name, "dim")
