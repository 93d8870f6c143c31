"""Builds the documentation as a static site that works without a network: `make docs`.

Zensical renders it; docs/site holds its configuration, style, navigation, and the addresses that have moved.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path
from posixpath import relpath

from docs.website.built import anchors, problems
from docs.website.llms import short, whole
from docs.website.navigation import Entry, navigation
from docs.website.staging import DeadLinkError, stage, staged

ROOT = Path(__file__).parents[3]
FIXED = ROOT / "docs" / "site"
WORK = ROOT / ".site"
SITE = WORK / "html"
SPLIT = ("api", "checks", "hosts", "settings")
"""Folders whose pages have parted or taken chapters over: an anchor may be asked of a page that has it no more."""
_LEADS_ON = """\
{
  const pages = %s;
  const has = pages[decodeURIComponent(location.hash.slice(1))] || [];
  const here = location.pathname.split("/").pop() || "index.html";
  if (has.length && !has.includes(here)) location.replace(has[0] + location.hash);
}
"""


def main() -> int:
    """Build and check the site; 1 when something is wrong with it."""
    shutil.rmtree(WORK, ignore_errors=True)
    entries = navigation(ROOT)
    try:
        stage(ROOT, _pages(entries), WORK / "pages")
    except DeadLinkError as error:
        return _failed([str(error)])
    shutil.copytree(FIXED, WORK / "pages", dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.toml"))
    written = (FIXED / "zensical.toml").read_text(encoding="utf-8")
    (WORK / "zensical.toml").write_text(written.replace("nav = []", f"nav = {_toml(entries)}"), encoding="utf-8")
    zensical = Path(sys.executable).parent / "zensical"
    built = subprocess.run([zensical, "build", "--strict"], cwd=WORK, capture_output=True, text=True, check=False)
    if built.returncode:
        return _failed([built.stdout, built.stderr])
    for page in (WORK / "pages").rglob("*.md"):
        if "repository" not in page.parts:
            shutil.copyfile(page, SITE / page.relative_to(WORK / "pages"))
    (SITE / "llms.txt").write_text(short(ROOT, entries), encoding="utf-8")
    (SITE / "llms-full.txt").write_text(whole(ROOT, entries), encoding="utf-8")
    redirect(SITE, tomllib.loads((FIXED / "moved.toml").read_text(encoding="utf-8")))
    for folder in SPLIT:
        lead_on(SITE / folder)
    return _failed(found) if (found := problems(SITE)) else _done()


def redirect(site: Path, moved: Mapping[str, str]) -> None:
    """A page at each address that is gone, which leads on: by a script to the anchor that is asked, if it is there."""
    for old, new in moved.items():
        target, has_anchor, _ = new.partition("#")
        page, leads = site / old, relpath(new, Path(old).parent.as_posix())
        found = anchors((site / target).read_text(encoding="utf-8")) if has_anchor else ()
        known = sorted(each for each in found if not each.startswith("__"))
        asked = f"{json.dumps(known)}.includes(location.hash.slice(1))" if known else "true"
        to = json.dumps(relpath(target, Path(old).parent.as_posix()))
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(
            '<!doctype html><meta charset="utf-8"><title>Moved</title>'
            f"<script>location.replace({asked} ? {to} + location.hash : {json.dumps(leads)})</script>"
            f'<meta http-equiv="refresh" content="0; url={leads}">'
            f'<p>This page has <a href="{leads}">moved</a>.</p>\n',
            encoding="utf-8",
        )


def lead_on(folder: Path) -> None:
    """An anchor that a page has no more leads to the page beside it that has it."""
    pages: dict[str, list[str]] = {}
    for page in sorted(folder.glob("*.html")):
        text = page.read_text(encoding="utf-8")
        for anchor in sorted(each for each in anchors(text) if not each.startswith("__")):
            pages.setdefault(anchor, []).append(page.name)
        page.write_text(text.replace("</head>", '<script src="anchors.js"></script></head>', 1), encoding="utf-8")
    (folder / "anchors.js").write_text(_LEADS_ON % json.dumps(pages), encoding="utf-8")


def _pages(entries: list[Entry]) -> list[str]:
    return [page for entry in entries for page in entry.pages()]


def _toml(entries: list[Entry]) -> str:
    return f"[{', '.join(_toml_of(entry) for entry in entries)}]"


def _toml_of(entry: Entry) -> str:
    place = json.dumps(staged(entry.page)) if entry.page else ""
    if not entry.below:
        return f"{{{json.dumps(entry.title)} = {place}}}"
    below = [place] if place else []
    below += [_toml_of(each) for each in entry.below]
    return f"{{{json.dumps(entry.title)} = [{', '.join(below)}]}}"


def _failed(lines: list[str]) -> int:
    sys.stderr.write("".join(f"{line.rstrip()}\n" for line in lines))
    sys.stderr.write("make docs: the site is not in order; nothing was published\n")
    return 1


def _done() -> int:
    pages = len(list(SITE.rglob("*.html")))
    sys.stdout.write(f"{pages} pages: open {relpath(SITE / 'index.html', ROOT)} in a browser\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
