"""Calls and paths to Python expressions."""

from __future__ import annotations

import math
from typing import Any

from cuecard.errors import Problem, did_you_mean
from cuecard.template.backends.code import DATA, At, Loop
from cuecard.template.guards.escaping import TrustedText
from cuecard.template.helpers.standard import NAMES, STANDARD, takes, usage
from cuecard.template.rules import BLOCKS, BUILT_IN, HOOKS, TOOL, Rules, wants_options
from cuecard.template.syntax import habits
from cuecard.template.syntax.nodes import Expression, HelperCall, Literal, Path, Statement, as_path
from cuecard.template.syntax.source import TemplateSource


class PathWriter:
    """Writes lookups; collects the places, constants and problems of a template on the way."""

    def __init__(self, source: TemplateSource, rules: Rules) -> None:
        """Begin with nothing written."""
        self.source: TemplateSource = source
        self.rules: Rules = rules
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


class CallWriter(PathWriter):
    """Writes expressions."""

    def invoke(self, call: HelperCall, at: At, branches: tuple[str, ...] = ()) -> str:
        """The value of a head with its arguments: a helper's result, or the value of the path."""
        head = as_path(call.head)
        name = self.helper_name(head, at)
        if name in self.rules.helpers and name not in HOOKS:
            return self.call_helper(name, call, at, branches)
        if self.is_standard(name, call):
            return self.call_standard(name, call, at, is_block=bool(branches))
        if name in BUILT_IN and (call.has_arguments or call.nested or not self.rules.strict):
            return self.call_built_in(name, call, at)
        named = head.is_simple and self.bound(head, at)
        if not named and (call.has_arguments or call.nested):
            return self.missing_helper(head, call, at, branches)
        value = self.path(head, at, strict=True)
        if name and "helperMissing" in self.rules.helpers and not self.rules.strict:
            missing = self.call_helper("helperMissing", call, at, branches, shown=head.original)
            return f"(v if (v := {value}) is not None else {missing})"
        return value

    def helper_name(self, head: Path, at: At) -> str:
        """The name of the helper that a head would call, if it exists; empty if it cannot be one."""
        return head.parts[0] if head.is_simple and not head.data and not self.bound(head, at) else ""

    def call_helper(
        self, name: str, call: HelperCall, at: At, branches: tuple[str, ...] = (), *, shown: str = ""
    ) -> str:
        """The result of a supplied helper."""
        arguments = "".join(f"{self.value(param, at)}, " for param in call.params)
        wants, options = wants_options(self.rules.helpers[name]), self.options(call, at, branches, shown)
        return f"call({self.helper(name)}, ({arguments}), {options}, {self.place(call)}, wants_options={wants})"

    def is_standard(self, name: str, call: HelperCall) -> bool:
        """Whether it calls one of the standard helpers; without arguments, the name is that of a value."""
        return call.has_arguments and name in NAMES and name not in self.rules.helpers

    def call_standard(self, name: str, call: HelperCall, at: At, *, is_block: bool) -> str:
        """The result of a standard helper."""
        keys = [key for key, _ in call.hash]
        is_one_text = isinstance(call.params[0], Literal) if call.params else False
        if is_block:
            hint = f"write `{{{{#if ({usage(name)})}}}} ... {{{{/if}}}}`"
            return self.report(call, "wrong-arguments", f"`{name}` is not a block", hint, certain=True)
        if not takes(name, len(call.params), keys) or (name == "tool" and not is_one_text):
            message = f"`{name}` cannot be called with these values"
            return self.report(call, "wrong-arguments", message, f"write `{usage(name)}`", certain=True)
        values = [self.argument(param, at) for param in call.params]
        if name == "tool":
            asked = Path(call.start, call.end, "", ("root", TOOL + as_path(call.params[0]).original), data=True)
            return f"tool({self.path(asked, at)}, {self.place(call)})"
        if name == "xml":
            return f"xml({values[0]}, {values[1] if values[1:] else repr('')}, {self.place(call)})"
        self.constants[f"x_{name}"] = STANDARD[name]
        pairs = "".join(f", {key}={self.argument(value, at)}" for key, value in call.hash)
        return f"standard({name!r}, x_{name}, {self.place(call)}, {', '.join(values)}{pairs})"

    def argument(self, node: Expression, at: At) -> str:
        """An argument of a standard helper: a literal in the template is the author's."""
        if isinstance(node, Literal) and isinstance(node.value, str):
            return self.constant(TrustedText(node.value))
        return self.value(node, at)

    def call_built_in(self, name: str, call: HelperCall, at: At) -> str:
        """The result of `lookup` and `log`; the others are blocks, or not helpers at all."""
        values = [self.value(param, at) for param in (*call.params, *(value for _, value in call.hash))]
        if name == "log":
            return f"log({', '.join(values)})"
        if name == "lookup":
            if len(call.params) == 2:
                return f"lookup({values[0]}, {values[1]}, {self.place(call)})"
            hint = "write `lookup value key`"
            mistake = self.report(call, "wrong-arguments", "`lookup` takes a value and a key", hint)
            # Handlebars.js only evaluates the key if there is something to look into.
            return f"(v if nothing(v := {values[0]}) else {mistake})" if call.params else mistake
        if name in BLOCKS:
            hint = f"write `{{{{#{name} ...}}}} ... {{{{/{name}}}}}`"
            return self.report(call, "not-a-block", f"`{name}` is a block", hint)
        hint = "Handlebars calls it if a helper is missing"
        return self.report(call, "unknown-helper", f"`{name}` cannot be called", hint)

    def missing_helper(self, head: Path, call: HelperCall, at: At, branches: tuple[str, ...]) -> str:
        """A call of a helper that was not supplied: an error, without parameters only if the name is a value."""
        if not self.rules.strict and "helperMissing" in self.rules.helpers:
            missing = self.call_helper("helperMissing", call, at, branches, shown=head.original)
        elif call.params or self.rules.strict:
            hint = self.habit(call, head.original) or habits.helper_hint(head.original)
            hint = hint or did_you_mean(head.original, [*self.rules.helpers, *BUILT_IN[:6], *NAMES])
            return self.report(head, "unknown-helper", f"there is no helper named `{head.original}`", hint)
        else:
            missing = "None"
        return f"({missing} if nothing({self.path(head, at)}) else uncalled({head.original!r}, {self.place(head)}))"

    def habit(self, call: HelperCall, name: str) -> str:
        """What to write instead if the arguments make sense in another language; empty if they do not."""
        if not call.params:
            return ""
        values = tuple("" if isinstance(value, HelperCall) else value.original for value in call.params)
        return habits.misused(name, values, self.source.text[call.params[0].start : call.end])

    def options(self, call: HelperCall, at: At, branches: tuple[str, ...] = (), shown: str = "") -> str:
        """The `Options` of a call."""
        at.function.use("d")
        name = shown or as_path(call.head).original
        return f"Options({', '.join([repr(name), self.pairs(call, at), at.inside().context(), 'd', *branches])})"

    def pairs(self, call: HelperCall, at: At) -> str:
        """The hash, as Handlebars.js builds it: last pair first, and without a written `undefined`."""
        pairs = ((key, value) for key, value in reversed(call.hash) if not _is_undefined(value))
        return "{" + ", ".join(f"{key!r}: {self.value(value, at)}" for key, value in pairs) + "}"

    def value(self, node: Expression, at: At) -> str:
        """The value of a parameter."""
        if isinstance(node, Literal):
            return self.literal(node)
        return self.invoke(node, at) if isinstance(node, HelperCall) else self.path(node, at)


def _is_undefined(node: Expression) -> bool:
    return isinstance(node, Literal) and node.value is None and node.original == "undefined"
