"""Slugs: the last part of an address. Unique among pages, and among posts."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from cms.database import Database
from cms.errors import ConstraintError, ValidationError

_FORM: Final = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LONGEST: Final = 80
_RESERVED: Final = {"posts": {"blog"}, "pages": set[str]()}  # /posts/blog is the list of posts


def slugify(text: str) -> str:
    """The slug that a title suggests: `About Us!` becomes `about-us`."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", plain.lower()))[:_LONGEST].strip("-")


def claim(db: Database, table: str, slug: str | None, title: str) -> str:
    """The slug for a new or renamed row: the one asked for, or one made from the title.

    Raises:
        ValidationError: it has the wrong form; the option is the nearest right one.
        ConstraintError: it is taken; the option is a free one.
    """
    slug = slugify(title) if slug is None else slug
    if not slug:
        raise ValidationError(f"No slug can be made from `{title}`.", "Pass a `slug` such as `about-us`.")
    if not _FORM.fullmatch(slug) or len(slug) > _LONGEST:
        option = slugify(slug)
        raise ValidationError(
            f"`{slug}` is not a slug: up to {_LONGEST} lower-case letters, digits and single hyphens.",
            f"Use `{option}`." if option else "Pass a `slug` such as `about-us`.",
            [option] if option else [],
        )
    if _taken(db, table, slug):
        option = free(db, table, slug)
        raise ConstraintError(
            f"The slug `{slug}` is taken among the {table}.", f"Use the free slug `{option}`.", [option]
        )
    return slug


def free(db: Database, table: str, slug: str) -> str:
    """The slug itself, or the first of `slug-2`, `slug-3`, ... that is not taken."""
    candidate, number = slug, 1
    while _taken(db, table, candidate):
        number += 1
        ending = f"-{number}"
        candidate = slug[: _LONGEST - len(ending)].rstrip("-") + ending
    return candidate


def _taken(db: Database, table: str, slug: str) -> bool:
    if slug in _RESERVED[table]:
        return True
    return db.row(f"SELECT 1 FROM {table} WHERE slug = ?", slug) is not None  # noqa: S608 - a name of the schema
