"""The code of a loop: what changes per item is a variable, and only what the body reads is written."""

from __future__ import annotations

from collections.abc import Iterable

from cuecard.records import dataclass
from cuecard.template.backends.code import BOXED, Function

DATA = {"index": "i", "first": "(i == 0)", "last": "(i == z)", "key": "y"}
"""What `each` writes into `@data`, as code."""

BOOLEANS = (DATA["first"], DATA["last"])


@dataclass(slots=True)
class Loop(Function):
    """A function `(cs, ys, i, z, e, t, a, k)`: items, their keys, the indexes of the first one and of the last of all
    items; then the `@data`, scope, block parameters and environment around the loop. It returns the text of these
    items.

    Its variables: `c` is the item, `y` its key, `i` its number. The others exist only if the body uses them: `d`, `s`
    and `b` as in any function; `w` and `x`, whether these items and these keys are printed as they are; `g`, the
    context around the loop if it is a mapping; and `q`, whether `../` leads to it, which is not the case if an item is
    the context itself (Handlebars.js wrapProgram).
    """

    indent: int = 2
    names_items: bool = False

    def printed(self, value: str, escaped: str) -> str:
        """The code of an escaped value."""
        plain = {"c": "w", BOXED: "w", "y": "x"}.get(value)
        if plain is None:
            return escaped
        self.use(plain)
        return f"({'y' if plain == 'x' else 'c'} if {plain} else {escaped})"

    def takes(self) -> set[str]:
        """Which of its surroundings it must be passed; `r` is `@data` that no loop writes, so that any frame will
        do.
        """
        needed = {"r": "r", "e": "d", "d": "d", "s": "s", "t": "s", "g": "s", "q": "s", "a": "b", "b": "b", "k": "k"}
        return {needed[name] for name in self.uses if name in needed}

    def written(self, name: str, first: Iterable[str] = ()) -> list[str]:
        """The lines of the function under this name, beginning with those in `first`."""
        self.flush()
        frame, params = "d" in self.uses, "b" in self.uses and self.names_items
        numbered, keyed = frame or "i" in self.uses, frame or params or "y" in self.uses
        return [
            f"def {name}(cs, ys, i, z, e=None, t=None, {'a' if self.names_items else 'b'}=None, k=None):",
            *first,
            "    o = []",
            *(["    d = frame(e)"] if frame else []),
            *(["    w = are_clean(cs)"] if "w" in self.uses else []),
            *(["    x = are_clean(ys)"] if "x" in self.uses else []),
            *(["    g = t[0] if type(t[0]) is dict else None"] if "q" in self.uses else []),
            f"    for {_heads(numbered=numbered, keyed=keyed)}:",
            *(["        f = type(c) is dict"] if self.uses & {"f", "q"} else []),
            *(["        q = f and g is not None and c is not g"] if "q" in self.uses else []),
            *(["        d['key'] = y; d['index'] = i; d['first'] = i == 0; d['last'] = i == z"] if frame else []),
            *(["        s = push(c, t)"] if "s" in self.uses else []),
            *(["        b = ((c, y), a)"] if params else []),
            *(self.lines or ["        pass"]),
            "    return ''.join(o)",
        ]


def _heads(*, numbered: bool, keyed: bool) -> str:
    """What a loop iterates over; counting is cheaper than looking up."""
    if numbered and keyed:
        return "i, (y, c) in enumerate(zip(ys, cs), i)"
    if numbered:
        return "i, c in enumerate(cs, i)"
    return "y, c in zip(ys, cs)" if keyed else "c in cs"
