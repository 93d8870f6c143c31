"""Promise 3 as an independent reader of Markdown sees it: hostile values leave the headings of harmless ones.

In one agent at a time, with small texts and many kinds of marks; `test_hostile.py` has every slot of whole systems.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from cuecard import Engine, Turn
from property.engines import opened as opened_engine
from property.hostile_texts import harmless
from property.markdown_judge import Judge

NOW = datetime(2026, 11, 22, 9, tzinfo=UTC)

_BLANKS = (" ", "  ", "    ", "\t", "\n", "\n\n", "\r", "\r\n", "\u2028", "\x85", "\u00a0", "\u200b", "\ufeff")
_WORDS = ("a", "x")
_QUOTES = ("`", "``", "```", "```py", "````", "~", "~~", "~~~", "\\", "&lt;", "&#10;", "[a]:", "|")
_SIGNS = ("=", "==", "===", "-", "---", "#", "##", "***", ">")
_LINES = ("| a |\n|--|", "# x", "## y", "### z", "    # q", "- ", "* ", "+ ", "1. ", "10) ", "> ", "[a]: /u")
_FENCES = ("\n```", "\n  ```", "\n  ~~~\n")
_HTML = ("<b>", "<div>", "</div>", "<pre>", "<script>", "<script", "<!--", "-->", "<?", "?>", "<!X", "<![CDATA[", "]]>")
PIECES = (*_WORDS, *_BLANKS, *_QUOTES, *_SIGNS, *_LINES, *_FENCES, *_HTML, "<pre >")
VALUES = st.lists(st.sampled_from(PIECES), min_size=1, max_size=8).map("".join)

TEXTS = (
    *("You help {{{x}}}.", "{{{x}}}{{{y}}}", "#{{{x}}}", "{{{x}}}\n{{{y}}}", "{{x}}\n{{{y}}}", "  {{{x}}}"),
    *("{{{x}}} {{{y}}}\n\n  {{{x}}}", "**{{{x}}}**: {{{y}}}", "`{{{x}}}`{{{y}}}", "> {{{x}}}\n\nEnd."),
    *("- {{{x}}}\n- {{{y}}}", "- z\n  {{{x}}}", "1. {{{x}}}\n\nEnd.", "{{#each list}}- {{{this}}}\n{{/each}}"),
    *("### Own\n{{{x}}}\n### More\n{{{y}}}", "{{{x}}}\n## Own\nb", "{{{x}}}\n\n## Own\nBehind."),
    *("Own\n===\n{{{x}}}", "Own\n---\n{{{x}}}\n{{{y}}}"),
    *("```\n{{{x}}}\n```\nBehind.", "~~~{{{x}}}\n{{{y}}}\n~~~\nBehind.", "```{{{x}}}\ncode\n```"),
    *("1. a\n   ```\n   {{{x}}}\n   ```\n\nBehind.", "- ```sh\n  {{{x}}}\n  ```\n{{{y}}}"),
    "10. ```\n    {{{x}}}\n    ```\n\n## Own\n{{{y}}}",
    *("<!-- fixed -->\n{{{x}}}", "{{{x}}}\n\n<div>\n{{{y}}}\n</div>\n\nEnd.", '<notes kind="{{x}}">{{{y}}}</notes>'),
)
LAYOUTS = st.fixed_dictionaries(
    {
        "heading": st.sampled_from(["# {{title}}\n\n", "# {{title}}\n", "## {{title}}\n", "## {{title}}\n\n"]),
        "separator": st.sampled_from(["\n", "\n\n", "\n\n---\n\n"]),
        "escaping": st.sampled_from(["text", "names"]),
        "trim": st.booleans(),
    }
)


@cache
def opened(texts: tuple[str, ...], layout: str, whitespace: str) -> Engine:
    sections = [{"id": f"s{place}", "title": f"Text {place}", "text": text} for place, text in enumerate(texts)]
    spec: dict[str, Any] = {
        "agent": "a",
        "inputs": {"x": {"default": ""}, "y": {"default": ""}, "list": {"type": "list", "default": []}},
        "whitespace": whitespace,
        "layout": json.loads(layout),
        "sections": [*sections, {"id": "last", "text": "### Fixed\nBehind."}],
    }
    return opened_engine({"a.yaml": json.dumps(spec)})


@st.composite
def engines(draw: st.DrawFn) -> Engine:
    texts = tuple(draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3)))
    return opened(texts, json.dumps(draw(LAYOUTS)), draw(st.sampled_from(["keep", "compact", "paragraphs"])))


def said(engine: Engine, values: list[str], told: Callable[[str], str] = str) -> str:
    x, y, *entries = map(told, values)
    return engine.prepare_step(engine.prepare_call(Turn({"x": x, "y": y, "list": entries}, now=NOW))).system


@given(engine=engines(), values=st.lists(VALUES, min_size=4, max_size=4))
def test_hostile_values_leave_the_headings_that_harmless_ones_leave(engine: Engine, values: list[str]) -> None:
    hostile, plain = said(engine, values), said(engine, values, harmless)
    judge = Judge(plain)
    own = {rank for rank, _ in judge.headings(said(engine, ["word"] * len(values)))}
    found, expected = ([each for each in judge.headings(text) if each[0] in own] for text in (hostile, plain))

    assert found == expected, hostile
    assert judge.blocks_of(hostile, "Behind.") == judge.blocks_of(plain, "Behind."), hostile
