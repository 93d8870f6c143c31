"""What axe finds on a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from playwright.sync_api import Page

COLOURS = {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}
"""What alone can differ between two themes."""


def seen_everywhere(page: Page) -> list[str]:
    """What is wrong with a page in either theme, on a telephone, a small window and a large one."""
    found: list[str] = []
    for width in (360, 900, 1440):
        page.set_viewport_size({"width": width, "height": 900})
        for theme in ("light", "dark"):
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            found += [f"{width} {theme} {each}" for each in violations(page, COLOURS if theme == "dark" else {})]
        if page.evaluate("document.documentElement.scrollWidth > innerWidth"):
            found.append(f"{page.url} scrolls sideways at {width}")
    return found


def violations(page: Page, asked: Mapping[str, Any] | None = None) -> list[str]:
    """Everything that keeps somebody from using this page, as axe knows it, or what it is asked for alone.

    The script is run from outside, so that the page's policy need not allow it.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(_axe())
    options = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}, **(asked or {})}
    found: dict[str, Any] = page.evaluate("async (options) => axe.run(document, options)", options)
    return [
        f"{page.url}: {each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
