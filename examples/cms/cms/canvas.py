"""Drawing without a picture library: shapes on rows of pixels, saved as PNG (W3C PNG specification, colour type 2)."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Final, TypeAlias

Colour: TypeAlias = tuple[int, int, int]
"""Red, green and blue, each 0 to 255."""

WIDTH: Final = 320
HEIGHT: Final = 200


class Canvas:
    """A picture of 320 by 200 pixels. It starts as a gradient from a colour at the top to one at the bottom."""

    def __init__(self, top: Colour, bottom: Colour) -> None:
        self._rows = [bytearray(bytes(blend(top, bottom, y / HEIGHT)) * WIDTH) for y in range(HEIGHT)]

    def rectangle(self, left: float, top: float, right: float, bottom: float, colour: Colour) -> None:
        """Fill a rectangle; what lies outside the picture is cut off."""
        for y in range(max(0, int(top)), min(HEIGHT, int(bottom))):
            self._span(y, left, right, colour)

    def circle(self, x: float, y: float, radius: float, colour: Colour) -> None:
        """Fill a circle around a centre."""
        for row in range(max(0, int(y - radius)), min(HEIGHT, int(y + radius) + 1)):
            half = max(0.0, radius**2 - (row - y) ** 2) ** 0.5
            self._span(row, x - half, x + half, colour)

    def polygon(self, points: Sequence[tuple[float, float]], colour: Colour) -> None:
        """Fill a polygon by the even-odd rule."""
        edges = list(zip(points, [*points[1:], points[0]], strict=True))
        heights = [y for _, y in points]
        for y in range(max(0, int(min(heights))), min(HEIGHT, int(max(heights)) + 1)):
            middle = y + 0.5
            crossings = sorted(
                x1 + (middle - y1) * (x2 - x1) / (y2 - y1)
                for (x1, y1), (x2, y2) in edges
                if min(y1, y2) <= middle < max(y1, y2)
            )
            for left, right in zip(crossings[::2], crossings[1::2], strict=True):
                self._span(y, left, right, colour)

    def png(self) -> bytes:
        """The picture as a PNG file."""
        header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0)
        pixels = b"".join(b"\0" + row for row in self._rows)  # each row says first that it is not filtered
        chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(pixels)) + _chunk(b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + chunks

    def _span(self, y: int, left: float, right: float, colour: Colour) -> None:
        start, end = max(0, round(left)), min(WIDTH, round(right))
        if start < end:
            self._rows[y][3 * start : 3 * end] = bytes(colour) * (end - start)


def blend(one: Colour, other: Colour, share: float) -> Colour:
    """The colour that lies between two; `share` is how much of the other, 0 to 1."""
    red, green, blue = (round(a + (b - a) * share) for a, b in zip(one, other, strict=True))
    return red, green, blue


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
