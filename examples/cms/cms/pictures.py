"""The motifs of the example's pictures. Each takes a palette, so that one motif gives many pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

from cms.canvas import HEIGHT, WIDTH, Canvas, Colour, blend


@dataclass(frozen=True, slots=True)
class Palette:
    """Four colours: the sky above, the sky at the horizon, what stands there, and what catches the eye."""

    high: Colour
    low: Colour
    solid: Colour
    accent: Colour


_PALETTES: Final[Mapping[str, Palette]] = {
    "day": Palette((110, 170, 225), (225, 238, 248), (70, 105, 90), (250, 250, 245)),
    "dusk": Palette((60, 45, 105), (250, 160, 110), (45, 35, 65), (255, 220, 120)),
    "autumn": Palette((245, 225, 190), (250, 240, 220), (150, 85, 45), (205, 60, 40)),
    "sea": Palette((165, 215, 230), (235, 248, 250), (25, 110, 140), (255, 255, 255)),
    "mint": Palette((215, 240, 228), (245, 252, 248), (45, 130, 110), (240, 150, 90)),
    "night": Palette((12, 16, 38), (40, 52, 96), (22, 26, 48), (250, 225, 130)),
    "rose": Palette((252, 228, 232), (255, 246, 246), (150, 70, 95), (60, 90, 140)),
}


@cache
def draw(motif: str, palette: str) -> bytes:
    """A motif in a palette, as a PNG file."""
    return _MOTIFS[motif](_PALETTES[palette]).png()


def _mountains(p: Palette) -> Canvas:
    """Two ranges with snow, and a lake."""
    picture = Canvas(p.high, p.low)
    picture.polygon([(-20, 150), (70, 55), (130, 120), (200, 40), (340, 150)], blend(p.solid, p.low, 0.35))
    picture.polygon([(200, 40), (172, 72), (193, 66), (206, 76), (222, 61)], p.accent)
    picture.polygon([(-20, 160), (40, 110), (110, 150), (250, 95), (340, 160)], p.solid)
    picture.rectangle(0, 152, WIDTH, HEIGHT, blend(p.high, p.solid, 0.3))
    return picture


def _skyline(p: Palette) -> Canvas:
    """Towers with lit windows."""
    picture = Canvas(p.high, p.low)
    towers = [(5, 40, 90), (50, 30, 50), (85, 50, 105), (140, 28, 35), (172, 46, 80), (222, 34, 58), (262, 50, 98)]
    for left, width, top in towers:
        picture.rectangle(left, top, left + width, HEIGHT, p.solid)
        for x in range(left + 6, left + width - 6, 9):
            for y in range(top + 8, HEIGHT - 10, 14):
                if (x * y) % 5:
                    picture.rectangle(x, y, x + 4, y + 6, p.accent)
    return picture


def _team(p: Palette) -> Canvas:
    """Five people side by side, head and shoulders."""
    picture = Canvas(p.high, p.low)
    for number, x in enumerate([60, 260, 110, 210, 160]):
        clothes = blend(p.solid, p.accent, number / 4)
        picture.circle(x, 178, 42, clothes)
        picture.rectangle(x - 42, 178, x + 42, HEIGHT, clothes)
        picture.circle(x, 108, 24, blend((240, 205, 175), (120, 80, 55), (number * 2 % 5) / 4))
    return picture


def _desk(p: Palette) -> Canvas:
    """A table with an open laptop, a plant and a lamp."""
    picture = Canvas(p.high, p.low)
    picture.rectangle(0, 150, WIDTH, 162, p.solid)
    picture.rectangle(105, 82, 215, 146, (50, 54, 62))
    picture.rectangle(111, 88, 209, 140, p.accent)
    picture.rectangle(92, 146, 228, 151, (90, 95, 105))
    picture.rectangle(40, 118, 66, 150, blend(p.solid, p.accent, 0.5))
    for x in (36, 53, 70):
        picture.circle(x, 104, 15, (70, 140, 85))
    picture.polygon([(262, 60), (300, 60), (312, 90), (250, 90)], p.accent)
    picture.rectangle(279, 90, 283, 150, p.solid)
    return picture


def _waves(p: Palette) -> Canvas:
    """A sea in rows of waves, and a sail."""
    picture = Canvas(p.high, p.low)
    picture.polygon([(215, 40), (215, 104), (262, 104)], p.accent)
    picture.polygon([(195, 108), (270, 108), (255, 124), (208, 124)], p.solid)
    for row in range(5):
        colour = blend(p.solid, p.low, 0.5 - row * 0.12)
        picture.rectangle(0, 122 + row * 17, WIDTH, HEIGHT, colour)
        for x in range(-10 + 15 * (row % 2), WIDTH + 30, 30):
            picture.circle(x, 124 + row * 17, 11, colour)
    return picture


def _forest(p: Palette) -> Canvas:
    """Fir trees on both sides of a path."""
    picture = Canvas(p.high, p.low)
    picture.rectangle(0, 165, WIDTH, HEIGHT, blend(p.solid, p.low, 0.5))
    picture.polygon([(150, 165), (172, 165), (230, 200), (95, 200)], p.accent)
    for number, x in enumerate([20, 300, 60, 265, 100, 228]):
        height = 125 - number * 12
        for step in range(3):
            top, half = 172 - height + step * height * 0.25, 14 + step * 8
            picture.polygon(
                [(x, top), (x - half, top + height * 0.4), (x + half, top + height * 0.4)],
                blend(p.solid, p.low, number * 0.06),
            )
    return picture


def _sunrise(p: Palette) -> Canvas:
    """A plain gradient with the sun on the horizon."""
    picture = Canvas(p.high, p.low)
    for ring in range(4):
        picture.circle(160, 150, 70 - ring * 12, blend(p.low, p.accent, (ring + 1) / 4))
    picture.rectangle(0, 150, WIDTH, HEIGHT, p.solid)
    return picture


def _cup(p: Palette) -> Canvas:
    """A cup of coffee on a saucer, from the side."""
    picture = Canvas(p.high, p.low)
    picture.circle(218, 112, 26, p.solid)
    picture.circle(218, 112, 15, blend(p.high, p.low, 0.6))
    picture.rectangle(110, 80, 210, 125, p.solid)
    picture.circle(160, 125, 50, p.solid)
    picture.rectangle(100, 72, 220, 82, p.accent)
    picture.rectangle(70, 172, 250, 182, p.accent)
    return picture


def _bridge(p: Palette) -> Canvas:
    """A bridge hung from two towers over water."""
    picture = Canvas(p.high, p.low)
    picture.rectangle(0, 160, WIDTH, HEIGHT, blend(p.solid, p.low, 0.45))
    for x in range(80, 241, 4):
        sag = 130 - (x - 160) ** 2 * 0.0125
        picture.rectangle(x, sag, x + 2, 138, p.accent)
    picture.polygon([(0, 132), (80, 50), (80, 55), (0, 137)], p.accent)
    picture.polygon([(320, 132), (240, 50), (240, 55), (320, 137)], p.accent)
    picture.rectangle(0, 136, WIDTH, 144, p.solid)
    for x in (75, 235):
        picture.rectangle(x, 40, x + 10, 175, p.solid)
    return picture


def _chart(p: Palette) -> Canvas:
    """Rising bars on a board."""
    picture = Canvas(p.high, p.low)
    picture.rectangle(40, 25, 280, 175, (252, 252, 252))
    for number, height in enumerate([30, 48, 42, 70, 92, 118]):
        colour = p.accent if number == 5 else p.solid
        picture.rectangle(60 + number * 36, 165 - height, 84 + number * 36, 165, colour)
    return picture


def _flowers(p: Palette) -> Canvas:
    """A meadow of round flowers."""
    picture = Canvas(p.high, p.low)
    picture.rectangle(0, 130, WIDTH, HEIGHT, (95, 150, 90))
    for number, x in enumerate(range(20, WIDTH, 35)):
        y = 95 + (number * 37) % 50
        picture.rectangle(x - 1, y, x + 2, HEIGHT, (60, 115, 70))
        for dx, dy in ((-9, 0), (9, 0), (0, -9), (0, 9)):
            picture.circle(x + dx, y + dy, 8, p.accent if number % 2 else p.solid)
        picture.circle(x, y, 6, (250, 215, 90))
    return picture


def _rings(p: Palette) -> Canvas:
    """Circles in circles: a logo."""
    picture = Canvas(p.low, p.low)
    for number in range(5):
        picture.circle(160, 100, 80 - number * 16, p.accent if number % 2 else p.solid)
    return picture


_MOTIFS: Final[Mapping[str, Callable[[Palette], Canvas]]] = {
    "mountains": _mountains,
    "skyline": _skyline,
    "team": _team,
    "desk": _desk,
    "waves": _waves,
    "forest": _forest,
    "sunrise": _sunrise,
    "cup": _cup,
    "bridge": _bridge,
    "chart": _chart,
    "flowers": _flowers,
    "rings": _rings,
}
