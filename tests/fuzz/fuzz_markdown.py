"""Any text stands in the Markdown of a pull request as what it is: it opens, ends and mentions nothing."""

from __future__ import annotations

import re

from cuecard.workbench.diff.markdown import CommentText, code, fenced, row

PIECES = (
    *("`", "```", "````", "~~~", "|", "\n", "\r", "<", "</code>", "<details>", "&#124;", "&", "@all", "#1", "\\", "*"),
    *("_", "[a](b)", "!", "http://x.y", "\0", "\x1b[2J", "\u202e", "\u2028", "<!--", "-->", "    ", "é"),
)
PHRASES = ("```diff\n+ a\n```\n", "| a | b |\n", "<details><summary>x</summary>\n", "@@ -1 +1 @@\n", "+ a\n", "- b\n")
MOST = 60
_INLINE = re.compile(r"<code>(?:[A-Za-z0-9 ./,+-]|&#\d+;)*</code>")


def target(data: bytes) -> None:
    """Write one input as code in a line, as a block, and as rows."""
    text = data.decode("utf-8", "surrogateescape")
    inline = code(text, MOST)
    assert _INLINE.fullmatch(inline), inline
    block = fenced(text.split("\n"), "diff")
    opened = re.match("`+", block)
    assert opened
    assert opened.group() not in text
    body = CommentText(len(text))
    body.take_rows([row([inline])] * 3, spare=0, what="turns")
    assert body.text.count("\n") <= len(text) + MOST
