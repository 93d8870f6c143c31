"""What the pages of reports share: a light and a dark palette, the system's own fonts, and what browsers may do."""

from __future__ import annotations

import base64
import hashlib

STYLE = (
    """\
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1d2129; --soft: #5c6470; --rule: #e3e1dc;
  --append: #0b7a5e; --rewrite: #c2410c; --frozen: #2563c9; --plain: #8a909b;
  --tools: #a78bda; --system: #5b8def; --appended: #e0a43a; --messages: #b9c0cb;
  --cached: #4aa789; --written: #e0a43a; --fresh: #d9694a; --cut: #d11a3a; --within: #1d2129;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171c; --card: #1c2027; --ink: #e8eaee; --soft: #9aa3b0; --rule: #2e343e;
    --append: #3ecf9f; --rewrite: #ff8a5c; --frozen: #7aa7ff; --plain: #8a93a1;
    --tools: #8f74c4; --system: #4a77cf; --appended: #c98f2d; --messages: #545d6b;
    --cached: #2f8a6d; --written: #c08a2b; --fresh: #b9543a; --cut: #ff5c77; --within: #ffffff;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 15px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
main { max-width: 1020px; margin: 0 auto; padding: 40px 24px 64px; }
h1 { font-size: 30px; line-height: 1.2; margin: 0 0 8px; letter-spacing: -0.015em; }
h2 { font-size: 18px; margin: 0 0 4px; letter-spacing: -0.005em; }
h3 { font-size: 14px; margin: 20px 0 0; font-weight: 600; }
p { margin: 0 0 8px; color: var(--soft); }
header { margin-bottom: 24px; }
header p { margin: 0; }
.over { text-transform: uppercase; letter-spacing: 0.08em; font-size: 12px; margin-bottom: 6px !important; }
aside { background: var(--card); border: 1px solid var(--rule); border-left: 4px solid var(--append);
  border-radius: 8px; padding: 14px 18px; margin-bottom: 24px; color: var(--soft); }
aside strong { color: var(--ink); display: block; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(170px, 1fr)); gap: 14px; margin-bottom: 24px; }
.card { background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px 10px; }
.card h2 { font-size: 13px; font-weight: 600; white-space: nowrap; }
.card p { font-size: 13px; margin: 0 0 2px; }
.card .figure { font-size: 27px; line-height: 1.25; font-weight: 650; font-variant-numeric: tabular-nums;
  letter-spacing: -0.02em; margin: 0; }
.card.append .figure { color: var(--append); }
.card.rewrite .figure { color: var(--rewrite); }
.card.frozen .figure { color: var(--frozen); }
.card.plain .figure { color: var(--plain); }
section.chart, main > section, details {
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 20px 22px; margin-bottom: 20px;
}
svg { display: block; width: 100%; height: auto; overflow: visible; }
.legend { list-style: none; display: flex; flex-wrap: wrap; gap: 4px 20px; padding: 0; margin: 6px 0 10px;
  font-size: 13px; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 7px; vertical-align: -1px; }
.line { fill: none; stroke-width: 2.2; stroke-linejoin: round; stroke-linecap: round; }
.ring { fill: none !important; stroke-width: 1.6; }
.grid { stroke: var(--rule); fill: none; }
.turn { stroke: var(--rule); stroke-dasharray: 3 4; fill: none; }
.tick, .name, .within { font-size: 11.5px; fill: var(--soft); font-variant-numeric: tabular-nums; }
.name { font-size: 13px; fill: var(--ink); }
.within { fill: var(--within); text-anchor: middle; }
.cut { stroke: var(--cut); stroke-width: 2.2; fill: none; }
.hatch { stroke: var(--cut); stroke-width: 2; }
.again { fill: url(#hatch); opacity: 0.55; }
"""
    + "".join(
        f".line.{name}, .ring.{name} {{ stroke: var(--{name}); }} .dot.{name} {{ fill: var(--{name}); }}\n"
        for name in ("append", "rewrite", "frozen")
    )
    + "".join(
        f".fill.{name} {{ fill: var(--{name}); }} .key.{name} {{ background: var(--{name}); }}\n"
        for name in (
            "append",
            "rewrite",
            "frozen",
            "tools",
            "system",
            "appended",
            "messages",
            "cached",
            "written",
            "fresh",
        )
    )
    + """\
table { border-collapse: collapse; width: 100%; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 6px 12px 6px 0; border-bottom: 1px solid var(--rule); vertical-align: top; }
th { color: var(--soft); font-weight: 500; }
.number { text-align: right; }
tbody th { color: var(--ink); }
.scroll { overflow-x: auto; }
:focus-visible { outline: 2px solid var(--frozen); outline-offset: 3px; border-radius: 4px; }
@media (max-width: 640px) {
  main { padding: 24px 12px 40px; }
  section.chart, main > section, details { padding: 14px; }
  .cards { grid-template-columns: repeat(auto-fit, minmax(140px, 1fr)); }
  .card h2 { white-space: normal; }
  .scroll svg { width: 640px; }
  .scroll td, .scroll th { overflow-wrap: normal; min-width: 56px; }
}
.note, footer { font-size: 13px; color: var(--soft); }
summary { cursor: pointer; }
details[open] summary { margin-bottom: 12px; }
@media print { details { display: none; } }
"""
)


def document(title: str, style: str, main: str) -> str:
    """A whole page, which loads nothing: a browser applies this style and no other, and runs no script.

    Args:
        title: its title, escaped.
        style: its style sheet, the only one.
        main: its content. A `style` attribute in it would be ignored.
    """
    style = f"\n{style}"
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n<title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>{style}</style>\n</head>\n<body>\n<main>\n{main}\n</main>\n</body>\n</html>\n"
    )
