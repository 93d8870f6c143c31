"""Navigation: the links in the header and the footer, told apart by their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from cms import links
from cms.arguments import Href, Label, Location
from cms.database import Database, Json
from cms.errors import ConstraintError, NotFoundError, ValidationError
from cms.matching import listed, nearest


def get_navigation(db: Database) -> Json:
    """List the navigation items of header and footer in order, hidden ones too."""
    return {"data": everything(db)}


def add_navigation_item(db: Database, label: Label, href: Href, location: Location) -> Json:
    """Add a link to the header, the footer or both, after the others."""
    _check_free(db, label)
    links.check_inside(db, href)
    last = max((row["position"] for row in db.rows("SELECT position FROM navigation")), default=-1)
    db.insert("navigation", id=db.new_id("nav"), label=label, href=href, location=location, position=last + 1)
    return _item(db, label)


def update_navigation_item(
    db: Database,
    label: Label,
    new_label: Label | None = None,
    new_href: Href | None = None,
    new_location: Location | None = None,
) -> Json:
    """Change the label, address or location of a navigation item."""
    row = _find(db, label)
    asked = {"label": new_label, "href": new_href, "location": new_location}
    changes = {column: value for column, value in asked.items() if value is not None}
    if not changes:
        options = ["newLabel", "newHref", "newLocation"]
        raise ValidationError("There is nothing to change.", f"Pass one of {listed(options)}.", options)
    if new_label is not None and new_label != label:
        _check_free(db, new_label)
    if new_href is not None:
        links.check_inside(db, new_href)
    db.update("navigation", row["id"], **changes)
    return _item(db, new_label or label)


def toggle_navigation_item(db: Database, label: Label) -> Json:
    """Hide a navigation item, or show it again, without losing it."""
    row = _find(db, label)
    db.update("navigation", row["id"], visible=1 - row["visible"])
    return _item(db, label)


def reorder_navigation(db: Database, labels: Annotated[list[str], "every label, in the new order"]) -> Json:
    """Put the navigation items into another order."""
    rows = [_find(db, label) for label in labels]
    present = [item["label"] for item in everything(db)]
    if sorted(labels) != sorted(present):
        raise ValidationError("The order must name every label once.", f"The labels are {listed(present)}.", present)
    for position, row in enumerate(rows):
        db.update("navigation", row["id"], position=position)
    return {"success": True, "data": everything(db)}


def remove_navigation_item(db: Database, label: Label) -> Json:
    """Take a link out of the navigation. The page it leads to stays."""
    row = _find(db, label)
    db.run("DELETE FROM navigation WHERE id = ?", row["id"])
    return {"success": True, "removed": label}


def everything(db: Database) -> list[Json]:
    """Every navigation item in order, as tools show it."""
    rows = db.rows("SELECT id, label, href, location, visible FROM navigation ORDER BY position")
    return [{**row, "visible": bool(row["visible"])} for row in rows]


def labels_of(db: Database, addresses: Sequence[str]) -> list[str]:
    """The labels of the items that lead to one of these addresses, in order."""
    return [item["label"] for item in everything(db) if item["href"] in addresses]


def _item(db: Database, label: str) -> Json:
    return {"success": True, "item": next(item for item in everything(db) if item["label"] == label)}


def _find(db: Database, label: str) -> Json:
    found = db.row("SELECT * FROM navigation WHERE label = ?", label)
    if found:
        return found
    labels = [item["label"] for item in everything(db)]
    options = nearest(label, labels) or labels
    raise NotFoundError(f"No navigation item has the label `{label}`.", f"Nearest: {listed(options)}.", options)


def _check_free(db: Database, label: str) -> None:
    if db.row("SELECT 1 FROM navigation WHERE label = ?", label):
        raise ConstraintError(
            f"The label `{label}` is in the navigation already.",
            "Change that item with cms_updateNavigationItem, or choose another label.",
        )
