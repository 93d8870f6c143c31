"""Pages: a title, a slug of its own, and sections. Deleting a page takes its sections along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from cms import confirm, links, navigation, sections, slugs
from cms.arguments import Confirmed, PageId, Slug, Title
from cms.database import Database, Json
from cms.errors import ValidationError
from cms.lookup import by_id, by_slug

Description = Annotated[str, "one sentence for search engines"]
NewSections = Annotated[list[dict[str, Any]], "from top to bottom, each {definitionId, content}"]
IncludeContent = Annotated[bool, "true for every section with its full content"]


def create_page(db: Database, title: Title, slug: Slug | None = None, description: Description = "") -> Json:
    """Create an empty page. Without a slug, one is made from the title."""
    return {"success": True, "page": view(db, _insert(db, title, slug, description))}


def create_page_with_content(
    db: Database, title: Title, slug: Slug, sections: NewSections, description: Description = ""
) -> Json:
    """Create a page together with its sections and their content, all or nothing."""
    page_id = _insert(db, title, slug, description)
    _add_all(db, page_id, sections)
    return {"success": True, "page": view(db, page_id)}


def get_page(
    db: Database, slug: Slug | None = None, page_id: PageId | None = None, *, include_content: IncludeContent = False
) -> Json:
    """Get a page by its slug or id: its title and the ids of its sections, or everything on it with includeContent."""
    if (slug is None) == (page_id is None):
        raise ValidationError("A page is named by its slug or by its id.", "Pass either `slug` or `pageId`.")
    row = by_slug(db, "pages", slug) if slug is not None else by_id(db, "pages", page_id or "")
    page = view(db, row["id"])
    if include_content:
        page["sections"] = [sections.view(db, section["id"]) for section in page["sections"]]
    return page


def list_pages(db: Database) -> Json:
    """List every page of the site with its slug and number of sections."""
    rows = db.rows(
        """SELECT id, 'page' AS type, title, slug, updatedAt,
                  (SELECT count(*) FROM page_sections WHERE pageId = pages.id) AS sectionCount
           FROM pages ORDER BY rowid"""
    )
    return {"data": rows}


def update_page(
    db: Database,
    page_id: PageId,
    title: Title | None = None,
    slug: Slug | None = None,
    description: Description | None = None,
) -> Json:
    """Change the title, slug or description of a page. Tells which navigation items still use an old slug."""
    row = by_id(db, "pages", page_id)
    asked = {"title": title, "slug": slug, "description": description}
    changes = {name: value for name, value in asked.items() if value is not None}
    if not changes:
        raise ValidationError("There is nothing to change.", "Pass `title`, `slug` or `description`.", asked)
    if slug is not None and slug != row["slug"]:
        slugs.claim(db, "pages", slug, row["title"])
    db.update("pages", page_id, **changes, updatedAt=db.now())
    stale = _labels(db, row["slug"]) if slug not in (None, row["slug"]) else []
    return {"success": True, "page": view(db, page_id), **({"staleNavigation": stale} if stale else {})}


def duplicate_page(db: Database, page_id: PageId, title: Title | None = None, slug: Slug | None = None) -> Json:
    """Copy a page with all its sections, under another title and slug."""
    row = by_id(db, "pages", page_id)
    free = slugs.free(db, "pages", f"{row['slug']}-copy") if slug is None else slug
    copy_id = _insert(db, title or f"{row['title']} (copy)", free, row["description"])
    for section in db.rows("SELECT * FROM page_sections WHERE pageId = ? ORDER BY position", page_id):
        sections.copy(db, section, copy_id)
    return {"success": True, "page": view(db, copy_id)}


def delete_page(db: Database, page_id: PageId, *, confirmed: Confirmed = False) -> Json:
    """Delete a page and all its sections for good, after the user confirmed; lists navigation items that lead to it."""
    row = by_id(db, "pages", page_id)
    labels = _labels(db, row["slug"])
    gone = [section["id"] for section in sections.outlines(db, page_id)]
    count = len(gone)
    menu = f" The navigation still leads to it: {', '.join(labels)}." if labels else ""
    message = (
        f'Delete the page "{row["title"]}" ({page_id}) with {count} section{"s" * (count != 1)}? '
        f"This cannot be undone.{menu}"
    )
    if asked := confirm.question(db, f"cms_deletePage {page_id}", message, confirmed=confirmed):
        return asked
    db.run("DELETE FROM pages WHERE id = ?", page_id)
    told = {"success": True, "deleted": [page_id], "deletedSections": gone}
    return {**told, **({"staleNavigation": labels} if labels else {})}


def view(db: Database, page_id: str) -> Json:
    """A page as tools show it: its own values, and the ids of its sections from top to bottom."""
    row = by_id(db, "pages", page_id)
    listed = [{"id": s["id"], "definitionId": s["definitionId"]} for s in sections.outlines(db, page_id)]
    return {"id": row.pop("id"), "type": "page", **row, "sections": listed}


def _insert(db: Database, title: str, slug: str | None, description: str) -> str:
    claimed = slugs.claim(db, "pages", slug, title)
    id_, now = db.new_id("page"), db.now()
    db.insert("pages", id=id_, title=title, slug=claimed, description=description, createdAt=now, updatedAt=now)
    return id_


def _add_all(db: Database, page_id: str, new: Sequence[Mapping[str, Any]]) -> None:
    for number, section in enumerate(new):
        definition_id, content = section.get("definitionId"), section.get("content", {})
        if (
            not isinstance(definition_id, str)
            or not isinstance(content, dict)
            or not section.keys() <= {"definitionId", "content"}
        ):
            raise ValidationError(
                f"`sections[{number}]` is not a section.",
                'Pass `{"definitionId": "hero", "content": {"heading": "..."}}`; see cms_listSectionDefinitions.',
            )
        sections.add(db, page_id, definition_id, content)


def _labels(db: Database, slug: str) -> list[str]:
    return navigation.labels_of(db, [links.page_address(slug)])
