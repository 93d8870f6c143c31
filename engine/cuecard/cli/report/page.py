"""The report as one HTML file that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from cuecard.analysis.field import FieldReport
from cuecard.analysis.field.advice import search_advice, tool_advice
from cuecard.cli.replay.style import STYLE, document
from cuecard.cli.report.tables import SEARCHES, TOOLS, called_in, headline
from cuecard.errors import visible

_WIDE = """\
.wide { overflow-x: auto; } .bar { width: 100px; height: 8px; fill: var(--append); }
@media (max-width: 640px) {
  .wide thead { position: absolute; clip-path: inset(50%); height: 1px; overflow: hidden; }
  .wide table, .wide tbody { display: block; }
  .wide tr { display: flex; flex-wrap: wrap; gap: 0 16px; padding: 8px 0; border-bottom: 1px solid var(--rule); }
  .wide th, .wide td { border: 0; padding: 0; min-width: 0; overflow-wrap: anywhere; }
  .wide tbody th, .wide td:last-child { flex: 0 0 100%; }
  .wide td:empty, .wide td:has(.bar) { display: none; }
  .wide td[data-name]:not(:empty)::before { content: attr(data-name) " "; color: var(--soft); }
}
"""
"""On a small screen, each row is a block: the first cell on top, the numbers with their names, the text below."""


def page(found: FieldReport) -> str:
    """The whole page."""
    main = "\n".join(_sections(found))
    return document("Tools in the field", STYLE + _WIDE, main)


def _sections(found: FieldReport) -> Iterator[str]:
    yield "<header>\n<p class='over'>cuecard tools report</p>\n<h1>Tools in the field</h1>"
    yield f"<p>{_text(headline(found))}</p>\n</header>"
    most = max((use.tokens for use in found.tools), default=1) or 1
    yield _table(
        TOOLS,
        ("tool", "called in", "calls", "errors", "tokens", "", "what stands out"),
        (
            (
                f"<code>{_text(use.name)}</code>",
                called_in(use),
                *(f"{number:,}" for number in (use.calls, use.errors, use.tokens)),
                _bar(use.tokens / most),
                _text("; ".join(tool_advice(use, with_calls=found.with_calls))),
            )
            for use in found.tools
        ),
    )
    if found.searches:
        yield _table(
            SEARCHES,
            ("query", "times", "found", "what to do"),
            (
                (
                    _text(use.query),
                    f"{use.times:,}",
                    _text(", ".join(use.found) or "nothing"),
                    _text(search_advice(use)),
                )
                for use in found.searches
            ),
        )


def _bar(share: float) -> str:
    return f"<svg class='bar' aria-hidden='true'><rect width='{100 * share:.0f}' height='8' rx='4'/></svg>"


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col' role='columnheader'>{name}</th>" for name in columns)
    body = "\n".join(
        f"<tr role='row'><th scope='row' role='rowheader'>{first}</th>{_cells(columns[1:], rest)}</tr>"
        for first, *rest in rows
    )
    return (
        f"<section>\n<h2>{_text(title)}</h2>\n<div class='wide' tabindex='0' role='region' aria-label='{_text(title)}'>"
        f"<table role='table'>\n<thead role='rowgroup'><tr role='row'>{head}</tr></thead>\n"
        f"<tbody role='rowgroup'>\n{body}\n</tbody>\n</table></div>\n</section>"
    )


def _cells(names: Sequence[str], cells: Sequence[str]) -> str:
    """Roles are explicit because changing `display` on small screens removes them in some browsers."""
    named = zip(names, cells, strict=True)
    return "".join(f"<td role='cell' data-name='{name}'>{cell}</td>" for name, cell in named)


def _text(text: str) -> str:
    return escape(visible(text), quote=True)
