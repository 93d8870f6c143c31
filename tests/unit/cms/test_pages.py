from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from unit.cms.conftest import Site

ABOUT = {
    "title": "About Us",
    "slug": "about",
    "sections": [
        {"definitionId": "hero", "content": {"heading": "About Us"}},
        {"definitionId": "text-block", "content": {"body": "We are *five*."}},
    ],
}


def test_a_page_is_created_empty(site: Site) -> None:
    made = site.use("cms_createPage", title="About Us")

    assert made["success"] is True
    assert made["page"] == {
        "id": "page-4",
        "type": "page",
        "title": "About Us",
        "slug": "about-us",
        "description": "",
        "createdAt": made["page"]["createdAt"],
        "updatedAt": made["page"]["createdAt"],
        "sections": [],
    }


def test_a_page_is_created_with_its_content(site: Site) -> None:
    page = site.use("cms_createPageWithContent", **ABOUT)["page"]
    whole = site.use("cms_getPage", slug="about", includeContent=True)

    assert page["sections"] == [{"id": "sec-9", "definitionId": "hero"}, {"id": "sec-10", "definitionId": "text-block"}]
    assert [section["content"] for section in whole["sections"]] == [
        {"heading": "About Us"},
        {"body": "We are *five*."},
    ]


@pytest.mark.parametrize(
    ("section", "kind"),
    [
        ({"definitionId": "heros", "content": {"heading": "x"}}, "reference"),
        ({"definitionId": "hero", "content": {"headline": "x"}}, "reference"),
        ({"definitionId": "hero", "content": {}}, "validation"),
        ({"definitionId": "hero"}, "validation"),
        ({"definitionId": "hero", "content": "x"}, "validation"),
        ({"definition": "hero", "content": {"heading": "x"}}, "validation"),
        ({"definitionId": "hero", "content": {"heading": "x"}, "position": 1}, "validation"),
    ],
)
def test_one_wrong_section_and_there_is_no_page(site: Site, section: dict[str, object], kind: str) -> None:
    error = site.refuse("cms_createPageWithContent", title="New", slug="new", sections=[*ABOUT["sections"], section])

    assert error.kind == kind


def test_a_taken_slug_is_refused_with_a_free_one(site: Site) -> None:
    error = site.refuse("cms_createPage", title="Services")

    assert (error.kind, error.options) == ("constraint", ("services-2",))
    assert "`services-2`" in error.suggestion


def test_a_page_and_a_post_may_share_a_slug(site: Site) -> None:
    assert site.use("cms_createPost", title="Services")["post"]["slug"] == "services"


def test_a_page_is_read_light_by_default(site: Site) -> None:
    light = site.use("cms_getPage", slug="home")

    assert light["sections"] == [
        {"id": "sec-1", "definitionId": "hero"},
        {"id": "sec-2", "definitionId": "text-block"},
        {"id": "sec-3", "definitionId": "cta"},
    ]
    assert site.use("cms_getPage", pageId="page-1") == light


def test_a_page_is_named_by_slug_or_by_id_but_not_by_both(site: Site) -> None:
    assert site.refuse("cms_getPage").kind == "validation"
    assert site.refuse("cms_getPage", slug="home", pageId="page-1").kind == "validation"


def test_an_unknown_slug_is_not_found_and_an_unknown_id_is_a_reference_error(site: Site) -> None:
    by_slug = site.refuse("cms_getPage", slug="contacts")
    by_title = site.refuse("cms_getPage", slug="Servces")
    by_id = site.refuse("cms_getPage", pageId="contact")

    assert (by_slug.kind, by_slug.options) == ("not_found", ("contact",))
    assert by_title.options == ("services",)
    assert (by_id.kind, by_id.options) == ("reference", ("page-3", "page-1", "page-2"))


def test_pages_are_listed_with_the_number_of_their_sections(site: Site) -> None:
    rows = site.use("cms_listPages")["data"]

    assert [(row["id"], row["slug"], row["sectionCount"]) for row in rows] == [
        ("page-1", "home", 3),
        ("page-2", "services", 3),
        ("page-3", "contact", 2),
    ]


def test_a_renamed_page_tells_which_navigation_items_are_stale(site: Site) -> None:
    renamed = site.use("cms_updatePage", pageId="page-2", title="What we do", slug="what-we-do")
    described = site.use("cms_updatePage", pageId="page-2", description="All of it.")

    assert (renamed["page"]["title"], renamed["page"]["slug"]) == ("What we do", "what-we-do")
    assert renamed["staleNavigation"] == ["Services"]
    assert described["page"]["description"] == "All of it."
    assert "staleNavigation" not in described


def test_a_page_takes_no_slug_of_another_and_no_empty_update(site: Site) -> None:
    assert site.refuse("cms_updatePage", pageId="page-2", slug="home").options == ("home-2",)
    assert site.refuse("cms_updatePage", pageId="page-2").kind == "validation"
    assert site.refuse("cms_updatePage", pageId="page-2", title=" ").kind == "validation"
    assert site.use("cms_updatePage", pageId="page-2", slug="services")["page"]["slug"] == "services"


def test_a_copy_has_its_own_sections_with_the_same_content(site: Site) -> None:
    copy = site.use("cms_duplicatePage", pageId="page-2")["page"]
    original = site.use("cms_getPage", pageId="page-2", includeContent=True)
    copied = site.use("cms_getPage", pageId=copy["id"], includeContent=True)

    assert (copy["title"], copy["slug"]) == ("Services (copy)", "services-copy")
    assert [s["content"] for s in copied["sections"]] == [s["content"] for s in original["sections"]]
    assert not {s["id"] for s in copied["sections"]} & {s["id"] for s in original["sections"]}
    assert site.use("cms_duplicatePage", pageId="page-2")["page"]["slug"] == "services-copy-2"
    assert site.use("cms_duplicatePage", pageId="page-2", title="Work", slug="work")["page"]["title"] == "Work"
    assert site.refuse("cms_duplicatePage", pageId="page-2", slug="work").kind == "constraint"


def test_a_page_with_a_dead_link_can_still_be_copied(site: Site) -> None:
    site.use_and_confirm("cms_deletePage", pageId="page-2")

    copy = site.use("cms_duplicatePage", pageId="page-1")["page"]

    hero = site.use("cms_getSectionContent", pageSectionId=copy["sections"][0]["id"])
    assert hero["content"]["cta"] == "/pages/services?locale=en"


def test_deleting_a_page_takes_its_sections_along_and_nothing_else(site: Site) -> None:
    asked = site.use("cms_deletePage", pageId="page-2")
    done = site.use("cms_deletePage", pageId="page-2", confirmed=True)
    after = site.content()

    assert asked["message"].startswith('Delete the page "Services" (page-2) with 3 sections?')
    assert "Services" in asked["message"].split("?")[1]
    gone = {"deleted": ["page-2"], "deletedSections": ["sec-4", "sec-5", "sec-6"]}
    assert done == {"success": True, **gone, "staleNavigation": ["Services"]}
    assert list(after["pages"]) == ["page-1", "page-3"]
    assert {section["pageId"] for section in after["sections"].values()} == {"page-1", "page-3"}
    assert len(after["images"]) == 12
    assert site.db.rows("SELECT * FROM section_images WHERE sectionId IN ('sec-4', 'sec-6')") == []


def test_an_id_is_never_given_twice(site: Site) -> None:
    site.use_and_confirm("cms_deletePage", pageId="page-3")

    assert site.use("cms_createPage", title="Contact")["page"]["id"] == "page-4"
