"""The site's navigation, as docs/site/navigation.toml has it.

The `README.md` of a folder brings the pages that it links to from its own folder.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from posixpath import dirname, join, normpath

from docs.website.markdown import links, title

NAVIGATION = "docs/site/navigation.toml"


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
    """The groups, each with its pages."""
    groups = tomllib.loads((root / NAVIGATION).read_text(encoding="utf-8"))
    return [
        Entry(group, below=[_entry(root, shown, f"docs/{page}") for shown, page in pages.items()])
        for group, pages in groups.items()
    ]


def _entry(root: Path, shown: str, page: str) -> Entry:
    if page == "docs/README.md" or not page.endswith("/README.md"):
        return Entry(shown, page)
    return Entry(shown, page, list(_of_folder(root, page)))


def _of_folder(root: Path, page: str) -> Iterator[Entry]:
    found: set[str] = set()
    for link in links((root / page).read_text(encoding="utf-8")):
        target = normpath(join(dirname(page), link.target.partition("#")[0]))
        inside = link.is_relative and dirname(target) == dirname(page) and target.endswith(".md")
        if inside and target not in {page, *found} and (root / target).is_file():  # the test of links reports others
            found.add(target)
            yield Entry(title((root / target).read_text(encoding="utf-8")), target)
