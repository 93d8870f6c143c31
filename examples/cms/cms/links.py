"""Addresses: `/pages/{slug}?locale=en` and `/posts/{slug}` inside the site, and whole URLs outside it."""

from __future__ import annotations

import re
from typing import Final

from cms.database import Database
from cms.errors import CmsError, NotFoundError, UnknownReferenceError, ValidationError
from cms.lookup import by_slug
from cms.slugs import slugify

_PAGE: Final = re.compile(r"/pages/([a-z0-9-]+)\?locale=en")
_POST: Final = re.compile(r"/posts/([a-z0-9-]+)(\?locale=en)?")
_OUTSIDE: Final = re.compile(r"(https?://[^\s/]+\S*|mailto:\S+@\S+|tel:\+?[\d ]+)")


def page_address(slug: str) -> str:
    """The address of the page with that slug."""
    return f"/pages/{slug}?locale=en"


def post_addresses(slug: str) -> tuple[str, str]:
    """The addresses of the post with that slug."""
    return f"/posts/{slug}", f"/posts/{slug}?locale=en"


def check_inside(db: Database, href: str) -> None:
    """An address inside the site that leads somewhere.

    Raises:
        ValidationError: it has another form; the option is the right one for the same slug.
        UnknownReferenceError: it leads to a page or post that does not exist.
    """
    for form, table in ((_PAGE, "pages"), (_POST, "posts")):
        if match := form.fullmatch(href):
            _check_target(db, table, match)
            return
    last_part = href.partition("?")[0].strip("/").rpartition("/")[2]
    option = page_address(slugify(last_part) or "home")
    raise ValidationError(
        f"`{href}` is not an address of this site.", f"Use the form `{option}`, or `/posts/{{slug}}`.", [option]
    )


def check(db: Database, href: str) -> None:
    """An address inside the site that leads somewhere, or a whole URL outside it.

    Raises:
        ValidationError: it is neither.
        UnknownReferenceError: it leads to a page or post that does not exist.
    """
    if not _OUTSIDE.fullmatch(href):
        check_inside(db, href)


def leads_somewhere(db: Database, href: str) -> bool:
    """Whether the page or post of an address still exists."""
    try:
        check_inside(db, href)
    except CmsError:
        return False
    return True


def _check_target(db: Database, table: str, href: re.Match[str]) -> None:
    if (table, href[1]) == ("posts", "blog"):  # the list of all posts
        return
    try:
        by_slug(db, table, href[1])
    except NotFoundError as error:
        before, after = href.string[: href.start(1)], href.string[href.end(1) :]
        options = [before + slug + after for slug in error.options]
        raise UnknownReferenceError(f"`{href[0]}` leads nowhere: {error.message}", error.suggestion, options) from error
