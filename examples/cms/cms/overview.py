"""The whole site at a glance, and one search over everything on it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Literal

from cms import links, navigation
from cms.arguments import Query
from cms.database import Database, Json
from cms.matching import Field, rank

Kind = Literal["page", "post", "section", "image"]

_MOST = 10


def get_site_overview(db: Database) -> Json:
    """Get the whole site at a glance: its pages, how much there is of everything, and links that lead nowhere."""
    count = "SELECT (SELECT count(*) FROM {}) AS n"
    tables = {"pages": "pages", "sections": "page_sections", "posts": "posts", "images": "images"}
    states = db.rows("SELECT status, count(*) AS n FROM posts GROUP BY status ORDER BY status")
    menu = navigation.everything(db)
    return {
        "counts": {name: db.rows(count.format(table))[0]["n"] for name, table in tables.items()},
        "pages": db.rows("SELECT id, 'page' AS type, title, slug FROM pages ORDER BY rowid"),
        "postsByStatus": {row["status"]: row["n"] for row in states},
        "navigation": [item["label"] for item in menu],
        "deadLinks": [item["label"] for item in menu if not links.leads_somewhere(db, item["href"])],
    }


def find_resource(db: Database, query: Query, type_: Kind | None = None) -> Json:
    """Find pages, posts, sections and images by a rough name, to learn their ids. Lower scores are better."""
    things = (thing for thing in _everything(db) if type_ in (None, thing[0]["type"]))
    ranked = rank(things, query, lambda thing: thing[1])[:_MOST]
    return {"matches": [{**resource, "score": score} for score, (resource, _) in ranked]}


def _everything(db: Database) -> Iterator[tuple[Json, list[Field]]]:
    for row in db.rows("SELECT * FROM pages ORDER BY rowid"):
        fields = [(row["title"], 1.0), (row["slug"], 0.9), (row["description"], 0.5)]
        yield {"id": row["id"], "type": "page", "name": row["title"], "slug": row["slug"]}, fields
    for row in db.rows("SELECT * FROM posts ORDER BY rowid"):
        fields = [(row["title"], 1.0), (row["slug"], 0.9), (row["tags"], 0.8), (row["excerpt"], 0.6)]
        yield {"id": row["id"], "type": "post", "name": row["title"], "slug": row["slug"]}, fields
    for row in db.rows(
        """SELECT s.id, d.name, p.title, s.pageId, s.content
           FROM page_sections s JOIN section_definitions d ON d.id = s.definitionId JOIN pages p ON p.id = s.pageId
           ORDER BY s.rowid"""
    ):
        text = " ".join(json.loads(row["content"]).values())
        fields = [(row["name"], 1.0), (row["title"], 0.7), (text, 0.5)]
        yield (
            {"id": row["id"], "type": "section", "name": f"{row['name']} on {row['title']}", "pageId": row["pageId"]},
            fields,
        )
    for row in db.rows("SELECT * FROM images ORDER BY rowid"):
        fields = [(row["filename"], 1.0), (row["tags"], 0.9), (row["description"], 0.8)]
        yield {"id": row["id"], "type": "image", "name": row["filename"], "url": row["url"]}, fields
