"""Images: pictures with a description and tags, found by what they show, used by sections and posts."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Final

from cms import confirm
from cms.arguments import Confirmed, ImageId, Limit, Query, Tags
from cms.canvas import HEIGHT, WIDTH
from cms.database import Database, Json
from cms.errors import ConstraintError, NotFoundError, UnknownReferenceError, ValidationError
from cms.lookup import by_id
from cms.matching import Field, listed, nearest, rank

_SHOWN: Final = re.compile(r"!\[[^\]\n]{0,500}\]\(\s*<?([^)>\s]+)")
"""An image in Markdown: `![alt](address)`."""


def list_all_images(db: Database) -> Json:
    """List every image of the media library with its local URL, description and tags."""
    return {"data": [view(row) for row in _all(db)]}


def get_image(db: Database, image_id: ImageId) -> Json:
    """Get one image with its local URL, description, tags and size."""
    return view(by_id(db, "images", image_id))


def find_image(db: Database, description: Query) -> Json:
    """Find the one image that fits a description best. Lower scores are better; -0.3 or lower is a strong match."""
    ranked = rank(_all(db), description, _fields, by_meaning=True)
    if not ranked:
        raise NotFoundError(
            f"No image shows anything like `{description}`.",
            "Look through cms_listAllImages, or find a stock photo with pexels_searchPhotos.",
        )
    score, row = ranked[0]
    return {**view(row), "score": score}


def search_images(db: Database, query: Query, limit: Limit = 5) -> Json:
    """Search images by what they show, best first. Lower scores are better; -0.3 or lower is a strong match."""
    ranked = rank(_all(db), query, _fields, by_meaning=True)[:limit]
    return {"matches": [{**view(row), "score": score} for score, row in ranked]}


def update_image_metadata(
    db: Database, image_id: ImageId, description: Query | None = None, tags: Tags | None = None
) -> Json:
    """Change the description or the tags of an image, which is what searches look at."""
    row = by_id(db, "images", image_id)
    if description is None and tags is None:
        raise ValidationError("There is nothing to change.", "Pass `description` or `tags`.", ["description", "tags"])
    new_tags = row["tags"] if tags is None else json.dumps(tags)
    db.update("images", image_id, description=description or row["description"], tags=new_tags)
    return {"success": True, "image": get_image(db, image_id)}


def get_image_usage(db: Database, image_id: ImageId) -> Json:
    """Tell which sections and posts use an image, and in which field."""
    row = by_id(db, "images", image_id)
    return {"imageId": row["id"], "data": usage(db, image_id)}


def delete_image(db: Database, image_id: ImageId, *, confirmed: Confirmed = False) -> Json:
    """Delete an image for good, after the user confirmed. Places that use it become empty; one that requires an image
    keeps it from being deleted.
    """
    row = by_id(db, "images", image_id)
    _check_not_required(db, image_id)
    emptied = usage(db, image_id)
    places = [f"{place['field']} of {place['name']}" for place in emptied]
    used = f" It will vanish from: {', '.join(places)}." if places else " Nothing uses it."
    message = f'Delete the image "{row["filename"]}" ({image_id})?{used} This cannot be undone.'
    if asked := confirm.question(db, f"cms_deleteImage {image_id}", message, confirmed=confirmed):
        return asked
    db.run("DELETE FROM images WHERE id = ?", image_id)
    (db.uploads / row["filename"]).unlink(missing_ok=True)
    return {"success": True, "deleted": [image_id], "emptied": emptied}


def view(row: Json) -> Json:
    """An image as tools show it."""
    return {
        "id": row["id"],
        "type": "image",
        "name": row["filename"],
        "filename": row["filename"],
        "url": row["url"],
        "description": row["description"],
        "tags": json.loads(row["tags"]),
        "width": row["width"],
        "height": row["height"],
        "source": row["source"],
    }


def store(db: Database, filename: str, picture: bytes, description: str, tags: Sequence[str], source: str) -> str:
    """Put a picture into the library; the id of the new image."""
    id_ = db.new_id("img")
    text = {"description": description, "tags": json.dumps(list(tags)), "source": source}
    db.insert("images", id=id_, filename=filename, width=WIDTH, height=HEIGHT, **text, createdAt=db.now())
    (db.uploads / filename).write_bytes(picture)
    return id_


def usage(db: Database, image_id: str) -> list[Json]:
    """The places that use an image: sections first, then posts."""
    sections = db.rows(
        """SELECT s.id, 'section' AS type, d.name || ' on ' || p.title AS name, u.field, p.id AS pageId
           FROM section_images u JOIN page_sections s ON s.id = u.sectionId
           JOIN pages p ON p.id = s.pageId JOIN section_definitions d ON d.id = s.definitionId
           WHERE u.imageId = ? ORDER BY s.rowid, u.field""",
        image_id,
    )
    posts = db.rows(
        """SELECT id, 'post' AS type, title AS name, 'cover' AS field, slug FROM posts WHERE coverImageId = ?
           UNION ALL
           SELECT id, 'post', title, 'featuredImage', slug FROM posts WHERE featuredImageId = ?
           ORDER BY slug, field""",
        image_id,
        image_id,
    )
    return sections + posts


def id_of_url(db: Database, url: str) -> str:
    """The id of the image with that local URL.

    Raises:
        ValidationError: it is not a local URL.
        UnknownReferenceError: no image has it; the options are the URLs that look most like it.
    """
    if not url.startswith("/uploads/"):
        raise ValidationError(
            f"`{url}` is not a local URL.",
            "Use the `url` of an image of the library (/uploads/...); a stock photo: pexels_downloadPhoto.",
        )
    urls = {row["url"]: row["id"] for row in _all(db)}
    if url not in urls:
        options = nearest(url, urls)
        hint = f"Nearest: {listed(options)}." if options else "See cms_listAllImages."
        raise UnknownReferenceError(f"No image has the URL `{url}`.", hint, options)
    found: str = urls[url]
    return found


def check_markdown(db: Database, text: str) -> None:
    """A text whose images are all in the library.

    Raises:
        ValidationError: an image of it has another address, such as that of a stock photo.
        UnknownReferenceError: no image of the library has that address.
    """
    for url in _SHOWN.findall(text):
        id_of_url(db, url)


def _check_not_required(db: Database, image_id: str) -> None:
    needed = db.rows(
        """SELECT s.id, u.field FROM section_images u JOIN page_sections s ON s.id = u.sectionId
           JOIN definition_fields f ON f.definitionId = s.definitionId AND f.key = u.field
           WHERE u.imageId = ? AND f.required ORDER BY s.rowid""",
        image_id,
    )
    if needed:
        places = [f"{place['field']} of {place['id']}" for place in needed]
        raise ConstraintError(
            f"The image {image_id} stands in fields that need one: {', '.join(places)}.",
            "Put another image there with cms_updateSectionImage first.",
            [place["id"] for place in needed],
        )


def _all(db: Database) -> list[Json]:
    return db.rows("SELECT * FROM images ORDER BY rowid")


def _fields(row: Json) -> list[Field]:
    return [(" ".join(json.loads(row["tags"])), 1.0), (row["description"], 0.9), (row["filename"], 0.8)]
