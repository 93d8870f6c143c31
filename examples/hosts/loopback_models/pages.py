"""Three tools of the CMS assistant as functions, over pages that live as long as the program."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

AGENT = Path(__file__).parents[3] / "prompts" / "cms"
"""The agent whose tools they are."""


def page_functions() -> dict[str, Callable[..., Any]]:
    """Functions over pages of their own, by the names that the agent's files give their tools."""
    pages: dict[str, dict[str, str]] = {}

    def create_page(title: str) -> dict[str, Any]:
        page = {"id": f"page-{len(pages) + 1}", "title": title, "slug": re.sub(r"\W+", "-", title.lower())}
        pages[page["id"]] = page
        return {"success": True, "page": page}

    def list_pages() -> list[dict[str, str]]:
        return list(pages.values())

    def delete_page(id: str) -> dict[str, Any]:  # noqa: A002 - arguments are named as the model calls them
        page = pages.pop(id, None)
        if page is None:
            raise LookupError(f"there is no page {id}")
        return {"success": True, "deleted": {"id": id, "title": page["title"]}}

    return {"cms_createPage": create_page, "cms_listPages": list_pages, "cms_deletePage": delete_page}
