"""Promise 3 as an independent reader of Markdown sees it: hostile values leave the headings of harmless ones."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from functools import cache
from typing import Any, Literal

from hypothesis import given, settings
from hypothesis import strategies as st

from cuecard import Engine, Turn
from cuecard.agent import build_agent
from cuecard.config.documents.texts import AgentSources, SourceText
from cuecard.outside.clock import utc_now
from cuecard.outside.tokens import bundled_counter
from property.hostile_texts import harmless
from property.markdown_judge import blocks_of, headings

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)
RANKS = frozenset("#" * rank for rank in range(1, 7))

PIECES = (
    *(
        "a",
        " ",
        "  ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\u2028",
        "\x85",
        "\u00a0",
        "\u200b",
        "\\",
        "|",
        "&lt;",
    ),
    *("`", "``", "```", "```py", "~", "~~", "~~~", "=", "==", "-", "---", "#", "# x", "## y", "### z", "***"),
    *("- ", "* ", "1. ", "> ", "[a]: b", "<b>", "<div>", "</div>", "<pre>", "<script>", "<!--", "-->", "<?", "<!X"),
    "<![CDATA[",
)
TEXTS = (
    *("You help {{{x}}}.", "{{{x}}}{{{y}}}", "#{{{x}}}", "- {{{x}}}\n- {{{y}}}", "{{{x}}}\n{{{y}}}", "  {{{x}}}"),
    *("```\n{{{x}}}\n```\nBehind.", "~~~{{{x}}}\n{{{y}}}\n~~~\nBehind.", "`{{{x}}}`{{{y}}}", "> {{{x}}}\n\nEnd."),
    *("1. a\n   ```\n   {{{x}}}\n   ```\n\nBehind.", "1. {{{x}}}\n\nEnd.", "<!-- fixed -->\n{{{x}}}"),
    *(
        "{{{x}}}\n\n<div>\n{{{y}}}\n</div>",
        "### Own\n{{{x}}}\n### More\n{{{y}}}",
        '<notes kind="{{x}}">{{{y}}}</notes>',
    ),
)
HEADINGS = ("# {{title}}\n\n", "## {{title}}\n", "# {{title}}\n")
VALUES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=7).map("".join)


@cache
def agent(texts: tuple[str, ...], heading: str, whitespace: str, escaping: str, trim: bool) -> Engine:  # noqa: FBT001 - cached
    sections = [{"id": f"s{place}", "title": f"Text {place}", "text": text} for place, text in enumerate(texts)]
    spec: dict[str, Any] = {
        "agent": "a",
        "inputs": {"x": {"default": ""}, "y": {"default": ""}},
        "whitespace": whitespace,
        "layout": {"heading": heading, "separator": "\n\n", "escaping": escaping, "trim": trim},
        "sections": [*sections, {"id": "last", "text": "### Fixed\nBehind."}],
    }
    made = build_agent(AgentSources(SourceText("a.yaml", "a.yaml", json.dumps(spec))))
    return Engine(made, made.spec.delivery, bundled_counter(made.spec.tokens.encoding), utc_now)


def said(engine: Engine, x: str, y: str) -> str:
    return engine.prepare_step(engine.prepare_call(Turn({"x": x, "y": y}, now=NOW))).system


@settings(deadline=None, max_examples=400)
@given(
    texts=st.tuples(st.sampled_from(TEXTS), st.sampled_from(TEXTS)),
    heading=st.sampled_from(HEADINGS),
    whitespace=st.sampled_from(["keep", "compact", "paragraphs"]),
    escaping=st.sampled_from(["text", "names"]),
    trim=st.booleans(),
    x=VALUES,
    y=VALUES,
)
def test_hostile_values_leave_the_headings_that_harmless_ones_leave(
    texts: tuple[str, str],
    heading: str,
    whitespace: str,
    escaping: Literal["text", "names"],
    trim: bool,  # noqa: FBT001 - hypothesis gives them by name
    x: str,
    y: str,
) -> None:
    engine = agent(texts, heading, whitespace, escaping, trim)
    hostile, plain = said(engine, x, y), said(engine, harmless(x), harmless(y))
    own = frozenset(headings(plain, RANKS))

    assert headings(hostile, own) == headings(plain, own)
    assert blocks_of(hostile, "Behind.") == blocks_of(plain, "Behind.")
