from __future__ import annotations

import struct
import zlib
from typing import TYPE_CHECKING

from cms import pictures
from cms.seed import open_site
from cms.snapshot import snapshot

if TYPE_CHECKING:
    from pathlib import Path

    from cms.database import Clock
    from unit.cms.conftest import Site

SIZE = (320, 200)


def pixels(png: bytes) -> bytes:
    """The rows of a PNG, each check sum verified: what any reader of the format does."""
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    place, data = 8, b""
    while place < len(png):
        (length,) = struct.unpack_from(">I", png, place)
        body = png[place + 4 : place + 8 + length]

        assert struct.unpack_from(">I", png, place + 8 + length) == (zlib.crc32(body),)
        if body.startswith(b"IHDR"):
            assert struct.unpack(">IIBBBBB", body[4:]) == (*SIZE, 8, 2, 0, 0, 0)
        if body.startswith(b"IDAT"):
            data += body[4:]
        place += 12 + length
    return zlib.decompress(data)


def test_the_site_starts_without_an_about_page(site: Site) -> None:
    content = site.content()

    assert [page["slug"] for page in content["pages"].values()] == ["home", "services", "contact"]
    assert {post["status"] for post in content["posts"].values()} == {"draft", "published", "archived"}
    assert site.db.rows("SELECT * FROM confirmations") == []


def test_the_seed_is_the_same_on_any_day(site: Site, tmp_path: Path) -> None:
    ten_years_on: Clock = lambda: site.db.clock().replace(year=2036)  # noqa: E731 - a clock is a function
    later = open_site(tmp_path / "later", clock=ten_years_on)

    assert snapshot(later) == site.content()
    later.close()


def test_every_picture_is_a_png_and_looks_different(site: Site) -> None:
    drawn = [pixels(path.read_bytes()) for path in sorted((site.folder / "uploads").iterdir())]

    assert {len(rows) for rows in drawn} == {(3 * SIZE[0] + 1) * SIZE[1]}
    for number, one in enumerate(drawn):
        for other in drawn[:number]:
            differing = sum(a != b for a, b in zip(one[::7], other[::7], strict=True)) / len(one[::7])

            assert differing > 0.3


def test_a_palette_changes_a_motif() -> None:
    assert pixels(pictures.draw("waves", "sea")) != pixels(pictures.draw("waves", "dusk"))
