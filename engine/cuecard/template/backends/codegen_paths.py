"""Paths and literals to Python expressions: the lowest part of the code generator."""

from __future__ import annotations

import math
from typing import Any

from cuecard.errors import Problem
from cuecard.template.backends.code import At
from cuecard.template.backends.loop import DATA, Loop
from cuecard.template.backends.rules import Rules
from cuecard.template.syntax.nodes import Expression, Literal, Path, Statement
from cuecard.template.syntax.source import Source


class PathWriter:
    """Writes lookups; collects the places, constants and problems of a template on the way."""

    def __init__(self, source: Source, rules: Rules) -> None:
        """Begin with nothing written."""
        self.source, self.rules = source, rules
        self.places: list[tuple[int, int]] = []
        self.constants: dict[str, Any] = {}
        self.problems: list[Problem] = []

    def literal(self, node: Literal) -> str:
        """The value of a literal."""
        if isinstance(node.value, float) and math.isinf(node.value):
            return self.constant(node.value)
        return repr(node.value)

    def path(self, path: Path, at: At, *, strict: bool = False) -> str:
        """Lookups from the inside out; with `strict` the last one must succeed."""
        code, parts, mapping = self.start(path, at)
        steps = len(path.parts) - len(parts)
        for position, part in enumerate(parts, steps):
            last = position == len(path.parts) - 1
            kind = ("S" if strict else "M") if last else "I"
            slow = self.step(code, part, path, kind, data=path.data and position > 0)
            if position == steps and mapping:
                known, test = mapping
                at.function.use(test)
                slow = f"({known}[{part!r}] if {test} and {part!r} in {known} else {slow})"
            code = slow
        return code

    def start(self, path: Path, at: At) -> tuple[str, tuple[str, ...], tuple[str, str] | None]:
        """Where a path begins, the parts that are still to be looked up, and, where that is known to be a mapping if a
        variable is true, the two of them.
        """
        function, parts, bound = at.function, path.parts, self.bound(path, at)
        in_loop = isinstance(function, Loop)
        if bound and not bound[0] and isinstance(function, Loop) and function.names_items:
            return self.item(bound[1], at), parts[1:], ("c", "f") if not bound[1] else None
        if bound:
            function.use("b")
            return f"P(b{'[1]' * bound[0]}[0], {bound[1]}, {self.place(path)})", parts[1:], None
        if path.data:
            return *self.data(path, at), None
        if not path.depth:
            return at.context(), parts, ("c", "f")
        boxed = ", boxed=True" if at.boxed else ""
        if in_loop and path.depth == 1:
            function.use("q")
            return f"(g if q else outer(push(c, t), 1{boxed}))", parts, ("g", "q")
        function.use("s")
        return f"outer(s, {path.depth}{boxed})", parts, None

    def item(self, position: int, at: At) -> str:
        """What a loop has named: the item, its key, or nothing."""
        if position == 1:
            at.function.use("y")
        return ("c", "y")[position] if position < 2 else "None"

    def data(self, path: Path, at: At) -> tuple[str, tuple[str, ...]]:
        """Where a path into `@data` begins. A loop writes none that is read in it alone: it has variables for that."""
        function, frame, depth = at.function, "d", path.depth
        if isinstance(function, Loop):
            if not depth and path.parts[:1] and path.parts[0] in DATA:
                function.use(*(name for name in "iy" if name in DATA[path.parts[0]]))
                return DATA[path.parts[0]], path.parts[1:]
            if not depth and (path.parts[:1] == ("root",) or not self.rules.strict):
                function.use("r")
                return "e", path.parts
            # A name that is not there is told with all that are: those of the loop, too.
            frame, depth = ("e", depth - 1) if depth else ("d", 0)
        function.use(frame)
        return (f"up({frame}, {depth})" if depth else frame), path.parts

    def step(self, value: str, part: str, path: Path, kind: str, *, data: bool) -> str:
        """One lookup. In a strict template it must succeed (`S`) or have something to look in (`M`); in the midst of a
        path it tells the next one when it fails (`I`).
        """
        if self.rules.strict or (self.rules.assume_objects and kind == "I"):
            return f"{kind}({value}, {part!r}, {self.place(path)})"
        if self.rules.assume_objects:
            return f"M({value}, {part!r}, {self.place(path)})"
        return f"D({value}, {part!r})" if data else f"L({value}, {part!r})"

    def bound(self, path: Path, at: At) -> tuple[int, int] | None:
        """Where a path's first name is a block parameter: levels out, and position (Handlebars.js blockParamIndex)."""
        if path.depth or path.scoped or not path.parts:
            return None
        for depth, names in enumerate(at.params):
            if path.parts[0] in names:
                return depth, names.index(path.parts[0])
        return None

    # -- constants, places and mistakes

    def helper(self, name: str) -> str:
        """The variable that holds a helper."""
        self.constants[f"h{list(self.rules.helpers).index(name)}"] = self.rules.helpers[name]
        return f"h{list(self.rules.helpers).index(name)}"

    def constant(self, value: Any) -> str:
        """A variable that holds a value."""
        name = f"k{len(self.constants)}"
        self.constants[name] = value
        return name

    def place(self, node: Statement | Expression) -> int:
        """The number of a place, for errors."""
        self.places.append((node.start, node.end))
        return len(self.places) - 1

    def report(self, node: Statement | Expression, code: str, message: str, hint: str, *, certain: bool = False) -> str:
        """What cannot be rendered: told when it is reached, but in a strict template, or if it is certain, right away.

        Writing goes on after it, so that all mistakes are told at once.
        """
        if not self.rules.strict and not certain:
            return f"fail({self.place(node)}, {code!r}, {message!r}, {hint!r})"
        self.problems.append(self.source.problem(node.start, node.end, code, message, hint))
        return "None"
