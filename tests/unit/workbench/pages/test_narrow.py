"""Every report that is a page, in a window of 400 px: nothing is cut off, tables have headers, the focus is seen."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from cuecard import Engine
from cuecard.workbench.field.command import page as field_page
from cuecard.workbench.replay.page import page as replay_page
from once import once
from unit.workbench.field.test_report import TALK, told
from unit.workbench.replay.small import advice, report
from unit.workbench.replay.test_page import NEEDS_BROWSER, look, probed

LONG = "find_every_page_of_the_site_that_was_changed_since_yesterday_and_is_not_published"
PROBE = """<script>
for (const each of document.querySelectorAll("details")) each.open = true;
const seen = (element) => {
  element.focus({focusVisible: true});
  const style = getComputedStyle(element);
  return document.activeElement === element && style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 1;
};
const stops = [...document.querySelectorAll("a[href], summary, [tabindex='0'], button, input")];
const tables = [...document.querySelectorAll("table")];
const hidden = (element) => {  // wider than what it stands in, and nobody can scroll there
  const box = element.getBoundingClientRect();
  let around = element.parentElement;
  while (around && getComputedStyle(around).overflowX === "visible") around = around.parentElement;
  return box.right > innerWidth + 1 && !(around && around !== document.body && around.scrollWidth > around.clientWidth);
};
parent.postMessage([name, JSON.stringify({
  width: innerWidth,
  scrolls: document.documentElement.scrollWidth,
  hidden: [...document.querySelectorAll("main *")].filter(hidden).map((each) => each.outerHTML.slice(0, 80)),
  tables: tables.length,
  headless: tables.filter((table) => !table.querySelector("thead th")).length,
  unscoped: [...document.querySelectorAll("th")].filter((each) => !each.scope).length,
  stops: stops.length,
  unseen: stops.filter((each) => !seen(each)).map((each) => each.outerHTML.slice(0, 80)),
  unreachable: tables.map((table) => table.parentElement)
    .filter((around) => around.scrollWidth > around.clientWidth + 1 && around.tabIndex < 0).length,
})], "*");
</script>"""

FRAMES = """<body><script>addEventListener("message", (told) => document.body.setAttribute(...told.data));</script>%s"""
FRAME = """<iframe name="data-%s" src="%s.html" style="width: 400px; height: 900px; border: 0"></iframe>"""
"""No window of a browser is as narrow as a telephone; a frame is."""


def _replayed() -> str:
    named = replace(report(), transcript=f"/srv/{'recordings-of-this-host/' * 12}{LONG}.jsonl")
    return replay_page(named, advice())


def _field() -> str:
    odd = [[{"tool": "tool_search", "arguments": {"query": LONG.replace("_", " ")}, "result": {"tools": [LONG]}}]]
    return field_page(told(Engine.open("prompts/cms"), TALK, odd))


REPORTS = {"replay": _replayed, "tools report": _field}


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A page with a frame of each report, on which each has noted what can be seen of it."""
    return (once(tmp_path_factory, "narrow", _show) / "shown.html").read_text(encoding="utf-8")


def _show(folder: Path) -> None:
    names = {kind: kind.replace(" ", "-") for kind in REPORTS}
    for kind, name in names.items():
        (folder / f"{name}.html").write_text(probed(REPORTS[kind](), PROBE), encoding="utf-8")
    frames = "".join(FRAME % (name, name) for name in names.values())
    (folder / "frames.html").write_text(FRAMES % frames, encoding="utf-8")
    (folder / "shown.html").write_text(look("--dump-dom", folder / "frames.html"), encoding="utf-8")


@pytest.mark.repeats
@NEEDS_BROWSER
@pytest.mark.parametrize("kind", REPORTS)
def test_a_report_can_be_read_at_400_px_and_by_keyboard(kind: str, shown: str) -> None:
    (told,) = re.findall(rf'data-{kind.replace(" ", "-")}="([^"]*)"', shown)
    found = json.loads(html.unescape(told))

    assert found["width"] == 400
    assert found["scrolls"] <= 400
    assert found["tables"]
    assert found["stops"]
    left = ("hidden", "headless", "unscoped", "unseen", "unreachable")
    assert {name: found[name] for name in left if found[name]} == {}
