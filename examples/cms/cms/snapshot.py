"""The whole content as plain data, and the differences between two states in words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from cms import images, navigation, posts, sections
from cms.database import Database, Json

Snapshot: TypeAlias = dict[str, dict[str, Json]]
"""Table, id, values: `snapshot["pages"]["page-1"]["slug"]`."""


@dataclass(frozen=True, slots=True)
class Change:
    """One row that came, went or changed; `fields` holds the values before and after of what changed in it."""

    kind: Literal["created", "changed", "removed"]
    table: str
    id: str
    name: str
    fields: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    def __str__(self) -> str:
        details = "".join(f"\n    {key}: {_short(old)} -> {_short(new)}" for key, (old, new) in self.fields.items())
        return f"{self.kind} {self.table} {self.id} {_short(self.name)}{details}"


def snapshot(database: Database) -> Snapshot:
    """Pages, sections, posts, images and navigation of the site, each by id."""
    tables = {
        "pages": database.rows("SELECT * FROM pages ORDER BY rowid"),
        "sections": [
            sections.view(database, row["id"]) for row in database.rows("SELECT id FROM page_sections ORDER BY rowid")
        ],
        "posts": posts.everything(database),
        "images": images.list_all_images(database)["data"],
        "navigation": [{**item, "position": position} for position, item in enumerate(navigation.everything(database))],
    }
    return {table: {row["id"]: row for row in rows} for table, rows in tables.items()}


def changes(before: Snapshot, after: Snapshot) -> list[Change]:
    """What happened between two snapshots: removed, changed and created rows, table by table."""
    return [change for table in after for change in _changes_in(table, before.get(table, {}), after[table])]


def _changes_in(table: str, before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[Change]:
    for id_, row in before.items():
        if id_ not in after:
            yield Change("removed", table, id_, _name(row))
        elif fields := _differences(row, after[id_]):
            yield Change("changed", table, id_, _name(after[id_]), fields)
    for id_, row in after.items():
        if id_ not in before:
            yield Change("created", table, id_, _name(row))


def _differences(before: Json, after: Json) -> dict[str, tuple[Any, Any]]:
    old, new = dict(_flat(before)), dict(_flat(after))
    keys = dict.fromkeys([*old, *new])
    return {key: (old.get(key), new.get(key)) for key in keys if key != "updatedAt" and old.get(key) != new.get(key)}


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key, value


def _name(row: Json) -> str:
    name: str = row.get("title") or row.get("name") or row["label"]
    return name


def _short(value: object, most: int = 60) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= most else text[: most - 3] + "..."
