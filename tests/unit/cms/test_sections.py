from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def order(site: Site, page: str) -> list[str]:
    rows = site.use("cms_getPageSections", pageId=page)["data"]

    assert [row["position"] for row in rows] == list(range(len(rows)))
    return [row["id"] for row in rows]


def content(site: Site, section: str) -> dict[str, object]:
    found: dict[str, object] = site.use("cms_getSectionContent", pageSectionId=section)["content"]
    return found


def test_the_kinds_of_section_are_listed(site: Site) -> None:
    rows = site.use("cms_listSectionDefinitions")["data"]

    assert [row["id"] for row in rows] == ["hero", "text-block", "image-gallery", "team", "contact-form", "cta"]
    assert {row["type"] for row in rows} == {"definition"}


def test_the_fields_of_a_definition_have_exact_keys_and_types(site: Site) -> None:
    assert site.use("cms_getSectionFields", id="hero") == {
        "id": "hero",
        "type": "definition",
        "name": "Hero",
        "elementsStructure": [
            {"key": "heading", "type": "text", "required": True},
            {"key": "subheading", "type": "text", "required": False},
            {"key": "backgroundImage", "type": "image", "required": False},
            {"key": "cta", "type": "link", "required": False},
        ],
    }
    assert site.refuse("cms_getSectionFields", id="heros").options[0] == "hero"


def test_a_section_is_read_with_its_image(site: Site) -> None:
    section = site.use("cms_getSectionContent", pageSectionId="sec-4")

    assert (section["type"], section["name"], section["pageId"], section["definitionId"]) == (
        "section",
        "Hero",
        "page-2",
        "hero",
    )
    assert section["content"] == {
        "heading": "Services",
        "backgroundImage": {"id": "img-10", "url": "/uploads/growth-chart.png", "alt": "Bar chart that rises"},
    }


def test_a_section_is_added_at_the_end_or_in_between(site: Site) -> None:
    last = site.use("cms_addPageSection", pageId="page-3", definitionId="team", content={"heading": "We"})
    first = site.use("cms_addPageSection", pageId="page-3", definitionId="team", content={"heading": "I"}, position=0)

    assert last["success"] is True
    assert order(site, "page-3") == [first["section"]["id"], "sec-7", "sec-8", last["section"]["id"]]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"pageId": "page-9", "definitionId": "hero", "content": {"heading": "x"}}, "reference"),
        ({"pageId": "page-1", "definitionId": "banner", "content": {"heading": "x"}}, "reference"),
        ({"pageId": "page-1", "definitionId": "hero"}, "validation"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": ""}}, "validation"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": 3}}, "validation"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": "x", "cta": "/contact"}}, "validation"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": "x", "image": "img-1"}}, "reference"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": "x"}, "position": 4}, "validation"),
        ({"pageId": "page-1", "definitionId": "hero", "content": {"heading": "x"}, "position": -1}, "validation"),
        ({"pageId": "page-1", "definitionId": "image-gallery", "content": {"image1": "img-99"}}, "reference"),
        ({"pageId": "page-1", "definitionId": "image-gallery", "content": {"heading": "x"}}, "validation"),
    ],
)
def test_a_section_that_does_not_fit_is_refused(site: Site, arguments: dict[str, object], kind: str) -> None:
    assert site.refuse("cms_addPageSection", **arguments).kind == kind


def test_an_update_is_merged(site: Site) -> None:
    site.use("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": "New", "subheading": ""})

    assert content(site, "sec-1") == {
        "heading": "New",
        "backgroundImage": {
            "id": "img-5",
            "url": "/uploads/harbour-sail.png",
            "alt": "Sailing boat leaving the harbour",
        },
        "cta": "/pages/services?locale=en",
    }


def test_an_unknown_field_is_refused_with_the_known_ones(site: Site) -> None:
    error = site.refuse("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": "x", "headline": "y"})

    assert (error.kind, error.options) == ("reference", ("heading", "subheading", "backgroundImage", "cta"))
    assert "`headline`" in error.message


def test_a_required_field_cannot_be_emptied(site: Site) -> None:
    text = site.refuse("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": " "})
    image = site.refuse("cms_updateSectionContent", pageSectionId="sec-6", content={"image1": ""})

    assert (text.kind, text.options) == ("validation", ("heading",))
    assert (image.kind, image.options) == ("validation", ("image1",))


def test_an_image_is_attached_to_an_image_field(site: Site) -> None:
    answer = site.use("cms_updateSectionImage", imageId="img-3", pageSectionId="sec-7", imageField="backgroundImage")

    assert answer["success"] is True
    assert answer["section"]["content"]["backgroundImage"]["url"] == "/uploads/studio-team.png"
    assert answer["image"]["id"] == "img-3"


@pytest.mark.parametrize("field", ["heroImage", "heading"])
def test_only_an_image_field_takes_an_image(site: Site, field: str) -> None:
    error = site.refuse("cms_updateSectionImage", imageId="img-3", pageSectionId="sec-7", imageField=field)

    assert (error.kind, error.options) == ("reference", ("backgroundImage",))


def test_a_section_without_image_fields_takes_no_image(site: Site) -> None:
    error = site.refuse("cms_updateSectionImage", imageId="img-3", pageSectionId="sec-2", imageField="photo")

    assert (error.kind, error.options) == ("reference", ())


def test_an_image_that_is_not_there_is_a_reference_error(site: Site) -> None:
    error = site.refuse("cms_updateSectionImage", imageId="img-77", pageSectionId="sec-7", imageField="backgroundImage")

    assert error.kind == "reference"
    assert "img-1" in error.options


def test_a_link_leads_outside_or_to_a_page_that_exists(site: Site) -> None:
    for link in ("https://example.org/a?b=c", "mailto:hello@example.org", "/posts/blog", "/pages/contact?locale=en"):
        site.use("cms_updateSectionContent", pageSectionId="sec-3", content={"link": link})

        assert content(site, "sec-3")["link"] == link

    error = site.refuse("cms_updateSectionContent", pageSectionId="sec-3", content={"link": "/pages/kontact?locale=en"})

    assert (error.kind, error.options) == ("reference", ("/pages/contact?locale=en",))


def test_sections_are_put_into_another_order(site: Site) -> None:
    site.use("cms_reorderPageSections", pageId="page-1", order=["sec-3", "sec-1", "sec-2"])

    assert order(site, "page-1") == ["sec-3", "sec-1", "sec-2"]


@pytest.mark.parametrize(
    ("new", "kind"),
    [
        (["sec-1", "sec-2"], "validation"),
        (["sec-1", "sec-2", "sec-2"], "validation"),
        (["sec-1", "sec-2", "sec-4"], "reference"),
        ([], "validation"),
    ],
)
def test_an_order_names_every_section_once(site: Site, new: list[str], kind: str) -> None:
    error = site.refuse("cms_reorderPageSections", pageId="page-1", order=new)

    assert (error.kind, error.options) == (kind, ("sec-1", "sec-2", "sec-3"))


def test_a_copy_appears_right_below(site: Site) -> None:
    copy = site.use("cms_duplicatePageSection", pageSectionId="sec-4")["section"]["id"]

    assert order(site, "page-2") == ["sec-4", copy, "sec-5", "sec-6"]
    assert content(site, copy) == content(site, "sec-4")


def test_a_section_moves_to_another_page_or_within_its_own(site: Site) -> None:
    site.use("cms_movePageSection", pageSectionId="sec-2", pageId="page-3", position=1)
    site.use("cms_movePageSection", pageSectionId="sec-4", pageId="page-2")

    assert order(site, "page-1") == ["sec-1", "sec-3"]
    assert order(site, "page-3") == ["sec-7", "sec-2", "sec-8"]
    assert order(site, "page-2") == ["sec-5", "sec-6", "sec-4"]
    assert site.refuse("cms_movePageSection", pageSectionId="sec-2", pageId="page-9").kind == "reference"
    assert site.refuse("cms_movePageSection", pageSectionId="sec-4", pageId="page-2", position=3).kind == "validation"


def test_a_deleted_section_closes_the_gap(site: Site) -> None:
    done = site.use_and_confirm("cms_deletePageSection", pageSectionId="sec-2")

    assert done == {"success": True, "deleted": ["sec-2"]}
    assert order(site, "page-1") == ["sec-1", "sec-3"]


def test_several_sections_are_deleted_in_one_go(site: Site) -> None:
    done = site.use_and_confirm("cms_deletePageSections", pageSectionIds=["sec-2", "sec-7", "sec-2"])

    assert done["deleted"] == ["sec-2", "sec-7"]
    assert order(site, "page-1") + order(site, "page-3") == ["sec-1", "sec-3", "sec-8"]
    assert site.refuse("cms_deletePageSections", pageSectionIds=[]).kind == "validation"
    assert site.refuse("cms_deletePageSections", pageSectionIds=["sec-1", "sec-2"]).kind == "reference"


def test_a_change_to_a_section_is_a_change_to_its_page(site: Site) -> None:
    before = site.use("cms_getPage", pageId="page-1")["updatedAt"]
    site.use("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": "New"})

    assert site.use("cms_getPage", pageId="page-1")["updatedAt"] > before
