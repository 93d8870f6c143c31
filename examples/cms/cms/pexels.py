"""Stock photos. A small local library stands in for the Pexels API: the same steps, but without a network or a key."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from cms import images, pictures
from cms.arguments import Limit, PhotoId, Query
from cms.canvas import HEIGHT, WIDTH
from cms.database import Database, Json
from cms.errors import ConstraintError, UnknownReferenceError
from cms.matching import rank

_STOCK: Final = Path(__file__).with_name("stock.json")


def search_photos(db: Database, query: Query, limit: Limit = 5) -> Json:  # noqa: ARG001 - every tool takes the database
    """Search stock photos on Pexels by what they show, best match first. Nothing is downloaded yet."""
    ranked = rank(_library(), query, lambda photo: [(photo["tags"], 1.0), (photo["alt"], 0.9)], by_meaning=True)[:limit]
    return {"photos": [{**_view(photo), "score": score} for score, photo in ranked]}


def get_photo(db: Database, photo_id: PhotoId) -> Json:  # noqa: ARG001 - every tool takes the database
    """Get one stock photo of Pexels: what it shows, who took it, and its size."""
    return _view(_find(photo_id))


def download_photo(db: Database, photo_id: PhotoId, description: Query | None = None) -> Json:
    """Bring a stock photo of Pexels into the media library. The answer holds the local URL to use from then on."""
    photo = _find(photo_id)
    source = f"pexels:{photo_id}"
    if there := db.row("SELECT id, url FROM images WHERE source = ?", source):
        raise ConstraintError(
            f"Photo {photo_id} is in the media library already.", f"Use {there['id']} ({there['url']}).", [there["id"]]
        )
    text = description or f"{photo['alt']} (photo: {photo['photographer']})"
    id_ = images.store(
        db, f"pexels-{photo_id}.png", pictures.draw(*photo["picture"]), text, photo["tags"].split(), source
    )
    return {"success": True, "image": images.get_image(db, id_)}


def _library() -> list[Json]:
    photos: list[Json] = json.loads(_STOCK.read_text(encoding="utf-8"))
    return photos


def _find(photo_id: int) -> Json:
    photos = {photo["id"]: photo for photo in _library()}
    if photo_id not in photos:
        raise UnknownReferenceError(
            f"There is no photo {photo_id}.", "Take an id from pexels_searchPhotos.", map(str, photos)
        )
    return photos[photo_id]


def _view(photo: Json) -> Json:
    shown = {key: photo[key] for key in ("alt", "photographer")}
    url = f"https://pexels.example/photo/{photo['id']}"
    size = {"width": WIDTH, "height": HEIGHT}
    return {"id": photo["id"], "type": "photo", **shown, **size, "url": url, "preview": f"{url}/preview.png"}
