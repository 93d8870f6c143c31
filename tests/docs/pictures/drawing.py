"""SVG for the pages on concepts: text, boxes and lines on a sheet that reads on a phone, in light and dark themes."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape

WIDTH = 520
"""Units of a sheet; on a phone of 360 pixels, text of 15 units has 10 pixels."""

CSS = """
text { font: 15px system-ui, sans-serif; fill: #4c535e; } .t { font-size: 17px; font-weight: 600; fill: #1d2129; }
.n { font-weight: 600; fill: #1d2129; } .s { font-size: 14px; }
.m { font: 13px ui-monospace, monospace; fill: #1d2129; }
.on { fill: #ffffff; font-weight: 600; } .e { text-anchor: end; } .c { text-anchor: middle; }
.sheet { fill: #fbfaf8; } .card { fill: #eae7e0; } .line { stroke: #8b929c; stroke-width: 1.5; fill: none; }
.core { fill: #0b7a5e; } .kept { fill: #a5d8c8; } .new { fill: #d9761a; } .old { fill: #c6cad1; }
.bad { fill: #c3362b; } .user { fill: #3d6fb6; } .data { fill: #f6d9b8; }
@media (prefers-color-scheme: dark) {
 text { fill: #a3acb9; } .t, .n, .m { fill: #e8eaee; } .on { fill: #0f1216; } .sheet { fill: #14171c; }
 .card { fill: #20252c; } .line { stroke: #6b7480; } .core { fill: #3ecf9f; } .kept { fill: #1f5f4c; }
 .new { fill: #f0a550; } .old { fill: #474e5a; } .bad { fill: #f0766b; } .user { fill: #86b0ec; }
 .data { fill: #6a4517; }
}
"""


@dataclass(slots=True)
class Sheet:
    """A picture while it is drawn; `text()` gives it as SVG.

    Attributes:
        title: what it shows, for readers and their software.
        summary: the same in a few sentences.
        height: units.
        shapes: what has been drawn.
    """

    title: str
    summary: str
    height: float = 0
    shapes: list[str] = field(default_factory=list)

    def write(self, x: float, y: float, text: str, style: str = "") -> None:
        """A line of text that begins at `x`, or ends or centres there with the style `e` or `c`."""
        kept = ' xml:space="preserve"' if "m" in style.split() else ""
        shown = f' class="{style}"' if style else ""
        self.shapes.append(f'<text x="{x:.1f}" y="{y:.1f}"{shown}{kept}>{escape(text, quote=False)}</text>')

    def box(self, x: float, y: float, width: float, height: float, style: str, radius: float = 3) -> None:
        """A filled rectangle."""
        size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
        self.shapes.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{style}"/>')

    def line(self, x: float, y: float, to_x: float, to_y: float, style: str = "line") -> None:
        """A straight line."""
        self.shapes.append(f'<path d="M{x:.1f} {y:.1f}L{to_x:.1f} {to_y:.1f}" class="{style}"/>')

    def arrow(self, x: float, y: float, to_y: float) -> None:
        """An arrow downwards."""
        self.shapes.append(f'<path d="M{x:.1f} {y:.1f}V{to_y:.1f}m-5 -6l5 6l5 -6" class="line"/>')

    def legend(self, y: float, entries: list[tuple[str, str]], x: float = 20) -> None:
        """Coloured squares with what they mean, in one line."""
        for style, text in entries:
            self.box(x, y - 11, 12, 12, style, 2)
            self.write(x + 18, y, text, "s")
            x += 38 + 7.2 * len(text)

    def text(self) -> str:
        """The picture as SVG."""
        size = f'viewBox="0 0 {WIDTH} {self.height:g}" width="{WIDTH}"'
        head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">'
        about = f"<title>{escape(self.title)}</title>\n<desc>{escape(self.summary)}</desc>"
        sheet = f'<rect class="sheet" width="{WIDTH}" height="{self.height:g}" rx="10"/>'
        heading = f'<text class="t" x="20" y="32">{escape(self.title)}</text>'
        return "\n".join([head, about, f"<style>{CSS}</style>", sheet, heading, *self.shapes, "</svg>"]) + "\n"
