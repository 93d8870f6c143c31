"""Charts as inline SVG: colours come from the page's CSS and follow its light or dark theme."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 940
_HATCH = (
    '<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
    '<path class="hatch" d="M0 0V6"/></pattern></defs>'
)
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 12, 14, 40


@dataclass(frozen=True, slots=True)
class Mark:
    """A remark on one point of a chart, shown on hover and read by screen readers."""

    place: int
    text: str


@dataclass(frozen=True, slots=True)
class Series:
    """One line or stack layer: its name, the CSS class of its colour, and a value for each request."""

    name: str
    style: str
    values: tuple[float, ...]
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True, slots=True)
class Axis:
    """The requests along a chart: their labels, and where turns begin."""

    labels: tuple[str, ...]
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChartBreak:
    """Where a stack differs from the previous one: the height, and the reason."""

    place: int
    height: float
    text: str


def line_chart(title: str, axis: Axis, series: Sequence[Series], height: int = 280) -> str:
    """A line with a dot per request for each series; marked points get a ring."""
    most = max((value for one in series for value in one.values), default=0)
    frame = _Frame(len(axis.labels), ceiling(most), height)
    body = [*_grid(frame, axis)]
    ring, dot = min(7, frame.pitch * 0.4), min(3.2, frame.pitch * 0.2)
    for one in series:
        points = [(frame.middle(n), frame.up(value)) for n, value in enumerate(one.values)]
        path = " ".join(f"{'L' if n else 'M'}{x:.1f} {y:.1f}" for n, (x, y) in enumerate(points))
        body.append(f'<path class="line {one.style}" d="{path}"/>')
        said = {mark.place: mark.text for mark in one.marks}
        for n, (x, y) in enumerate(points):
            text = f"{axis.labels[n]} {one.name}: {one.values[n]:,.0f}" + (f" - {said[n]}" if n in said else "")
            if n in said:
                body.append(f'<circle class="ring {one.style}" cx="{x:.1f}" cy="{y:.1f}" r="{ring:.1f}"/>')
            shape = f'<circle class="dot {one.style}" cx="{x:.1f}" cy="{y:.1f}" r="{dot:.1f}">'
            body.append(_titled(shape, "circle", text))
    return _svg(title, height, body)


def stack_chart(
    title: str, axis: Axis, layers: Sequence[Series], cuts: Sequence[ChartBreak], most: float, height: int = 220
) -> str:
    """A bar per request, made of layers from the bottom up; a line where it differs from the previous one."""
    frame = _Frame(len(axis.labels), ceiling(most), height)
    body = [*_grid(frame, axis)]
    wide = min(frame.pitch * 0.72, 34)
    for n, label in enumerate(axis.labels):
        under = 0.0
        for layer in layers:
            value = layer.values[n]
            top, tall = frame.up(under + value), frame.up(under) - frame.up(under + value)
            if value:
                shape = f'x="{frame.middle(n) - wide / 2:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{tall:.1f}"'
                told = f"{label} {layer.name}: {value:,.0f}"
                body.append(_titled(f'<rect class="fill {layer.style}" {shape}>', "rect", told))
            under += value
    for cut in cuts:
        x, y = frame.middle(cut.place) - wide / 2, frame.up(cut.height)
        top = frame.up(sum(layer.values[cut.place] for layer in layers))
        shape = f'x="{x:.1f}" y="{top:.1f}" width="{wide:.1f}" height="{y - top:.1f}"'
        body.append(_titled(f'<rect class="again" {shape}>', "rect", cut.text))
        body.append(f'<path class="cut" d="M{x - 5:.1f} {y:.1f}h{wide + 10:.1f}"/>')
    return _svg(title, height, body)


def share_bars(title: str, rows: Sequence[tuple[str, Sequence[tuple[str, str, float]]]]) -> str:
    """A bar of full width per row, divided by the shares of its parts: name, CSS class, value."""
    height, left = 30 * len(rows) + 6, 150
    wide = WIDTH - left - 20
    body: list[str] = []
    for n, (name, parts) in enumerate(rows):
        whole, x, y = sum(value for _, _, value in parts) or 1, float(left), 8 + 30 * n
        body.append(f'<text class="name" x="{left - 12}" y="{y + 14}" text-anchor="end">{escape(name)}</text>')
        for part, style, value in parts:
            share = value / whole
            if share:
                text = f"{name}, {part}: {100 * share:.1f} %"
                shape = f'x="{x:.1f}" y="{y}" width="{wide * share:.1f}" height="20"'
                body.append(_titled(f'<rect class="fill {style}" {shape}>', "rect", text))
            if share > 0.07:
                middle = x + wide * share / 2
                body.append(f'<text class="within" x="{middle:.1f}" y="{y + 14}">{100 * share:.0f} %</text>')
            x += wide * share
    return _svg(title, height, body)


def ceiling(most: float) -> float:
    """The next number that divides into four round steps of 1, 1.5, 2, 2.5, 3, 4 or 5 times a power of ten."""
    power = 1.0
    while power * 20 < most:
        power *= 10
    return next((4 * power * n for n in (1, 1.5, 2, 2.5, 3, 4, 5) if 4 * power * n >= most), 20 * power)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The coordinates of a chart: requests to the right, values upwards."""

    places: int
    most: float
    height: int

    @property
    def pitch(self) -> float:
        return (WIDTH - _LEFT - _RIGHT) / max(self.places, 1)

    def middle(self, place: int) -> float:
        return _LEFT + self.pitch * (place + 0.5)

    def up(self, value: float) -> float:
        tall = self.height - _TOP - _BOTTOM
        return self.height - _BOTTOM - tall * value / (self.most or 1)


def _grid(frame: _Frame, axis: Axis) -> Iterator[str]:
    right, floor = WIDTH - _RIGHT, frame.up(0)
    for n in range(5):
        value = frame.most * n / 4
        y = frame.up(value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{right}"/>'
        yield f'<text class="tick" x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{_short(value)}</text>'
    for number, place in enumerate(axis.turns, 1):
        x = _LEFT + frame.pitch * place
        yield f'<path class="turn" d="M{x:.1f} {_TOP}V{floor + 30:.1f}"/>'
        yield f'<text class="tick" x="{x + 5:.1f}" y="{floor + 32:.1f}">turn {number}</text>'
    every = max(1, -(-len(axis.labels) // 30))
    for n, label in enumerate(axis.labels):
        if n % every == 0:
            x, y = frame.middle(n), floor + 16
            yield f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{escape(label)}</text>'


def _short(value: float) -> str:
    return f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"


def _titled(start: str, tag: str, text: str) -> str:
    return f"{start}<title>{escape(text)}</title></{tag}>"


def _svg(title: str, height: int, body: Sequence[str]) -> str:
    head = f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">'
    return "\n".join([head, _HATCH, *body, "</svg>"])
