"""The report as one HTML file that needs no network and no script."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from cuecard.analysis.field import FieldReport
from cuecard.analysis.field.advice import search_advice, tool_advice
from cuecard.cli.replay.style import STYLE
from cuecard.cli.report.tables import SEARCHES, TOOLS, called_in, headline
from cuecard.errors import visible

_WIDE = ".wide { overflow-x: auto; } .bar { background: var(--append); height: 8px; border-radius: 4px; }\n"


def page(found: FieldReport) -> str:
    """The whole page."""
    main = "\n".join(_sections(found))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>Tools in the field</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{STYLE}{_WIDE}</style>\n</head>\n<body>\n<main>\n{main}\n</main>\n</body>\n</html>\n"
    )


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
                f"<div class='bar' style='width:{100 * use.tokens / most:.0f}px'></div>",
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


def _table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th scope='col'>{name}</th>" for name in columns)
    body = "\n".join(
        f"<tr><th scope='row'>{first}</th>{''.join(f'<td>{cell}</td>' for cell in rest)}</tr>" for first, *rest in rows
    )
    return (
        f"<section>\n<h2>{_text(title)}</h2>\n<div class='wide' tabindex='0' role='region' aria-label='{_text(title)}'>"
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>\n</section>"
    )


def _text(text: str) -> str:
    return escape(visible(text), quote=True)
