"""The content of a section: values for the fields that its definition names: text, rich text, an image or a link."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from cms import images, links
from cms.database import Database, Json
from cms.errors import UnknownReferenceError, ValidationError
from cms.lookup import by_id
from cms.matching import listed


def fields(db: Database, definition_id: str) -> dict[str, Json]:
    """The fields of a definition by key, each `{key, type, required}`."""
    rows = db.rows(
        "SELECT key, type, required FROM definition_fields WHERE definitionId = ? ORDER BY rowid", definition_id
    )
    return {row["key"]: {**row, "required": bool(row["required"])} for row in rows}


def read(db: Database, section: Json) -> Json:
    """The values of a section in the order of its definition; an image as `{id, url, alt}`, empty fields left out."""
    values: Json = json.loads(section["content"])
    for image in db.rows(
        "SELECT field, id, url, description AS alt FROM section_images JOIN images ON id = imageId WHERE sectionId = ?",
        section["id"],
    ):
        values[image.pop("field")] = image
    return {key: values[key] for key in fields(db, section["definitionId"]) if key in values}


def write(db: Database, section_id: str, values: Mapping[str, Any]) -> None:
    """Set the named fields and leave the others; an empty string empties a field.

    Raises:
        UnknownReferenceError: a key, an image id or a link that points at nothing.
        ValidationError: a value of the wrong form, or a required field left empty.
    """
    section = by_id(db, "page_sections", section_id)
    known = fields(db, section["definitionId"])
    _check(section["definitionId"], known, values)
    texts: Json = json.loads(section["content"])
    for key, value in values.items():
        if known[key]["type"] == "image":
            set_image(db, section_id, key, value)
            continue
        if known[key]["type"] == "link" and value:
            links.check(db, value)
        if known[key]["type"] == "richtext":
            images.check_markdown(db, value)
        texts[key] = value
    kept = {key: value for key, value in texts.items() if value.strip()}
    section["content"] = json.dumps(kept)
    db.update("page_sections", section_id, content=section["content"], updatedAt=db.now())
    _check_complete(section["definitionId"], known, read(db, section))


def set_image(db: Database, section_id: str, field: str, image_id: str) -> None:
    """Put another image, or with an empty id none, into an image field."""
    db.run("DELETE FROM section_images WHERE sectionId = ? AND field = ?", section_id, field)
    if image_id:
        by_id(db, "images", image_id)
        db.insert("section_images", sectionId=section_id, field=field, imageId=image_id)


def _check(definition_id: str, known: Mapping[str, Json], values: Mapping[str, Any]) -> None:
    if unknown := [key for key in values if key not in known]:
        raise UnknownReferenceError(
            f"A `{definition_id}` section has no field {listed(unknown)}.", f"Its fields: {listed(list(known))}.", known
        )
    if wrong := [key for key, value in values.items() if not isinstance(value, str)]:
        raise ValidationError(
            f"Not a string: {listed(wrong)}.", "Every field takes a string; an image field takes an image id.", wrong
        )


def _check_complete(definition_id: str, known: Mapping[str, Json], values: Mapping[str, Any]) -> None:
    if missing := [key for key, field in known.items() if field["required"] and key not in values]:
        raise ValidationError(
            f"A `{definition_id}` section needs {listed(missing)}.", "Ask the user for what is missing.", missing
        )
