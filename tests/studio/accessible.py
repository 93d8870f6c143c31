"""What axe finds on a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Page

COLOURS = ["color-contrast", "link-in-text-block"]
"""What alone depends on the theme; it takes two thirds of the time."""
UNSEEN = """(theme) => {
  window.looks ??= {light: new Map(), dark: new Map()}
  const changed = [...document.body.querySelectorAll("*")].filter((each) => {
    const style = getComputedStyle(each), look = [style.color, style.background, style.font].join()
    if (!each.checkVisibility({visibilityProperty: true}) || looks[theme].get(each) === look) return false
    looks[theme].set(each, look)
    return true
  })
  window.unseen = changed.filter((each) => !changed.includes(each.parentElement))
  return unseen.length
}"""
"""The elements that have not looked like this in a wider window, without those inside them."""


def seen_everywhere(page: Page) -> list[str]:
    """What is wrong with a page in either theme, in a large window, a small one and on a telephone."""
    found: list[str] = []
    page.evaluate("delete window.looks")
    shapes = {"rules": {each: {"enabled": False} for each in COLOURS}}
    colours = {"runOnly": {"type": "rule", "values": COLOURS}}
    for width in (1440, 900, 360):
        page.set_viewport_size({"width": width, "height": 900})
        found += [f"{width} {each}" for each in violations(page, shapes)]
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            if page.evaluate(UNSEEN, theme):
                found += [f"{width} {theme} {each}" for each in violations(page, colours, "{include: unseen}")]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{page.url} scrolls sideways at {width}")
    return found


def violations(page: Page, asked: Mapping[str, Any] | None = None, where: str = "document") -> list[str]:
    """Everything that keeps somebody from using this page, as axe knows it, or what it is asked for alone.

    The script is run from outside, so that the page's policy need not allow it.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    options = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}, **(asked or {})}
    found: dict[str, Any] = page.evaluate(f"async (options) => axe.run({where}, options)", options)
    return [
        f"{page.url}: {each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
