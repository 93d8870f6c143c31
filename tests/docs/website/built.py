"""The built site: every link and anchor leads somewhere in it, and nothing is loaded from elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from posixpath import dirname, join, normpath
from urllib.parse import unquote

_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "audio": "src", "video": "src"}
_ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
_IN_STYLES = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')\s]+)""", re.IGNORECASE)


@dataclass
class _Seen(HTMLParser):
    """What a page loads, links to, and offers as anchors, each with its line."""

    loads: list[tuple[int, str]] = field(default_factory=list)
    leads: list[tuple[int, str]] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.leads.append((self.getpos()[0], values["href"]))
        if tag == "link" and values.get("rel") not in {"canonical", "next", "prev", "alternate"}:
            self.loads.append((self.getpos()[0], values.get("href", "")))
        if values.get(_LOADED.get(tag, "")):
            self.loads.append((self.getpos()[0], values[_LOADED[tag]]))
        self.loads += [(self.getpos()[0], found) for found in _IN_STYLES.findall(values.get("style", ""))]


def anchors(text: str) -> set[str]:
    """What a `#fragment` of a built page may name."""
    return _seen(text).anchors


def problems(site: Path) -> list[str]:
    """What is wrong with a built site, one line each, with file and line."""
    read = {path.relative_to(site).as_posix(): path.read_text("utf-8") for path in sorted(site.rglob("*.html"))}
    pages = {page: _seen(text) for page, text in read.items()}
    found = [line for page, seen in pages.items() for line in _wrong(page, seen, pages, site)]
    for style in sorted(site.rglob("*.css")):
        loaded = _IN_STYLES.findall(style.read_text(encoding="utf-8"))
        found += [f"{style.relative_to(site)}: loads {address} from the network" for address in loaded]
    return found


def _wrong(page: str, seen: _Seen, pages: dict[str, _Seen], site: Path) -> Iterator[str]:
    for line, address in seen.loads:
        if _ELSEWHERE.match(address):
            yield f"{page}:{line}: loads {address} from the network"
        elif not re.match(r"data:", address) and not (site / _path(page, address)).is_file():
            yield f"{page}:{line}: loads {address}, which is not in the site"
    for line, address in seen.leads:
        if not re.match(r"[a-z][a-z0-9+.-]*:|//", address, re.IGNORECASE):
            yield from _dead(page, line, address, pages, site)


def _dead(page: str, line: int, address: str, pages: dict[str, _Seen], site: Path) -> Iterator[str]:
    target = _path(page, address)
    anchor = unquote(address.partition("#")[2])
    if not (site / target).is_file():
        yield f"{page}:{line}: {address} leads to nothing"
    elif anchor and target in pages and anchor not in pages[target].anchors:
        yield f"{page}:{line}: {target} has no anchor #{anchor}"


def _path(page: str, address: str) -> str:
    name = unquote(re.split(r"[?#]", address, maxsplit=1)[0])
    if not name:
        return page
    if page == "404.html":  # shown by a server in place of any page, so it starts from the root of the site
        name = name.removeprefix("/")
    path = normpath(join(dirname(page), name))
    return join(path, "index.html") if name.endswith(("/", "/.")) or path == "." or name in {".", ".."} else path


def _seen(text: str) -> _Seen:
    seen = _Seen()
    seen.feed(text)
    return seen
