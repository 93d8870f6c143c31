"""Python code while it is written: the lines of one function, and where in the template its writer stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

_RUN = 200
"""How many pieces of text one line appends."""


@dataclass(slots=True)
class Function:
    """A function `(c, d, s, b, k)`: context, `@data`, scope, block parameters, environment. It returns a text.

    Pieces of text and values wait until a block follows, so that a run of them costs one operation.
    """

    lines: list[str] = field(default_factory=list)
    pieces: list[str] = field(default_factory=list)
    indent: int = 1
    temporaries: int = 0
    reads_context: bool = False

    def put(self, piece: str) -> None:
        """Print the value of an expression, which must be text."""
        self.pieces.append(piece)
        if len(self.pieces) == _RUN:
            self.flush()

    def add(self, line: str) -> None:
        """Write a statement."""
        self.flush()
        self.lines.append("    " * self.indent + line)

    def flush(self) -> None:
        """Write what waits."""
        if self.pieces:
            self.lines.append(f"{'    ' * self.indent}o += ({', '.join(self.pieces)},)")
            self.pieces = []

    @contextmanager
    def indented(self) -> Iterator[None]:
        """Statements one level further in, at least one."""
        self.flush()
        self.indent += 1
        before = len(self.lines)
        yield
        self.flush()
        if len(self.lines) == before:
            self.add("pass")
        self.indent -= 1

    def temporary(self) -> str:
        """A new variable."""
        self.temporaries += 1
        return f"v{self.temporaries}"

    def written(self, name: str, first: Iterable[str] = ()) -> list[str]:
        """The lines of the function under this name, beginning with those in `first`."""
        head = [f"def {name}(c, d, s, b, k):", *first, *(["    f = type(c) is dict"] if self.reads_context else [])]
        if not self.lines and not self.pieces:
            return [*head, "    return ''"]
        if not self.lines:
            return [*head, f"    return ''.join(({', '.join(self.pieces)},))"]
        self.flush()
        return [*head, "    o = []", *self.lines, "    return ''.join(o)"]


@dataclass(frozen=True, slots=True)
class At:
    """Where a writer stands: in which function, and which block parameters are in reach, from the inside out.

    `boxed`: inside a block helper that keeps its context, null is an object (Handlebars.js nullContext).
    """

    function: Function
    params: tuple[tuple[str, ...], ...] = ()
    boxed: bool = False

    def inside(self) -> At:
        """In a branch that is written into the same function."""
        return replace(self, boxed=True)

    def context(self) -> str:
        """The code of the context itself."""
        return "(N if c is None else c)" if self.boxed else "c"
