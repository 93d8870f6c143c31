"""What axe finds on a page."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page


def violations(page: Page) -> list[str]:
    """Everything that keeps somebody from using this page, as axe knows it.

    The script is run from outside, so that the page's policy need not allow it.
    """
    page.evaluate(_axe())
    found: dict[str, Any] = page.evaluate("async () => axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{page.url}: {each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


@cache
def _axe() -> str:
    return (files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
