"""Python code under construction: the lines of one function, and loops."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field, replace

from cuecard.records import dataclass

_RUN = 200
"""The number of pieces of text that one line appends."""

_MANY = 128
"""How many values a function prints before it checks their total length."""

SURROUNDINGS = ("d", "s", "b", "k")
"""What a function is given in addition to its context: `@data`, scope, block parameters, environment."""

BOXED = "(N if c is None else c)"
"""The context with null as an object."""


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of a function that is written separately: lines, and pieces of text after them."""

    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A function `(c, d, s, b, k)`: context, `@data`, scope, block parameters, environment. It returns a text.

    Pieces of text and values are held back until a block follows, so that a run of them costs one operation.

    Attributes:
        uses: the variables that it reads: its arguments except the context, and `f`, which says whether the context is
            a mapping.
    """

    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    indent: int = 1
    temporaries: int = 0
    values: int = 0
    uses: set[str] = field(default_factory=set)

    def use(self, *names: str) -> None:
        """Note that these variables are read."""
        self.uses.update(names)

    def takes(self) -> set[str]:
        """Which of its surroundings it must be passed."""
        return self.uses.intersection(SURROUNDINGS)

    def put(self, piece: str) -> None:
        """Print the value of an expression, which must be a text."""
        self.pieces.append(piece)
        self.values += _is_value(piece)
        if len(self.pieces) == _RUN:
            self.flush()

    def add(self, line: str) -> None:
        """Write a statement."""
        self.flush()
        self.lines.append("    " * self.indent + line)

    def flush(self) -> None:
        """Write what was held back."""
        if self.pieces:
            self.lines.append(f"{'    ' * self.indent}o += ({', '.join(self.pieces)},)")
            self.pieces = []

    def apart(self, write: Callable[[], None]) -> Branch:
        """What `write` writes, as a separate branch."""
        before, self.lines, self.pieces = (self.lines, self.pieces), [], []
        self.indent += 1
        write()
        self.indent -= 1
        (self.lines, self.pieces), written = before, Branch(self.lines, self.pieces)
        return written

    def choose(self, test: str, then: Branch, other: Branch) -> None:
        """Print one branch or the other, in a single expression if both consist of pieces only."""
        if not then.lines and not other.lines:
            self.put(f"({joined(then.pieces)} if {test} else {joined(other.pieces)})")
            return
        for head, branch in ((f"if {test}:", then), ("else:", other)):
            self.add(head)
            self.lines += branch.lines
            self.indent += 1
            self.pieces = branch.pieces if branch.lines or branch.pieces else ["''"]
            self.flush()
            self.indent -= 1

    def temporary(self) -> str:
        """A new variable."""
        self.temporaries += 1
        return f"v{self.temporaries}"

    def written(self, name: str, first: Iterable[str] = ()) -> list[str]:
        """The lines of the function under this name, beginning with those in `first`."""
        head = [
            f"def {name}(c, d=None, s=None, b=None, k=None):",
            *first,
            *(["    f = type(c) is dict"] if "f" in self.uses else []),
        ]
        if not self.lines:
            return [*head, f"    return {joined(self.pieces)}"]
        self.flush()
        return [*head, "    o = []", *self.lines, f"    return {joiner(self.values)}(o)"]


@dataclass(frozen=True, slots=True)
class At:
    """The position of a writer: its function, and the block parameters in scope, from the inside out.

    `boxed`: inside a block helper that keeps its context, null is an object (Handlebars.js nullContext).
    """

    function: Function
    params: tuple[tuple[str, ...], ...] = ()
    boxed: bool = False

    def inside(self) -> At:
        """The position in a branch that is written into the same function."""
        return replace(self, boxed=True)

    def context(self) -> str:
        """The code of the context itself."""
        return BOXED if self.boxed else "c"


def joined(pieces: list[str]) -> str:
    """The code that joins pieces into a text."""
    if len(pieces) == 1 and not _is_value(pieces[0]):
        return pieces[0]  # a literal; a value on its own must go through `join`, which makes trusted text plain
    return f"{joiner(sum(map(_is_value, pieces)))}(({', '.join(pieces)},))" if pieces else "''"


def joiner(values: int) -> str:
    """The code of the function that joins pieces, given how many of them are values."""
    return "J" if values > _MANY else "''.join"


def _is_value(piece: str) -> bool:
    return not piece.startswith(("'", '"'))


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
