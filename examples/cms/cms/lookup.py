"""Finding a row by what a caller said: an unknown id is a reference error, an unknown slug is not found."""

from __future__ import annotations

from typing import Final

from cms.database import Database, Json
from cms.errors import NotFoundError, UnknownReferenceError
from cms.matching import nearest

_NOUNS: Final = {
    "pages": "page",
    "posts": "post",
    "page_sections": "page section",
    "section_definitions": "section definition",
    "images": "image",
}
_NAMES: Final = {
    "pages": "title",
    "page_sections": "definitionId",
    "section_definitions": "name",
    "images": "filename",
}


def by_id(db: Database, table: str, id_: str) -> Json:
    """The row with that id.

    Raises:
        UnknownReferenceError: there is none; the options are ids that exist.
    """
    found = db.row(f"SELECT * FROM {table} WHERE id = ?", id_)  # noqa: S608 - a name of the schema, never input
    if found:
        return found
    rows = db.rows(f"SELECT id, {_NAMES[table]} AS name FROM {table} ORDER BY rowid")  # noqa: S608 - the same
    names = {row["id"]: row["name"] for row in rows}
    meant = nearest(id_, names.values())  # somebody may have passed the name
    options = sorted(names, key=lambda option: [*meant, names[option]].index(names[option]))[:12]
    shown = ", ".join(f"`{option}` ({names[option]})" for option in options)
    raise UnknownReferenceError(
        f"There is no {_NOUNS[table]} with the id `{id_}`.",
        f"Use one of these ids: {shown}." if options else f"There is no {_NOUNS[table]} yet: create one first.",
        options,
    )


def by_slug(db: Database, table: str, slug: str) -> Json:
    """The page or post with that slug.

    Raises:
        NotFoundError: there is none; the options are the slugs that look most like it, or whose title does.
    """
    found = db.row(f"SELECT * FROM {table} WHERE slug = ?", slug)  # noqa: S608 - a name of the schema, never input
    if found:
        return found
    rows = db.rows(f"SELECT slug, title FROM {table} ORDER BY rowid")  # noqa: S608 - the same
    slugs = {row["title"]: row["slug"] for row in rows} | {row["slug"]: row["slug"] for row in rows}
    options = list(dict.fromkeys(slugs[name] for name in nearest(slug, slugs)))
    hint = f"Nearest: {', '.join(f'`{option}`' for option in options)}. Or search" if options else "Search"
    raise NotFoundError(
        f"There is no {_NOUNS[table]} with the slug `{slug}`.", f"{hint} with cms_findResource.", options
    )
