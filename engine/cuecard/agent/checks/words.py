"""Checks the engine's own words against the layout of an agent, since they are printed as data."""

from __future__ import annotations

from collections.abc import Iterator

from cuecard.config.documents.yaml_text import Document, Path
from cuecard.config.words_spec import WordsSpec
from cuecard.errors import Problem
from cuecard.template.guards.layout_guard import LayoutGuard, guard_layout


def check_words(document: Document, words: WordsSpec, guard: LayoutGuard | None) -> Iterator[Problem]:
    """An error for each line of the working memory that looks like a layout mark, which data must not imitate."""
    for path, text in _lines(words) if guard else ():
        if guard and path in document.values and guard_layout(text, guard)[0] != text:
            message = f"`{'.'.join(map(str, path))}` looks like a heading or separator of the layout"
            hint = "the working memory is printed as data: put the heading into `title:` of its section"
            yield document.problem(path, "wrong-value", message, hint)


def _lines(words: WordsSpec) -> Iterator[tuple[Path, str]]:
    for key, text in words.texts.items():
        if key.startswith("memory.") and key != "memory.unnamed":
            yield ("words", *key.split(".", 2)), text
