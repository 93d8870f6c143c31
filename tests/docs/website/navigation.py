"""The site's navigation: the headings of docs/README.md, and the pages linked below each.

A linked `README.md` of a folder below `docs` brings the pages that it links to from its own folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath

from docs.website.markdown import links, title

INDEX = "docs/README.md"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the navigation.

    Attributes:
        title: what readers see.
        page: a path in the repository; empty for a heading.
        below: the entries under it.
    """

    title: str
    page: str = ""
    below: Sequence[Entry] = ()

    def pages(self) -> Iterator[str]:
        """Its own page, and those below."""
        if self.page:
            yield self.page
        for entry in self.below:
            yield from entry.pages()


def navigation(root: Path) -> list[Entry]:
    """One entry for the front page, then one for each second-level heading of the index."""
    text = (root / INDEX).read_text(encoding="utf-8")
    taken = {INDEX}
    entries = [Entry("Home", INDEX)]
    for chapter in text.split("\n## ")[1:]:
        below = list(_linked(root, INDEX, chapter, taken))
        if below:
            entries.append(Entry(chapter.partition("\n")[0].strip(), below=below))
    return entries


def _linked(root: Path, page: str, text: str, taken: set[str], folder: str = "") -> Iterator[Entry]:
    for link in links(text):
        target = normpath(join(dirname(page), link.target.partition("#")[0]))
        if link.is_relative and target.endswith(".md") and target.startswith(folder) and target not in taken:
            taken.add(target)
            yield _entry(root, target, _text_before(text, link.start), taken)


def _entry(root: Path, page: str, written: str, taken: set[str]) -> Entry:
    path = root / page
    text = path.read_text(encoding="utf-8") if path.is_file() else ""  # the test of links reports what is missing
    shown = title(text) if written.endswith(".md") else written.replace("`", "")
    if not page.startswith("docs/") or not page.endswith("/README.md"):
        return Entry(shown, page)
    return Entry(shown, page, list(_linked(root, page, text, taken, dirname(page) + "/")))


def _text_before(text: str, start: int) -> str:
    """The text between the brackets of the link whose target begins at `start`."""
    return text[text.rindex("[", 0, start) + 1 : start - 2]
