"""The site that the example starts with: Harbour Lane, a small design studio by the sea, as told in `site.json`."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from cms import images, navigation, pages, pictures, posts, sections
from cms.database import Clock, Database, Json, open_database

_SITE = Path(__file__).with_name("site.json")


def open_site(folder: Path, *, clock: Clock, timeout: float = 5.0) -> Database:
    """Open the site in a folder; an empty folder gets the example site first."""
    db = open_database(folder, clock=clock, timeout=timeout)
    if db.row("SELECT 1 FROM counters"):  # a look needs no lock, which other processes may hold for long
        return db
    with db.transaction():
        if not db.row("SELECT 1 FROM counters"):
            site = json.loads(_SITE.read_text(encoding="utf-8"))
            opened = datetime.fromisoformat(site["opened"])
            _fill(replace(db, clock=lambda: opened), site)  # its own clock: the same site on any day
    return db


def _fill(db: Database, site: Json) -> None:
    for id_, definition in site["definitions"].items():
        _define(db, id_, **definition)
    for filename, motif, palette, description, tags in site["images"]:
        images.store(db, filename, pictures.draw(motif, palette), description, tags.split(), "upload")
    ids = [
        pages.create_page(db, page["title"], description=page["description"])["page"]["id"] for page in site["pages"]
    ]
    for page_id, page in zip(ids, site["pages"], strict=True):
        for definition_id, content in page["sections"]:
            sections.add(db, page_id, definition_id, content)
    for post in site["posts"]:
        _write(db, **post)
    for label, href, location in site["navigation"]:
        navigation.add_navigation_item(db, label, href, location)


def _define(db: Database, id_: str, *, name: str, description: str, fields: dict[str, str]) -> None:
    db.insert("section_definitions", id=id_, name=name, description=description)
    for key, form in fields.items():
        type_, _, required = form.partition(", ")
        db.insert("definition_fields", definitionId=id_, key=key, type=type_, required=bool(required))


def _write(db: Database, *, status: str, cover: Json | None = None, **text: Any) -> None:
    slug = posts.create_post(db, **text)["post"]["slug"]
    if cover:
        posts.update_post(db, slug, cover=cover, featured_image=cover["url"])
    for move, states in ((posts.publish_post, {"published", "archived"}), (posts.archive_post, {"archived"})):
        if status in states:
            move(db, slug)
            move(db, slug, confirmed=True)
