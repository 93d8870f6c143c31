"""What the model does in the examples: two messages of the user, with searches, parallel calls, and one that fails."""

from __future__ import annotations

from collections.abc import Sequence

from loopback_models.wire import Call

SCRIPT: Sequence[Sequence[Call]] = (
    [("tool_search", {"query": "create a page"}), ("tool_search", {"query": "list all pages"})],
    [("cms_createPage", {"title": "About us"}), ("cms_createPage", {"title": "Team"})],
    [("cms_listPages", {})],
    [],
    [("tool_search", {"query": "delete a page"})],
    [("cms_deletePage", {"id": "page-2"}), ("cms_deletePage", {"id": "page-9"})],
    [],
)
"""The tools that each answer calls, answer by answer; the user speaks after each that calls none."""

WORDS = ("Make pages about us and the team.", "Remove the page about the team again.")
"""What the user says."""
