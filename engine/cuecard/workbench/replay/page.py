"""The report as HTML."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import accumulate

from cuecard.errors import visible
from cuecard.workbench.replay.blocks import GROUPS, tokens_by_group
from cuecard.workbench.replay.charts import Axis, ChartBreak, Mark, Series, line_chart, share_bars, stack_chart
from cuecard.workbench.replay.recommend import Recommendation
from cuecard.workbench.replay.report import DELIVERIES, NO_CACHE, ReplayReport, Variant
from cuecard.workbench.replay.tables import advice_lines, break_groups, headline, percent

_COLOURS = {
    **{name: name for name in ("append", "rewrite", "frozen", "fresh")},
    "tools": "call",
    "system": "static",
    "appended": "step",
    "messages": "edge",
    "cached": "read",
    "written": "write",
}
"""By what is drawn, the colour that the studio has for it: tool definitions are in front, as texts of a call."""

STYLE = (
    """\
:root {
  color-scheme: light dark;
  --paper: light-dark(#fbfaf8, #14171c); --card: light-dark(#ffffff, #1c2027);
  --ink: light-dark(#1d2129, #e8eaee); --soft: light-dark(#5c6470, #9aa3b0);
  --rule: light-dark(#e3e1dc, #2e343e); --edge: light-dark(#8a877f, #6d7684); --focus: light-dark(#2563c9, #7aa7ff);
  --static: light-dark(#4878d8, #5b86dd); --call: light-dark(#8163c8, #9b82dc); --step: light-dark(#b5508c, #d074aa);
  --read: light-dark(#3b9679, #2f8a6d); --write: light-dark(#b87d18, #c08a2b); --fresh: light-dark(#d9694a, #b9593f);
  --append: light-dark(#0b7a5e, #3ecf9f); --rewrite: light-dark(#c2410c, #ff8a5c);
  --frozen: light-dark(#2563c9, #7aa7ff); --plain: light-dark(#6c7380, #8a93a1); --bad: light-dark(#b3162f, #ff7d90);
  --within: #000000;
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 1020px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; letter-spacing: -0.015em; }
h2 { font-size: 18px; margin: 0 0 4px; letter-spacing: -0.005em; }
h3 { font-size: 14px; margin: 20px 0 0; font-weight: 600; }
p { margin: 0 0 8px; color: var(--soft); }
h1, p, aside, summary, footer { overflow-wrap: anywhere; }
header { margin-bottom: 24px; }
header p { margin: 0; }
.over { text-transform: uppercase; letter-spacing: 0.08em; font-size: 12px; margin-bottom: 6px !important; }
aside { background: var(--card); border: 1px solid var(--rule); border-left: 4px solid var(--append);
  border-radius: 8px; padding: 14px 18px; margin-bottom: 24px; color: var(--soft); }
aside strong { color: var(--ink); display: block; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 14px; margin-bottom: 24px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px 10px; }
.card h2 { font-size: 13px; font-weight: 600; white-space: nowrap; }
.card p { font-size: 13px; margin: 0 0 2px; }
.card .figure { font-size: 27px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums;
  letter-spacing: -0.02em; margin: 0; }
.card.append .figure { color: var(--append); }
.card.rewrite .figure { color: var(--rewrite); }
.card.frozen .figure { color: var(--frozen); }
.card.plain .figure { color: var(--plain); }
section.chart, main > section, details {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 20px 22px; margin-bottom: 20px;
}
svg { display: block; width: 100%; height: auto; overflow: visible; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 0; margin: 6px 0 10px;
  font-size: 13px; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; vertical-align: -1px; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.ring { fill: none !important; stroke-width: 1.6; }
.grid { stroke: var(--rule); fill: none; }
.turn { stroke: var(--rule); stroke-dasharray: 3 4; fill: none; }
.tick, .name, .within { font-size: 11.5px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.name { font-size: 13px; fill: var(--ink); }
.within { fill: var(--within); text-anchor: middle; }
.cut { stroke: var(--bad); stroke-width: 2.2; fill: none; }
.hatch { stroke: var(--bad); stroke-width: 2; }
.again { fill: url(#hatch); opacity: 0.55; }
"""
    + "".join(
        f".line.{name}, .ring.{name} {{ stroke: var(--{name}); }} .dot.{name} {{ fill: var(--{name}); }}\n"
        for name in ("append", "rewrite", "frozen")
    )
    + "".join(
        f".fill.{name} {{ fill: var(--{colour}); }} .key.{name} {{ background: var(--{colour}); }}\n"
        for name, colour in _COLOURS.items()
    )
    + """\
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
.number { text-align: right; }
tbody th { color: var(--ink); }
.scroll { overflow-x: auto; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 3px; border-radius: 4px; }
@media (max-width: 640px) {
  main { padding: 24px 12px 40px; }
  section.chart, main > section, details { padding: 14px; }
  .cards { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); }
  .card h2 { white-space: normal; }
  .scroll svg { width: 640px; }
  .scroll td, .scroll th { overflow-wrap: normal; min-width: 56px; }
}
.note, footer { font-size: 13px; color: var(--soft); }
summary { cursor: pointer; }
details[open] summary { margin-bottom: 12px; }
@media print { details { display: none; } }
"""
)


def document(title: str, style: str, main: str) -> str:
    """A whole page, which loads nothing: a browser applies this style and no other, and runs no script.

    Args:
        title: its title, escaped.
        style: its style sheet, the only one.
        main: its content. A `style` attribute in it would be ignored.
    """
    style = f"\n{style}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n{main}\n</main>\n</body>\n</html>\n"
    )


_LAYERS = (
    ("tools", "tool definitions"),
    ("system", "system prompt"),
    ("appended", "appended definitions and instructions"),
    ("messages", "messages"),
)


def page(report: ReplayReport, advice: Recommendation | None) -> str:
    """The whole page."""
    main = "\n".join(_sections(report, advice))
    title = _text(f"{report.agent}: the price of a prompt")
    return document(title, STYLE, main)


def _sections(report: ReplayReport, advice: Recommendation | None) -> Iterator[str]:
    yield f"<header>\n<p class='over'>cuecard replay</p>\n<h1>{_text(report.agent)}: the price of a prompt</h1>"
    yield f"<p>{_text(headline(report))}</p>\n</header>"
    if advice:
        first, *more = advice_lines(report, advice)
        yield f"<aside><strong>{_text(first)}.</strong> {_text('. '.join(_upper(line) for line in more))}.</aside>"
    yield _cards(report)
    shown = [variant for variant in report.variants if variant.name in DELIVERIES]
    axis = _axis(shown[0])
    yield _figure(
        "Cost per request",
        f"In uncached input tokens, at the prices of {report.model}. A ring marks a request that rewrites earlier "
        "content.",
        line_chart("Cost per request by delivery", axis, [_line(report, variant) for variant in reversed(shown)]),
        _legend((variant.name, variant.name) for variant in shown),
    )
    yield _figure(
        "Where the tokens come from",
        "All input tokens of the conversation: read from the cache, written to it, or neither.",
        share_bars("Cached share by delivery", [_shares(report, variant) for variant in report.variants]),
        _legend((("cached", "read from the cache"), ("written", "written to the cache"), ("fresh", "neither"))),
    )
    most = max((row.input_tokens for variant in shown for row in report.bill(variant).rows), default=0)
    charts = "\n".join(
        f"<h3><span class='key {variant.name}'></span>{variant.name}</h3>\n{_stacks(report, variant, axis, most)}"
        for variant in shown
    )
    yield _figure(
        "What each request is made of",
        "Tokens from the first text (bottom) to the last. Red: content that is sent again because it differs from "
        "before.",
        charts,
        _legend(_LAYERS),
    )
    yield _breaks(shown)
    yield _models(report)
    yield from (_requests(report, variant) for variant in report.variants)
    yield f"<footer>Tokens counted with {_text(report.tokens.encoding)}; {_reported(report)}</footer>"


def _cards(report: ReplayReport) -> str:
    least = min(report.bill(variant).cost for variant in report.variants)
    return (
        "<div class='cards'>\n" + "\n".join(_card(report, variant, least) for variant in report.variants) + "\n</div>"
    )


def _card(report: ReplayReport, variant: Variant, least: float) -> str:
    bill = report.bill(variant)
    times = "cheapest" if bill.cost == least else f"{bill.cost / least:.2f} × the cheapest" if least else ""
    rewrites = f"{bill.rewrites} of {len(bill.rows)} rewrite"
    return (
        f"<section class='card {_style(variant)}'><h2>{_text(variant.name)}</h2><p class='figure'>{bill.cost:,.0f}</p>"
        f"<p>{times}</p><p>{bill.input_tokens:,} tokens</p><p>{percent(bill.cached_share)} cached</p>"
        f"<p>{rewrites}</p></section>"
    )


def _axis(variant: Variant) -> Axis:
    starts = tuple(n for n, sent in enumerate(variant.sent) if sent.number == 1)
    return Axis(tuple(f"{sent.turn}.{sent.number}" for sent in variant.sent), starts)


def _line(report: ReplayReport, variant: Variant) -> Series:
    marks = [Mark(n, f"{broken.id} ({broken.cause})") for n, broken in enumerate(variant.breaks) if broken]
    costs = tuple(row.cost for row in report.bill(variant).rows)
    return Series(variant.name, variant.name, costs, tuple(marks))


def _shares(report: ReplayReport, variant: Variant) -> tuple[str, Sequence[tuple[str, str, float]]]:
    rows = report.bill(variant).rows
    parts = [(name, name, float(sum(getattr(row, name) for row in rows))) for name in ("cached", "written", "fresh")]
    return variant.name, parts


def _stacks(report: ReplayReport, variant: Variant, axis: Axis, most: float) -> str:
    groups = [tokens_by_group(sent.request.blocks) for sent in variant.sent]
    layers = [Series(words, name, tuple(float(group[name]) for group in groups)) for name, words in _LAYERS]
    rows = report.bill(variant).rows
    cuts = [
        ChartBreak(n, _sum_until(variant, n, row.first_break), f"{axis.labels[n]}: {broken.id} ({broken.cause})")
        for n, (row, broken) in enumerate(zip(rows, variant.breaks, strict=True))
        if broken and row.first_break is not None
    ]
    return stack_chart(f"Tokens per request under {variant.name}", axis, layers, cuts, most)


def _sum_until(variant: Variant, place: int, block: int) -> float:
    blocks = variant.sent[place].request.blocks
    return float([0, *accumulate(one.tokens for one in blocks)][min(block, len(blocks))])


def _breaks(shown: Sequence[Variant]) -> str:
    groups = [group for variant in shown for group in break_groups(variant)]
    rows = [(group.variant, group.where, group.id, group.cause, f"{group.lost:,}") for group in groups]
    if not rows:
        return "<section><h2>Breaks</h2><p>No request changes earlier content.</p></section>"
    table = _table(
        "Where a prefix broke",
        ("delivery", "requests", "first text that differs", "why", "tokens no longer cached"),
        rows,
        numbers=(4,),
    )
    return f"<section><h2>Where a prefix broke</h2>\n{table}\n</section>"


def _models(report: ReplayReport) -> str:
    rows = []
    for model in report.models:
        costs = [variant.bills[model.name].cost for variant in report.variants]
        rows.append((model.name, *(f"{cost:,.0f}{' *' if cost == min(costs) else ''}" for cost in costs)))
    heads = ("model", *(variant.name for variant in report.variants))
    table = _table("Cost with each model", heads, rows, numbers=range(1, len(heads)))
    return (
        f"<section><h2>Cost with each model</h2>\n{table}\n<p class='note'>* the cheapest with this model</p></section>"
    )


def _requests(report: ReplayReport, variant: Variant) -> str:
    heads = ("request", "tokens", "cached", "written", "neither", "cost", "below minimum", *GROUPS)
    rows = []
    for sent, row in zip(variant.sent, report.bill(variant).rows, strict=True):
        groups = tokens_by_group(sent.request.blocks)
        numbers = (row.input_tokens, row.cached, row.written, row.fresh, round(row.cost), row.below_minimum)
        cells = (f"{number:,}" for number in (*numbers, *(groups[name] for name in GROUPS)))
        rows.append((f"{sent.turn}.{sent.number}", *cells))
    table = _table(f"Every request under {variant.name}", heads, rows, numbers=range(1, len(heads)))
    return (
        f"<details><summary>Every request under <b>{_text(variant.name)}</b>, in figures</summary>\n{table}\n</details>"
    )


def _table(title: str, heads: Iterable[str], rows: Iterable[Sequence[str]], numbers: Iterable[int]) -> str:
    right = set(numbers)
    names = tuple(heads)
    kinds = [" class='number'" if n in right else "" for n in range(len(names))]
    head = "".join(f"<th scope='col'{kind}>{_text(name)}</th>" for name, kind in zip(names, kinds, strict=True))
    body = "\n".join(
        f"<tr><th scope='row'>{_text(first)}</th>"
        + "".join(f"<td{kind}>{_text(cell)}</td>" for cell, kind in zip(rest, kinds[1:], strict=True))
        + "</tr>"
        for first, *rest in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"
    return _scroll(title, table)


def _scroll(title: str, inner: str) -> str:
    """Content that may be wider than the window, scrollable with the keyboard."""
    return f"<div class='scroll' tabindex='0' role='region' aria-label='{_text(title)}'>{inner}</div>"


def _figure(title: str, said: str, chart: str, legend: str) -> str:
    return f"<section class='chart'><h2>{title}</h2><p>{_text(said)}</p>{legend}\n{_scroll(title, chart)}\n</section>"


def _legend(entries: Iterable[tuple[str, str]]) -> str:
    keys = "".join(f"<li><span class='key {style}'></span>{_text(name)}</li>" for style, name in entries)
    return f"<ul class='legend'>{keys}</ul>"


def _reported(report: ReplayReport) -> str:
    usage = report.reported
    if not usage:
        return "the recording does not contain the provider's own count."
    return f"the provider reported {usage.input_tokens:,} input tokens, {usage.cached_tokens:,} of them cached."


def _style(variant: Variant) -> str:
    return variant.name if variant.name in DELIVERIES else "plain" if variant.name == NO_CACHE else "frozen"


def _text(text: str) -> str:
    return escape(visible(text))


def _upper(line: str) -> str:
    return line[:1].upper() + line[1:]
