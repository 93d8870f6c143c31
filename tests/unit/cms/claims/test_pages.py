"""What the instructions of the page tools say, tried."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from collections.abc import Callable

    from unit.cms.conftest import Site

CONFIRMED = "Needs confirmed:true, after a yes."


@holds("cms_createPage", "Slugs are unique, lower-case with hyphens.", "If taken, propose a variant (about-2).")
@holds("cms_createPage", "cms_listPages to see that the slug is free")
def test_a_slug_is_unique_and_a_variant_of_a_taken_one_is_free(site: Site) -> None:
    taken = {page["slug"] for page in site.use("cms_listPages")["data"]}
    refused = site.refuse("cms_createPage", title="Contact", slug="contact")

    assert "contact" in taken
    assert list(refused.options) == ["contact-2"]
    for wrong in ("About-Us", "about us", "about_us", "über"):
        assert site.refuse("cms_createPage", title="X", slug=wrong).kind == "validation"
    assert site.use("cms_createPage", title="Contact", slug="contact-2")["page"]["slug"] == "contact-2"


@holds("cms_createPage", "Create an empty page")
@holds("cms_createPage", "Create an empty page.")
@holds("cms_createPage", "The page is empty and in no menu.", "cms_addPageSection, cms_addNavigationItem")
def test_a_new_page_is_empty_and_in_no_menu(site: Site) -> None:
    menu = site.use("cms_getNavigation")
    page = site.use("cms_createPage", title="About", slug="about")["page"]

    assert page["sections"] == []
    assert site.use("cms_getNavigation") == menu
    site.use("cms_addPageSection", pageId=page["id"], definitionId="hero", content={"heading": "About"})
    site.use("cms_addNavigationItem", label="About", href="/pages/about?locale=en", location="header")


@holds("cms_createPageWithContent", "Create a page together with filled sections")
@holds("cms_createPageWithContent", "Create a page together with its sections and their content, all or nothing.")
@holds(
    "cms_createPageWithContent",
    "All or nothing: sections is a list of {definitionId, content}, top to bottom, with the exact keys and every "
    "required field.",
    "cms_listSectionDefinitions for ids, cms_getSectionFields for the keys",
    "List the sections made",
    "cms_updateSectionImage, cms_addNavigationItem",
)
def test_a_page_with_content_is_made_whole_or_not_at_all(site: Site) -> None:
    ids = [definition["id"] for definition in site.use("cms_listSectionDefinitions")["data"]]
    keys = {field["key"] for field in site.use("cms_getSectionFields", id="hero")["elementsStructure"]}
    filled = {"heading": "Hi"}
    good = {"definitionId": "hero", "content": filled}

    assert "hero" in ids
    assert filled.keys() <= keys
    for bad in ({"Heading": "Hi"}, {"subheading": "only"}, {"heading": ""}):
        site.refuse(
            "cms_createPageWithContent",
            title="A",
            slug="a",
            sections=[good, {"definitionId": "hero", "content": bad}],
        )
    text = {"definitionId": "text-block", "content": {"body": "Text"}}
    page = site.use("cms_createPageWithContent", title="A", slug="a", sections=[text, good])["page"]

    assert [section["definitionId"] for section in page["sections"]] == ["text-block", "hero"]


@holds("cms_getPage", "Read one page, light or with all content")
@holds("cms_getPage", "Slug or id from memory, else cms_findResource", "keep the section ids")
@holds("cms_getPage", "cms_getSectionContent (one section), cms_updatePage", "Default is metadata and section ids.")
def test_a_page_is_read_by_slug_or_id_as_metadata_and_section_ids(site: Site) -> None:
    match = site.use("cms_findResource", query="Services", type="page")["matches"][0]
    page = site.use("cms_getPage", pageId=match["id"])

    assert page == site.use("cms_getPage", slug=match["slug"])
    assert all(section.keys() == {"id", "definitionId"} for section in page["sections"])
    assert site.use("cms_getSectionContent", pageSectionId=page["sections"][0]["id"])["content"]


@holds("cms_getSectionContent", "Read the content of one section")
@holds(
    "cms_getPage",
    "Get a page by its slug or id: its title and the ids of its sections, or everything on it with includeContent.",
)
@holds("cms_getSectionContent", "Read the content of one section of a page.")
@holds("cms_getPage", "Ask for includeContent:true only to show, copy or rewrite the whole page")
@holds("cms_getPage", "the light form saves 40 to 96 % of its tokens.")
@holds("cms_getSectionContent", "The cheap way to read")
@holds("cms_getSectionContent", "for all sections at once use cms_getPage with includeContent:true.")
@pytest.mark.parametrize("slug", ["home", "services", "contact"])
def test_reading_lightly_costs_a_fraction(site: Site, count: Callable[[object], int], slug: str) -> None:
    light, full = (site.use("cms_getPage", slug=slug, includeContent=whole) for whole in (False, True))
    sections = [site.use("cms_getSectionContent", pageSectionId=s["id"]) for s in light["sections"]]

    assert full["sections"] == sections
    assert 0.40 <= 1 - count(light) / count(full) <= 0.96
    assert all(count(section) < 0.5 * count(full) for section in sections)


@holds("cms_listPages", "Show titles and slugs, not ids", "cms_getPage", "Pages only", "posts come from cms_listPosts.")
def test_the_list_of_pages_holds_pages_only(site: Site) -> None:
    listed = site.use("cms_listPages")["data"]

    assert [page["title"] for page in listed] == ["Home", "Services", "Contact"]
    assert {page["type"] for page in listed} == {"page"}
    assert {post["type"] for post in site.use("cms_listPosts")["posts"]} == {"post"}
    assert all(site.use("cms_getPage", slug=page["slug"])["id"] == page["id"] for page in listed)


@holds("cms_updatePage", "Tells which navigation items still use an old slug.")
@holds("cms_updatePage", "cms_getPage for the current values", "Show old and new value")
@holds("cms_updatePage", "cms_updateNavigationItem for each label in staleNavigation")
@holds("cms_updatePage", "Menu links do NOT follow a new slug or title.")
@holds("cms_updatePage", "Texts on the page are sections, cms_updateSectionContent.")
def test_menu_links_stay_behind_and_are_named(site: Site) -> None:
    old, menu = site.use("cms_getPage", slug="services"), site.use("cms_getNavigation")
    done = site.use("cms_updatePage", pageId=old["id"], slug="work", title="Work")

    assert (old["slug"], done["page"]["slug"]) == ("services", "work")
    assert site.use("cms_getNavigation") == menu
    assert site.use("cms_getSectionContent", pageSectionId="sec-4")["content"]["heading"] == "Services"
    for label in done["staleNavigation"]:
        site.use("cms_updateNavigationItem", label=label, newHref="/pages/work?locale=en")
    assert done["staleNavigation"] == ["Services"]
    assert site.use("cms_getSiteOverview")["deadLinks"] == []


@holds("cms_duplicatePage", "Copy a page with all its sections")
@holds("cms_duplicatePage", "Copy a page with all its sections, under another title and slug.")
@holds("cms_duplicatePage", 'Ask for title and slug, or it becomes "(copy)" and -copy.')
@holds("cms_duplicatePage", "Its sections have new ids", "the old ones still change the original.")
@holds("cms_duplicatePage", "Give title and slug of the copy", "cms_updateSectionContent, cms_addNavigationItem")
def test_a_copy_has_a_name_of_its_own_and_new_section_ids(site: Site) -> None:
    original = site.use("cms_getPage", slug="services")
    copy = site.use("cms_duplicatePage", pageId=original["id"])["page"]
    first = copy["sections"][0]["id"]
    site.use("cms_updateSectionContent", pageSectionId="sec-4", content={"heading": "Changed"})

    assert (copy["title"], copy["slug"]) == ("Services (copy)", "services-copy")
    assert not {s["id"] for s in copy["sections"]} & {s["id"] for s in original["sections"]}
    assert site.use("cms_getSectionContent", pageSectionId=first)["content"]["heading"] == "Services"
    named = site.use("cms_duplicatePage", pageId=original["id"], title="Work", slug="work")["page"]
    assert (named["title"], named["slug"]) == ("Work", "work")


@holds("cms_deletePage", "Delete a page and everything on it")
@holds(
    "cms_deletePage",
    "Delete a page and all its sections for good, after the user confirmed",
    "lists navigation items that lead to it.",
)
@holds("cms_deletePage", "Takes ALL its sections along, no undo.", CONFIRMED, "Say that page and sections are gone")
@holds("cms_deletePage", "cms_getPage to verify", "cms_getNavigation for links to it")
@holds("cms_deletePage", "cms_removeNavigationItem for each label in staleNavigation")
def test_a_deleted_page_takes_its_sections_along_and_names_its_links(site: Site) -> None:
    page = site.use("cms_getPage", slug="services")
    links = [item["label"] for item in site.use("cms_getNavigation")["data"] if "/services?" in item["href"]]
    done = site.use_and_confirm("cms_deletePage", pageId=page["id"])

    assert done["staleNavigation"] == links
    assert done["deletedSections"] == [section["id"] for section in page["sections"]]
    assert site.refuse("cms_getPage", slug="services").kind == "not_found"
    assert all(site.refuse("cms_getSectionContent", pageSectionId=id_) for id_ in done["deletedSections"])
    assert site.use("cms_getSiteOverview")["deadLinks"] == links
    for label in links:
        site.use("cms_removeNavigationItem", label=label)
    assert site.use("cms_getSiteOverview")["deadLinks"] == []


@holds("cms_findResource", "Lower scores are better.")
@holds("cms_findResource", "Lower score is better", "check type and name before you use an id.")
@holds("cms_findResource", "cms_getPage, cms_getSectionContent, cms_getPost")
def test_hits_have_type_and_name_and_what_the_next_tool_takes(site: Site) -> None:
    matches = site.use("cms_findResource", query="contact five questions")["matches"]
    by_type = {match["type"]: match for match in reversed(matches)}

    assert [match["score"] for match in matches] == sorted(match["score"] for match in matches)
    assert all(match["name"] for match in matches)
    site.use("cms_getPage", pageId=by_type["page"]["id"])
    site.use("cms_getSectionContent", pageSectionId=by_type["section"]["id"])
    site.use("cms_getPost", slug=by_type["post"]["slug"])


@holds("cms_findResource", "The way out of a not-found error.")
@pytest.mark.parametrize(("tool", "slug"), [("cms_getPage", "contakt"), ("cms_getPost", "five-questions")])
def test_a_not_found_error_leads_to_the_search(site: Site, tool: str, slug: str) -> None:
    error = site.refuse(tool, slug=slug)
    best = site.use("cms_findResource", query=slug)["matches"][0]

    assert (error.kind, "cms_findResource" in error.suggestion) == ("not_found", True)
    assert site.use(tool, slug=best["slug"])["id"] == best["id"]


@holds("cms_getSiteOverview", "Summarise the whole site")
@holds(
    "cms_getSiteOverview",
    "Get the whole site at a glance: its pages, how much there is of everything, and links that lead nowhere.",
)
@holds("cms_getSiteOverview", "Counts, names and dead menu links (deadLinks), no content.")
@holds("cms_getSiteOverview", "cms_getPage, cms_listPosts, cms_getNavigation")
def test_the_overview_contains_counts_and_names_and_no_content(site: Site) -> None:
    seen = site.use("cms_getSiteOverview")

    assert seen["counts"] == {"pages": 3, "sections": 8, "posts": 4, "images": 12}
    assert [page["title"] for page in seen["pages"]] == ["Home", "Services", "Contact"]
    assert seen["deadLinks"] == []
    assert "Design with a sea view" not in json.dumps(seen)
    site.use("cms_getPage", pageId=seen["pages"][0]["id"])
