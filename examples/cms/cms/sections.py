"""Sections: the blocks that a page is made of, from top to bottom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cms import confirm, content, images
from cms.arguments import Confirmed, Content, DefinitionId, FieldKey, ImageId, PageId, Position, SectionId
from cms.database import Database, Json
from cms.errors import UnknownReferenceError, ValidationError
from cms.lookup import by_id
from cms.matching import listed


def list_section_definitions(db: Database) -> Json:
    """List the kinds of section a page can be built from, such as hero or team."""
    rows = db.rows("SELECT id, 'definition' AS type, name, description FROM section_definitions ORDER BY rowid")
    return {"data": rows}


def get_section_fields(db: Database, id_: DefinitionId) -> Json:
    """Get the fields of a section definition: the exact key of each, its type, and whether it is required."""
    row = by_id(db, "section_definitions", id_)
    structure = list(content.fields(db, id_).values())
    return {"id": id_, "type": "definition", "name": row["name"], "elementsStructure": structure}


def get_page_sections(db: Database, page_id: PageId) -> Json:
    """List the sections of a page from top to bottom, without their content."""
    by_id(db, "pages", page_id)
    return {"data": outlines(db, page_id)}


def get_section_content(db: Database, page_section_id: SectionId) -> Json:
    """Read the content of one section of a page."""
    return view(db, page_section_id)


def add_page_section(
    db: Database,
    page_id: PageId,
    definition_id: DefinitionId,
    content: Content | None = None,
    position: Position | None = None,
) -> Json:
    """Add a section to a page, at the end or at a position, with its content."""
    id_ = add(db, page_id, definition_id, content or {}, position)
    return {"success": True, "section": view(db, id_)}


def update_section_content(db: Database, page_section_id: SectionId, content: Content) -> Json:
    """Change some fields of a section. Fields that are not named stay as they are; an empty string empties one."""
    return _rewrite(db, page_section_id, content)


def update_section_image(db: Database, image_id: ImageId, page_section_id: SectionId, image_field: FieldKey) -> Json:
    """Attach an image to an image field of a section, such as the background of a hero."""
    section, image = view(db, page_section_id), images.get_image(db, image_id)
    known = content.fields(db, section["definitionId"])
    keys = [key for key, field in known.items() if field["type"] == "image"]
    if image_field not in keys:
        raise UnknownReferenceError(
            f"A `{section['definitionId']}` section has no image field `{image_field}`.",
            f"Its image fields: {listed(keys)}." if keys else "It takes no image: attach it to another section.",
            keys,
        )
    return {**_rewrite(db, page_section_id, {image_field: image_id}), "image": image}


def reorder_page_sections(
    db: Database, page_id: PageId, order: Annotated[list[str], "every section id of the page, from top to bottom"]
) -> Json:
    """Put the sections of a page into another order."""
    by_id(db, "pages", page_id)
    present = _ids(db, page_id)
    if unknown := [id_ for id_ in order if id_ not in present]:
        raise UnknownReferenceError(
            f"Not on {page_id}: {listed(unknown)}.", f"Its sections are {listed(present)}.", present
        )
    if sorted(order) != sorted(present):
        raise ValidationError(
            "The order must name every section once.", f"The sections of {page_id} are {listed(present)}.", present
        )
    _number(db, page_id, order)
    return {"success": True, "data": outlines(db, page_id)}


def duplicate_page_section(db: Database, page_section_id: SectionId) -> Json:
    """Copy a section, with its content, to the place right below it."""
    row = by_id(db, "page_sections", page_section_id)
    id_ = copy(db, row, row["pageId"], row["position"] + 1)
    return {"success": True, "section": view(db, id_)}


def move_page_section(
    db: Database, page_section_id: SectionId, page_id: PageId, position: Position | None = None
) -> Json:
    """Move a section to another page, or to another position on its own page."""
    left = by_id(db, "page_sections", page_section_id)["pageId"]
    by_id(db, "pages", page_id)
    stay = [id_ for id_ in _ids(db, left) if id_ != page_section_id]
    order = _with(stay if page_id == left else _ids(db, page_id), page_section_id, position)
    db.update("page_sections", page_section_id, pageId=page_id)
    _number(db, left, stay)
    _number(db, page_id, order)
    return {"success": True, "section": view(db, page_section_id)}


def delete_page_section(db: Database, page_section_id: SectionId, *, confirmed: Confirmed = False) -> Json:
    """Delete one section from its page for good, after the user confirmed."""
    return _delete(db, "cms_deletePageSection", [page_section_id], confirmed=confirmed)


def delete_page_sections(
    db: Database, page_section_ids: Annotated[list[str], "ids of sections"], *, confirmed: Confirmed = False
) -> Json:
    """Delete several sections for good in one go, after the user confirmed."""
    return _delete(db, "cms_deletePageSections", page_section_ids, confirmed=confirmed)


def add(db: Database, page_id: str, definition_id: str, values: Mapping[str, Any], position: int | None = None) -> str:
    """Put a new section on a page; its id."""
    by_id(db, "pages", page_id)
    by_id(db, "section_definitions", definition_id)
    id_ = _insert(db, page_id, definition_id, "{}", position)
    content.write(db, id_, values)
    return id_


def copy(db: Database, section: Json, page_id: str, position: int | None = None) -> str:
    """Put a copy of a section, given as its row, on a page; the id of the copy."""
    id_ = _insert(db, page_id, section["definitionId"], section["content"], position)
    db.run(
        "INSERT INTO section_images SELECT ?, field, imageId FROM section_images WHERE sectionId = ?",
        id_,
        section["id"],
    )
    return id_


def outlines(db: Database, page_id: str) -> list[Json]:
    """The sections of a page from top to bottom, without their content."""
    return db.rows(
        """SELECT s.id, 'section' AS type, d.name, s.pageId, s.definitionId, s.position
           FROM page_sections s JOIN section_definitions d ON d.id = s.definitionId
           WHERE s.pageId = ? ORDER BY s.position""",
        page_id,
    )


def view(db: Database, section_id: str) -> Json:
    """A section as tools show it."""
    row = by_id(db, "page_sections", section_id)
    (outline,) = (outline for outline in outlines(db, row["pageId"]) if outline["id"] == section_id)
    return {**outline, "content": content.read(db, row)}


def _rewrite(db: Database, section_id: str, values: Mapping[str, Any]) -> Json:
    row = by_id(db, "page_sections", section_id)
    content.write(db, section_id, values)
    db.update("pages", row["pageId"], updatedAt=db.now())
    return {"success": True, "section": view(db, section_id)}


def _insert(db: Database, page_id: str, definition_id: str, values: str, position: int | None) -> str:
    id_, now = db.new_id("sec"), db.now()
    order = _with(_ids(db, page_id), id_, position)
    row = {"pageId": page_id, "definitionId": definition_id, "position": 0, "content": values}
    db.insert("page_sections", id=id_, **row, createdAt=now, updatedAt=now)
    _number(db, page_id, order)
    return id_


def _ids(db: Database, page_id: str) -> list[str]:
    return [row["id"] for row in db.rows("SELECT id FROM page_sections WHERE pageId = ? ORDER BY position", page_id)]


def _with(order: Sequence[str], id_: str, position: int | None) -> list[str]:
    place = len(order) if position is None else position
    if place > len(order):
        raise ValidationError(
            f"There is no position {place}.", f"Pass a `position` from 0 to {len(order)}, or leave it out for the end."
        )
    return [*order[:place], id_, *order[place:]]


def _number(db: Database, page_id: str, order: Sequence[str]) -> None:
    for position, id_ in enumerate(order):
        db.update("page_sections", id_, position=position)
    db.update("pages", page_id, updatedAt=db.now())


def _delete(db: Database, tool: str, section_ids: Sequence[str], *, confirmed: bool) -> Json:
    ids = sorted(set(section_ids))
    if not ids:
        raise ValidationError("There is no section to delete.", "Name at least one id in `pageSectionIds`.")
    pages = list(dict.fromkeys(by_id(db, "page_sections", id_)["pageId"] for id_ in ids))
    names = [f"{view(db, id_)['name']} ({id_})" for id_ in ids]
    message = f"Delete with all content: {', '.join(names)}? This cannot be undone."
    if asked := confirm.question(db, f"{tool} {' '.join(ids)}", message, confirmed=confirmed):
        return asked
    for id_ in ids:
        db.run("DELETE FROM page_sections WHERE id = ?", id_)
    for page_id in pages:
        _number(db, page_id, _ids(db, page_id))
    return {"success": True, "deleted": ids}
