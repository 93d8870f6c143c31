"""Promise 3 with a judge of its own: a CommonMark reader finds the author's headings, whatever the values say."""

from __future__ import annotations

import json
import os
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from cuecard import Engine, Turn

ATOMS = [
    *(
        "a",
        "x",
        "\n",
        "\n\n",
        "\r",
        "\r\n",
        "\u2028",
        " ",
        "   ",
        "    ",
        "\t",
        "\u00a0",
        "\ufeff",
        "\\",
        "|",
        "| a |\n|--|",
    ),
    *(
        "#",
        "##",
        "## T",
        "    # q",
        "=",
        "===",
        "-",
        "---",
        "***",
        "- ",
        "* ",
        "+ ",
        "1. ",
        "10) ",
        ">",
        "> ",
        "[a]: /u",
    ),
    *("`", "``", "```", "````", "\n```", "\n  ```", "~", "~~~", "\n  ~~~\n"),
    *(
        "<!--",
        "-->",
        "<?",
        "?>",
        "<!X",
        "<![CDATA[",
        "]]>",
        "<pre >",
        "<script",
        "<div>",
        "</div>",
        "<b>",
        "&lt;",
        "&#10;",
    ),
]
TEXTS = [
    *("{{{x}}}", "{{{x}}}{{{y}}}", "{{{x}}} {{{y}}}\n\n  {{{x}}}", "{{{x}}}\n{{{y}}}", "{{x}}\n{{{y}}}", "A {{{x}}} b"),
    *("- {{{x}}}\n- z", "- z\n  {{{x}}}", "1. {{{x}}}", "> {{{x}}}", "**{{{x}}}**: {{{y}}}", "`{{{x}}}`"),
    *("## Own\n{{{x}}}", "{{{x}}}\n## Own\nb", "{{{x}}}\n\n## Own\nb", "{{#each l}}- {{{this}}}\n{{/each}}"),
    *("```\n{{{x}}}\n```", "~~~py\n{{{x}}}\n~~~\nend", "```{{{x}}}\ncode\n```"),
    *("1. r:\n   ```\n   {{{x}}}\n   ```\n2. z", "- ```sh\n  {{{x}}}\n  ```\n{{{y}}}"),
    "10. ```\n    {{{x}}}\n    ```\n\n## Own\n{{{y}}}",
]
VALUES = st.lists(st.sampled_from(ATOMS), min_size=1, max_size=8).map("".join)
HARMLESS: dict[str, Any] = {"x": "harm", "y": "harm", "l": ["harm", "harm"]}
EXAMPLES = int(os.environ.get("CUECARD_COMMONMARK", "150"))
READER = MarkdownIt("commonmark")


@cache
def engine(
    heading: str, separator: str, whitespace: str, escaping: str, texts: tuple[str, ...], *, trim: bool
) -> Engine:
    agent = {
        "agent": "judged",
        "whitespace": whitespace,
        "inputs": {"x": {"type": "string"}, "y": {"type": "string"}, "l": {"type": "list"}},
        "layout": {"heading": heading, "separator": separator, "trim": trim, "escaping": escaping},
        "sections": [{"id": f"s{n}", "title": f"T{n}", "text": text} for n, text in enumerate(texts)],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agent.yaml")
        path.write_text(json.dumps(agent), encoding="utf-8")
        return Engine.open(path)


def said(opened: Engine, inputs: dict[str, Any]) -> str:
    return opened.prepare_step(opened.prepare_call(Turn(inputs=inputs))).system


def headings(prompt: str, rank: str) -> list[str]:
    """The headings of a rank that stand in no list and in no quotation."""
    tokens = READER.parse(prompt)
    opening = [at for at, token in enumerate(tokens) if token.type == "heading_open" and token.level == 0]
    return [tokens[at + 1].content for at in opening if tokens[at].tag == rank]


@st.composite
def engines(draw: st.DrawFn) -> Engine:
    return engine(
        draw(st.sampled_from(["## {{title}}\n", "## {{title}}\n\n"])),
        draw(st.sampled_from(["\n", "\n\n", "\n\n---\n\n"])),
        draw(st.sampled_from(["keep", "compact", "paragraphs"])),
        draw(st.sampled_from(["text", "names"])),
        tuple(draw(st.lists(st.sampled_from(TEXTS), min_size=1, max_size=3))),
        trim=draw(st.booleans()),
    )


@settings(max_examples=EXAMPLES)
@given(opened=engines(), x=VALUES, y=VALUES, entries=st.lists(VALUES, min_size=2, max_size=2))
def test_a_commonmark_reader_finds_the_headings_of_authors_and_no_others(
    opened: Engine, x: str, y: str, entries: list[str]
) -> None:
    assume(all(value.strip(" \t\r\n\ufeff\u2028\u00a0") for value in (x, y, *entries)))

    prompt = said(opened, {"x": x, "y": y, "l": entries})

    assert headings(prompt, "h2") == headings(said(opened, HARMLESS), "h2"), prompt
