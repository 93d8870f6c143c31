"""Draws the pictures of docs/pictures anew: `make picture`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from docs.pictures import cache, deliveries, discovery, reload, tiers, trust

FOLDER = Path(__file__).parents[3] / "docs" / "pictures"
PICTURES: Mapping[str, Callable[[], str]] = {
    "tiers": tiers.picture,
    "deliveries": deliveries.picture,
    "cache": cache.picture,
    "discovery": discovery.picture,
    "trust": trust.picture,
    "reload": reload.picture,
}
"""What each picture shows."""

if __name__ == "__main__":
    for name, draw in PICTURES.items():
        (FOLDER / f"{name}.svg").write_text(draw(), encoding="utf-8")
        sys.stdout.write(f"wrote docs/pictures/{name}.svg\n")
