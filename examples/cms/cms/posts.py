"""Posts: written as a draft, published, archived, published again; deleted only for good."""

from __future__ import annotations

import json
from typing import Annotated, Any, Final, Literal

from cms import confirm, images, links, navigation, slugs
from cms.arguments import Confirmed, Limit, Query, Slug, Tags, Title
from cms.database import Database, Json
from cms.errors import ConstraintError, ValidationError
from cms.lookup import by_slug
from cms.matching import Field, listed, rank

Status = Literal["draft", "published", "archived"]
Excerpt = Annotated[str, "one or two sentences for listings"]
Body = Annotated[str, "the text in Markdown"]
Cover = Annotated[dict[str, Any], "{url, alt}: the main image at the top, by its local URL"]
ImageUrl = Annotated[str, "local URL (/uploads/...) of the thumbnail for listings", ("minLength", 1)]

_BEFORE: Final = {"published": ("draft", "archived"), "archived": ("published",)}
_QUERY: Final = """
    SELECT posts.*, cover.url AS coverUrl, featured.url AS featuredUrl FROM posts
    LEFT JOIN images cover ON cover.id = posts.coverImageId
    LEFT JOIN images featured ON featured.id = posts.featuredImageId"""


def create_post(
    db: Database,
    title: Title,
    slug: Slug | None = None,
    excerpt: Excerpt = "",
    body: Body = "",
    tags: Tags | None = None,
) -> Json:
    """Write a new blog post as a draft, not yet visible to the public. Without a slug, one is made from the title."""
    images.check_markdown(db, body)
    claimed = slugs.claim(db, "posts", slug, title)
    now = db.now()
    text = {"title": title, "slug": claimed, "excerpt": excerpt, "body": body, "tags": json.dumps(tags or [])}
    db.insert("posts", id=db.new_id("post"), status="draft", **text, createdAt=now, updatedAt=now)
    return {"success": True, "post": get_post(db, claimed)}


def list_posts(db: Database, status: Status | None = None, limit: Limit = 20) -> Json:
    """List blog posts, newest first, all of them or only drafts, published or archived ones."""
    newest_first = db.rows(f"{_QUERY} ORDER BY createdAt DESC, posts.rowid DESC")
    wanted = [row for row in newest_first if status in (None, row["status"])]
    return {"posts": [_summary(row) for row in wanted[:limit]], "total": len(wanted)}


def get_post(db: Database, slug: Slug) -> Json:
    """Read one blog post with its whole text, cover and tags."""
    found = by_slug(db, "posts", slug)
    (row,) = db.rows(f"{_QUERY} WHERE posts.id = ?", found["id"])
    return view(row)


def search_posts(db: Database, query: Query, limit: Limit = 5) -> Json:
    """Search blog posts by words in their title, tags, excerpt or text, best match first."""
    ranked = rank(db.rows(f"{_QUERY} ORDER BY posts.rowid"), query, _fields)[:limit]
    return {"matches": [{**_summary(row), "score": score} for score, row in ranked]}


def update_post(
    db: Database,
    slug: Slug,
    title: Title | None = None,
    excerpt: Excerpt | None = None,
    body: Body | None = None,
    cover: Cover | None = None,
    tags: Tags | None = None,
    featured_image: ImageUrl | None = None,
    new_slug: Slug | None = None,
) -> Json:
    """Change the text, tags, slug, cover or featured image of a blog post. What is not named stays. Tells which
    navigation items still use an old slug.
    """
    row = by_slug(db, "posts", slug)
    changes: Json = {"title": title, "excerpt": excerpt, "body": body, "slug": new_slug}
    changes["tags"] = None if tags is None else json.dumps(tags)
    if new_slug not in (None, slug):
        slugs.claim(db, "posts", new_slug, row["title"])
    images.check_markdown(db, body or "")
    if featured_image is not None:
        changes["featuredImageId"] = images.id_of_url(db, featured_image)
    if cover is not None:
        changes["coverImageId"], changes["coverAlt"] = _cover(db, cover)
    changes = {column: value for column, value in changes.items() if value is not None}
    if not changes:
        raise ValidationError("There is nothing to change.", "Pass a new `title`, `body`, `cover` or the like.")
    db.update("posts", row["id"], **changes, updatedAt=db.now())
    stale = navigation.labels_of(db, links.post_addresses(slug)) if new_slug not in (None, slug) else []
    return {"success": True, "post": get_post(db, new_slug or slug), **({"staleNavigation": stale} if stale else {})}


def publish_post(db: Database, slug: Slug, *, confirmed: Confirmed = False) -> Json:
    """Make a draft or archived blog post visible to the public, after the user confirmed."""
    return _move(db, "cms_publishPost", slug, "published", confirmed=confirmed)


def archive_post(db: Database, slug: Slug, *, confirmed: Confirmed = False) -> Json:
    """Hide a published blog post from the public, after the user confirmed. It can be published again."""
    return _move(db, "cms_archivePost", slug, "archived", confirmed=confirmed)


def delete_post(db: Database, slug: Slug, *, confirmed: Confirmed = False) -> Json:
    """Delete a blog post for good, after the user confirmed; lists navigation items that lead to it."""
    row = by_slug(db, "posts", slug)
    message = f'Delete the {row["status"]} post "{row["title"]}" ({row["id"]})? This cannot be undone.'
    if asked := confirm.question(db, f"cms_deletePost {row['id']}", message, confirmed=confirmed):
        return asked
    db.run("DELETE FROM posts WHERE id = ?", row["id"])
    stale = navigation.labels_of(db, links.post_addresses(slug))
    return {"success": True, "deleted": [row["id"]], **({"staleNavigation": stale} if stale else {})}


def view(row: Json) -> Json:
    """A post as tools show it."""
    cover = {"url": row["coverUrl"], "alt": row["coverAlt"]} if row["coverUrl"] else None
    return {
        **_summary(row),
        "featuredImage": row["featuredUrl"],
        "content": {"body": row["body"], "cover": cover, "tags": json.loads(row["tags"])},
        "createdAt": row["createdAt"],
    }


def everything(db: Database) -> list[Json]:
    """Every post, whole, oldest first."""
    return [view(row) for row in db.rows(f"{_QUERY} ORDER BY posts.rowid")]


def _summary(row: Json) -> Json:
    return {"id": row["id"], "type": "post"} | {
        k: row[k] for k in ("title", "slug", "status", "excerpt", "publishedAt", "updatedAt")
    }


def _fields(row: Json) -> list[Field]:
    tags = " ".join(json.loads(row["tags"]))
    return [(row["title"], 1.0), (row["slug"], 0.9), (tags, 0.8), (row["excerpt"], 0.6), (row["body"], 0.5)]


def _cover(db: Database, cover: Json) -> tuple[str, str]:
    url, alt = cover.get("url"), cover.get("alt", "")
    if not isinstance(url, str) or not isinstance(alt, str) or not cover.keys() <= {"url", "alt"}:
        raise ValidationError("`cover` is not a cover.", 'Pass `{"url": "/uploads/...", "alt": "what it shows"}`.')
    return images.id_of_url(db, url), alt


def _move(db: Database, tool: str, slug: str, status: str, *, confirmed: bool) -> Json:
    row = by_slug(db, "posts", slug)
    if row["status"] not in _BEFORE[status]:
        raise ConstraintError(
            f'The post "{row["title"]}" is {row["status"]} and cannot become {status}.',
            f"Only these can: {listed(_BEFORE[status])}.",
            _BEFORE[status],
        )
    verb = "Publish" if status == "published" else "Archive"
    seen = (
        "Everybody will see it." if status == "published" else "Nobody will see it any more; it can be published again."
    )
    message = f'{verb} the post "{row["title"]}" ({row["id"]})? {seen}'
    if asked := confirm.question(db, f"{tool} {row['id']}", message, confirmed=confirmed):
        return asked
    published = {"publishedAt": db.now()} if status == "published" else {}
    db.update("posts", row["id"], status=status, **published, updatedAt=db.now())
    return {"success": True, "post": get_post(db, slug)}
