"""What the instructions of the section tools say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from cms.database import Json
    from unit.cms.conftest import Site

CONFIRMED = "Needs confirmed:true, after a yes."


@holds("cms_getSectionFields", "Show the fields of a section definition")
@holds("cms_listSectionDefinitions", "List the kinds of section a page can have")
@holds("cms_listSectionDefinitions", "List the kinds of section a page can be built from, such as hero or team.")
@holds(
    "cms_listSectionDefinitions", "Its id is what other tools call definitionId, and the id of cms_getSectionFields."
)
@holds("cms_listSectionDefinitions", "A definition is a pattern, not a section on a page.")
@holds("cms_listSectionDefinitions", "cms_getSectionFields, cms_addPageSection")
@holds("cms_getSectionFields", "Its id is the definition's (hero), not a pageSectionId.")
@holds("cms_getSectionFields", "definitionId from cms_listSectionDefinitions or cms_getPage")
def test_the_id_of_a_definition_is_not_a_section(site: Site) -> None:
    listed = [row["id"] for row in site.use("cms_listSectionDefinitions")["data"]]
    on_page = [section["definitionId"] for section in site.use("cms_getPage", slug="home")["sections"]]

    assert set(on_page) <= set(listed)
    for id_ in listed:
        assert site.use("cms_getSectionFields", id=id_)["elementsStructure"]
        assert site.refuse("cms_getSectionContent", pageSectionId=id_).kind == "reference"
    assert site.refuse("cms_getSectionFields", id="sec-1").kind == "reference"
    site.use("cms_addPageSection", pageId="page-1", definitionId=listed[0], content={"heading": "x"})


@holds("cms_updateSectionContent", "Change texts and values in a section")
@holds("cms_updateSectionContent", "Change some fields of a section.")
@holds("cms_updateSectionImage", "Attach an image to an image field of a section, such as the background of a hero.")
@holds("cms_getSectionFields", "Use the keys of elementsStructure letter by letter", "Never guess a key.")
@holds("cms_getSectionFields", "cms_updateSectionContent, cms_updateSectionImage")
@holds("cms_updateSectionContent", "cms_getSectionFields for the keys, cms_getSectionContent for the values")
@holds("cms_updateSectionContent", "Show old and new text")
def test_the_keys_of_the_structure_are_taken_and_guesses_are_refused(site: Site) -> None:
    structure = site.use("cms_getSectionFields", id="hero")["elementsStructure"]
    keys = {field["type"]: field["key"] for field in reversed(structure)}
    old = site.use("cms_getSectionContent", pageSectionId="sec-1")["content"]
    done = site.use("cms_updateSectionContent", pageSectionId="sec-1", content={keys["text"]: "New"})["section"]
    site.use("cms_updateSectionImage", pageSectionId="sec-1", imageId="img-1", imageField=keys["image"])

    assert (old["heading"], done["content"]["heading"]) == ("Design with a sea view", "New")
    for guess in ("Heading", "title", "headline", "heading "):
        error = site.refuse("cms_updateSectionContent", pageSectionId="sec-1", content={guess: "x"})
        assert error.kind == "reference"
        assert "heading" in error.options


@holds("cms_getPageSections", "List the sections of a page")
@holds("cms_getPageSections", "List the sections of a page from top to bottom, without their content.")
@holds("cms_getPageSections", "pageId from memory or cms_getPage", "Ids and kinds in page order, no texts.")
@holds("cms_getPageSections", "Keep the id (it is the pageSectionId) and definitionId of each")
@holds("cms_getPageSections", "cms_getSectionContent, cms_reorderPageSections")
@holds("cms_getSectionContent", "pageSectionId from memory, cms_getPage or cms_getPageSections")
@holds("cms_getSectionContent", "cms_updateSectionContent")
def test_the_list_of_sections_has_ids_and_kinds_and_no_texts(site: Site) -> None:
    page = site.use("cms_getPage", slug="home")
    listed = site.use("cms_getPageSections", pageId=page["id"])["data"]

    assert [{"id": s["id"], "definitionId": s["definitionId"]} for s in listed] == page["sections"]
    assert [section["position"] for section in listed] == [0, 1, 2]
    assert "sea view" not in str(listed)
    for section in listed:
        assert site.use("cms_getSectionContent", pageSectionId=section["id"])["content"]
    site.use("cms_updateSectionContent", pageSectionId=listed[0]["id"], content={"subheading": "x"})


@holds("cms_addPageSection", "Add a section to a page")
@holds("cms_addPageSection", "Add a section to a page, at the end or at a position, with its content.")
@holds(
    "cms_getSectionFields",
    "Get the fields of a section definition: the exact key of each, its type, and whether it is required.",
)
@holds("cms_addPageSection", "cms_listSectionDefinitions for definitionId, cms_getSectionFields for the keys")
@holds("cms_addPageSection", "Required fields must be in content.", "Later calls need the id in the result.")
@holds("cms_addPageSection", "Goes to the end without a position (0 = top).", "Say where it stands")
@holds("cms_addPageSection", "cms_updateSectionImage, cms_reorderPageSections")
@pytest.mark.parametrize(("given", "place"), [({}, 3), ({"position": 0}, 0), ({"position": 2}, 2)])
def test_a_section_goes_to_the_end_or_to_its_position(site: Site, given: dict[str, int], place: int) -> None:
    wanted = {"pageId": "page-1", "definitionId": "team", **given}
    required = [f["key"] for f in site.use("cms_getSectionFields", id="team")["elementsStructure"] if f["required"]]

    assert site.refuse("cms_addPageSection", **wanted, content={"intro": "x"}).kind == "validation"
    assert site.refuse("cms_addPageSection", **wanted).kind == "validation"
    made = site.use("cms_addPageSection", **wanted, content=dict.fromkeys(required, "Us"))["section"]
    assert (made["position"], order(site)[place]) == (place, made["id"])
    site.use("cms_updateSectionImage", pageSectionId=made["id"], imageId="img-3", imageField="photo")


@holds("cms_updateSectionContent", "Fields that are not named stay as they are", "an empty string empties one.")
@holds("cms_updateSectionContent", "MERGES: fields you leave out stay as they are, so send changed ones only")
@holds("cms_updateSectionContent", 'empty an optional one with "".')
@holds("cms_updateSectionContent", "Images have a tool of their own, cms_updateSectionImage.")
def test_an_update_merges_and_an_empty_text_empties_an_optional_field(site: Site) -> None:
    before = site.use("cms_getSectionContent", pageSectionId="sec-1")["content"]
    changed = site.use("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": "New"})["section"]
    emptied = site.use("cms_updateSectionContent", pageSectionId="sec-1", content={"subheading": ""})["section"]

    assert changed["content"] == {**before, "heading": "New"}
    assert "subheading" not in emptied["content"]
    assert site.refuse("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": ""}).kind == "validation"
    url = {"backgroundImage": "/uploads/logo.png"}
    assert site.refuse("cms_updateSectionContent", pageSectionId="sec-1", content=url).kind == "reference"


@holds("cms_reorderPageSections", "Put the sections of a page into a new order")
@holds("cms_reorderPageSections", "Put the sections of a page into another order.")
@holds("cms_reorderPageSections", "cms_getPageSections for all ids in today's order", "Show the new order by name")
@holds("cms_reorderPageSections", "order holds EVERY section id of the page once.")
def test_an_order_contains_every_id_once(site: Site) -> None:
    ids = order(site)
    for wrong in (ids[:2], [*ids, ids[0]], [*ids[:2], "sec-4"], []):
        site.refuse("cms_reorderPageSections", pageId="page-1", order=wrong)
    done = site.use("cms_reorderPageSections", pageId="page-1", order=ids[::-1])["data"]

    assert [section["name"] for section in done] == ["Call to action", "Text block", "Hero"]


@holds("cms_movePageSection", "Move one section up or down, or to another page")
@holds("cms_movePageSection", "Move a section to another page, or to another position on its own page.")
@holds("cms_reorderPageSections", "To shift a single one use cms_movePageSection.")
@holds("cms_movePageSection", "cms_getPageSections for ids and places", "Say what now stands before and after it")
@holds("cms_movePageSection", "pageId is needed on the same page too.", "position 0 is the top", "left out, the end.")
@holds("cms_movePageSection", "Places shift with every move, ids do not.")
def test_a_moved_section_keeps_its_id_and_the_others_shift(site: Site) -> None:
    first, second, third = order(site)

    assert site.refuse("cms_movePageSection", pageSectionId=third, position=0).kind == "validation"
    site.use("cms_movePageSection", pageSectionId=third, pageId="page-1", position=0)
    assert order(site) == [third, first, second]
    site.use("cms_movePageSection", pageSectionId=third, pageId="page-1")
    assert order(site) == [first, second, third]
    site.use("cms_movePageSection", pageSectionId=first, pageId="page-3")
    assert (order(site), order(site, "page-3")[-1]) == ([second, third], first)


@holds("cms_duplicatePageSection", "Copy a section with its content")
@holds("cms_duplicatePageSection", "Copy a section, with its content, to the place right below it.")
@holds("cms_duplicatePageSection", "The copy has a new pageSectionId", "edit that one, or you change the original.")
@holds("cms_duplicatePageSection", "cms_getPageSections to be sure of the source", "Say where the copy stands")
@holds("cms_duplicatePageSection", "cms_updateSectionContent, cms_movePageSection")
def test_a_copied_section_is_another_one(site: Site) -> None:
    copy = site.use("cms_duplicatePageSection", pageSectionId="sec-1")["section"]
    site.use("cms_updateSectionContent", pageSectionId=copy["id"], content={"heading": "Copy"})

    assert (copy["id"] in order(site), copy["position"]) == (True, 1)
    assert site.use("cms_getSectionContent", pageSectionId="sec-1")["content"]["heading"] == "Design with a sea view"


@holds("cms_deletePageSection", "Delete one section from a page")
@holds("cms_deletePageSection", "Delete one section from its page for good, after the user confirmed.")
@holds("cms_deletePageSection", "No undo.", CONFIRMED, "Its images stay in the library.")
@holds("cms_deletePageSection", "cms_getSectionContent to be sure of the section", "Say what went and what remains")
@holds("cms_deletePageSection", "cms_getPageSections")
def test_a_deleted_section_is_gone_and_its_image_stays(site: Site) -> None:
    image = site.use("cms_getSectionContent", pageSectionId="sec-1")["content"]["backgroundImage"]["id"]
    done = site.use_and_confirm("cms_deletePageSection", pageSectionId="sec-1")

    assert (done["deleted"], order(site)) == (["sec-1"], ["sec-2", "sec-3"])
    assert site.refuse("cms_getSectionContent", pageSectionId="sec-1").kind == "reference"
    assert site.use("cms_getImage", imageId=image)["id"] == image


@holds("cms_deletePageSections", "Delete several sections in one go")
@holds("cms_deletePageSections", "Delete several sections for good in one go, after the user confirmed.")
@holds("cms_deletePageSections", "cms_getPageSections", "show the user the list by name")
@holds("cms_deletePageSections", "No undo, all or nothing.", "The page stays.", "Say which went and what remains")
@holds("cms_deletePageSections", "Needs confirmed:true, after a yes to exactly this list.")
@holds("cms_deletePageSections", "cms_addPageSection if the page is to be rebuilt")
def test_several_sections_go_together_after_a_yes_to_exactly_these(site: Site) -> None:
    ids, asked = order(site), {"pageSectionIds": order(site)}

    assert site.refuse("cms_deletePageSections", pageSectionIds=[*ids, "sec-99"]).kind == "reference"
    assert all(name in site.use("cms_deletePageSections", **asked)["message"] for name in ("Hero", "Text block"))
    for other in (ids[:2], [*ids, "sec-4"]):
        assert site.refuse("cms_deletePageSections", pageSectionIds=other, confirmed=True).kind == "validation"
    done = site.use("cms_deletePageSections", **asked, confirmed=True)

    assert (done["deleted"], order(site)) == (ids, [])
    assert site.use("cms_getPage", slug="home")["sections"] == []
    site.use("cms_addPageSection", pageId="page-1", definitionId="hero", content={"heading": "Anew"})


def order(site: Site, page: str = "page-1") -> list[str]:
    """The ids of the sections of a page."""
    sections: list[Json] = site.use("cms_getPageSections", pageId=page)["data"]
    return [section["id"] for section in sections]
