"""The sources of the site: the pages of docs, and whatever else of the repository they link to, as one folder.

A page outside of docs becomes a page under `repository/`, any other file a page that shows its text, and a folder a
list of its files. So the site is complete without a network, and the pages in docs keep the links that GitHub needs.
Searching the site finds pages of docs only.
"""

from __future__ import annotations

import html
import re
import shutil
from pathlib import Path
from posixpath import dirname, join, normpath, relpath

from docs.website.markdown import links

_NOT_SEARCHED = "---\nsearch:\n  exclude: true\n---\n\n"
_CELL = re.compile(r"(?<!`)`([^`\n]*\\\|[^`\n]*)`(?!`)")
"""Code with a bar that does not end the cell of a table: the site would show its backslash."""
_LANGUAGES = {".py": "python", ".yaml": "yaml", ".yml": "yaml", ".xml": "xml", ".json": "json", ".toml": "toml"}


class DeadLinkError(Exception):
    """A link that leads to nothing in the repository."""


def stage(root: Path, pages: list[str], folder: Path) -> list[str]:
    """Write the sources of the site into an empty folder.

    Args:
        root: the repository.
        pages: paths of pages in it; what they link to follows.
        folder: where the sources go.

    Returns:
        The paths of everything that the site shows, in the order in which links lead there.

    Raises:
        DeadLinkError: when a link leads to nothing.
    """
    waiting, seen = list(pages), dict.fromkeys(pages)
    while waiting:
        path = waiting.pop(0)
        place = folder / staged(path)
        place.parent.mkdir(parents=True, exist_ok=True)
        if _is_picture(path):
            shutil.copyfile(root / path, place)
            continue
        text, found = _with_links(path, _page(root, path), root)
        text = re.sub(r"^\|.*$", lambda row: _CELL.sub(_with_bars, row[0]), text, flags=re.MULTILINE)
        place.write_text(text if path.startswith("docs/") else _NOT_SEARCHED + text, encoding="utf-8")
        waiting += [each for each in found if each not in seen]
        seen |= dict.fromkeys(found)
    return list(seen)


def staged(path: str) -> str:
    """Where a file or folder of the repository stands in the sources of the site."""
    if path.startswith("docs/"):
        inner = path.removeprefix("docs/")
        return inner.removesuffix("README.md") + "index.md" if inner.endswith("README.md") else inner
    # Never `index.md`: the site would show the first one of a chapter in place of the chapter's heading.
    inner = join("repository", path)
    if inner.endswith("/README.md"):
        return f"{dirname(inner)}.md"
    return inner if path.endswith(".md") or _is_picture(path) else f"{inner}.md"


def _with_links(path: str, text: str, root: Path) -> tuple[str, list[str]]:
    """The page with its links as they lead within the site, and where they lead in the repository."""
    here, found, at, parts = dirname(staged(path)), [], 0, []
    base = path if (root / path).is_dir() else dirname(path)
    for link in links(text):
        name, hash_, anchor = link.target.partition("#")
        if not link.is_relative or not name:
            continue
        target = _target(normpath(join(base, name)), root)
        if not target:
            raise DeadLinkError(f"{path}:{link.line}: {link.target} leads to nothing")
        found.append(target)
        parts += [text[at : link.start], relpath(staged(target), here or "."), hash_, anchor]
        at = link.start + len(link.target)
    return "".join([*parts, text[at:]]), found


def _with_bars(code: re.Match[str]) -> str:
    shown = html.escape(code[1].replace("\\|", "|"), quote=False)
    return f"<code>{re.sub(r'[|*_]', lambda mark: f'&#{ord(mark[0])};', shown)}</code>"


def _target(path: str, root: Path) -> str:
    readme = join(path, "README.md")
    if (root / readme).is_file():
        return readme
    return path if (root / path).exists() else ""


def _page(root: Path, path: str) -> str:
    if (root / path).is_dir():
        names = sorted(f"{each.name}/" if each.is_dir() else each.name for each in (root / path).iterdir())
        rows = [
            f"- [{name}]({name})" if (root / path / name / "README.md").is_file() else f"- {name}" for name in names
        ]
        return f"# {path}\n\n" + "\n".join(rows) + "\n"
    text = (root / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return text
    return f"# {path}\n\n~~~~~{_LANGUAGES.get(Path(path).suffix, 'text')}\n{text}\n~~~~~\n"


def _is_picture(path: str) -> bool:
    return path.endswith((".svg", ".png", ".webp"))
