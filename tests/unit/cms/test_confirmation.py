from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from cms.seed import open_site
from cms.tools import TOOLS, call

if TYPE_CHECKING:
    from unit.cms.conftest import Site

DEEDS = [
    ("cms_publishPost", {"slug": "notes-from-the-coast-shoot"}),
    ("cms_archivePost", {"slug": "a-new-colleague-by-the-water"}),
    ("cms_deletePost", {"slug": "prices-for-2025"}),
    ("cms_deletePage", {"pageId": "page-1"}),
    ("cms_deletePageSection", {"pageSectionId": "sec-1"}),
    ("cms_deletePageSections", {"pageSectionIds": ["sec-1", "sec-2"]}),
    ("cms_deleteImage", {"imageId": "img-1"}),
]


def test_every_tool_with_a_flag_is_tried_here() -> None:
    assert {name for name, tool in TOOLS.items() if tool.asks_first} == {tool for tool, _ in DEEDS}


@pytest.mark.parametrize(("tool", "arguments"), DEEDS)
def test_an_irreversible_action_takes_a_question_and_a_yes(site: Site, tool: str, arguments: dict[str, object]) -> None:
    unasked = site.refuse(tool, **arguments, confirmed=True)
    done = site.use_and_confirm(tool, **arguments)

    assert unasked.kind == "validation"
    assert "without `confirmed`" in unasked.suggestion
    assert done["success"] is True


def test_a_yes_is_good_for_one_action(site: Site) -> None:
    slug = "notes-from-the-coast-shoot"
    site.use_and_confirm("cms_publishPost", slug=slug)
    site.use_and_confirm("cms_archivePost", slug=slug)

    assert site.refuse("cms_publishPost", slug=slug, confirmed=True).kind == "validation"


def test_a_yes_is_good_for_what_was_asked_only(site: Site) -> None:
    site.use("cms_deletePage", pageId="page-1")
    site.use("cms_deletePageSection", pageSectionId="sec-4")

    assert site.refuse("cms_deletePage", pageId="page-2", confirmed=True).kind == "validation"
    assert site.refuse("cms_deletePageSections", pageSectionIds=["sec-4"], confirmed=True).kind == "validation"


def test_a_yes_is_void_when_the_question_would_read_differently_by_now(site: Site) -> None:
    site.use("cms_deletePage", pageId="page-3")
    site.use("cms_addPageSection", pageId="page-3", definitionId="hero", content={"heading": "Precious"})

    error = site.refuse("cms_deletePage", pageId="page-3", confirmed=True)

    assert error.kind == "validation"
    assert "changed" in error.message
    assert site.use_and_confirm("cms_deletePage", pageId="page-3")["success"] is True


def test_several_sections_may_be_confirmed_in_any_order(site: Site) -> None:
    message = site.use("cms_deletePageSections", pageSectionIds=["sec-1", "sec-2"])["message"]

    assert "Hero (sec-1), Text block (sec-2)" in message
    assert site.refuse("cms_deletePageSections", pageSectionIds=["sec-1", "sec-3"], confirmed=True).kind == "validation"
    assert site.use("cms_deletePageSections", pageSectionIds=["sec-2", "sec-1"], confirmed=True)["success"] is True


def test_a_question_outlives_the_process_that_asked(site: Site) -> None:
    site.use("cms_deletePage", pageId="page-1")
    with closing(open_site(site.folder, clock=site.db.clock)) as reopened:
        done = call(reopened, "cms_deletePage", {"pageId": "page-1", "confirmed": True})

    assert done["success"] is True
