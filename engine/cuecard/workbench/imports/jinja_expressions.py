"""Converts Jinja expressions into Handlebars values: names, texts, comparisons, and filters with an equivalent
helper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, TypeAlias

from cuecard.config.values import InputType
from cuecard.records import dataclass

Node: TypeAlias = Any
"""A node of Jinja's syntax tree; jinja2 is an extra, so its types are not available here."""


class Untranslatable(Exception):  # noqa: N818 - a reason, not an error
    """An expression without a direct equivalent: what it is, why, and what to do instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message: str = message
        self.hint: str = hint


@dataclass(frozen=True, slots=True)
class Scope:
    """The surroundings of an expression.

    Attributes:
        types: declared inputs.
        loops: variables of the loops around it.
        depth: the number of those loops.
        reads: collects each input that is read, and its required type.
        remarks: collects what prints differently here, and why.
        untold: collects the inputs that are tested for being defined.
        numbers: collects the inputs, and the parts of them, that are compared with a number.
    """

    types: Mapping[str, InputType]
    loops: tuple[str, ...] = ()
    depth: int = 0
    reads: dict[str, InputType] = field(default_factory=dict)
    remarks: list[tuple[str, str]] = field(default_factory=list)
    untold: set[str] = field(default_factory=set)
    numbers: set[tuple[str, ...]] = field(default_factory=set)

    def inside(self, *names: str) -> Scope:
        """The same within one more loop."""
        return replace(self, loops=(*self.loops, *names), depth=self.depth + 1)

    def read(self, name: str, kind: InputType = "string") -> None:
        """Note that an input is read, keeping the most specific type."""
        if self.reads.get(name, "string") == "string":
            self.reads[name] = kind

    def kind(self, node: Node) -> InputType | None:
        """The type of a value, if it is a declared input."""
        return self.types.get(node.name) if _is(node, "Name") and node.name not in self.loops else None


_SHOWN = {
    "Add": "`+`",
    "Sub": "`-`",
    "Mul": "`*`",
    "Div": "`/`",
    "FloorDiv": "`//`",
    "Mod": "`%`",
    "Pow": "`**`",
    "Neg": "a sign",
    "Pos": "a sign",
    "Concat": "`~` within an expression",
    "CondExpr": "`if` within an expression",
    "List": "a list",
    "Tuple": "a list",
    "Dict": "a mapping",
}
"""Expressions as people write them, by what Jinja's parser calls them."""

_WORDS = {"and", "or", "not", "else", "as", "true", "false", "null", "undefined"}
_SIGNS = {"eq": "eq", "ne": "ne", "gt": "gt", "lt": "lt"}
_REVERSED = {"gteq": "lt", "lteq": "gt"}
_LOOP = {"first": "@first", "last": "@last", "index0": "@index"}


def value(node: Node, scope: Scope) -> str:
    """An expression as a parameter of Handlebars.

    Raises:
        Untranslatable: when there is no direct equivalent.
    """
    write = _WRITERS.get(type(node).__name__)
    if write is None:
        told = _SHOWN.get(type(node).__name__, "this expression")
        raise Untranslatable(f"{told} of Jinja has no counterpart", "compute it in your program")
    return write(node, scope)


def condition(node: Node, scope: Scope) -> str:
    """An expression as the condition of `{{#if}}`; an empty object counts as false, as in Jinja.

    Raises:
        Untranslatable: when there is no plain counterpart.
    """
    if scope.kind(node) == "object":
        return f"(default {value(node, scope)} false)"
    if _is(node, "Not"):
        return f"(not {condition(node.node, scope)})"
    if _is(node, "And") or _is(node, "Or"):
        return f"({type(node).__name__.lower()} {condition(node.left, scope)} {condition(node.right, scope)})"
    return value(node, scope)


def quoted(text: str) -> str:
    """A text as a Handlebars literal.

    Raises:
        Untranslatable: when it contains both kinds of quotes, a backslash or a line break.
    """
    if "\\" in text or "\n" in text or ('"' in text and "'" in text):
        raise Untranslatable(
            "a text with quotes, backslashes or line breaks", "make it an input, or move it into the surrounding text"
        )
    return f"'{text}'" if '"' in text else f'"{text}"'


def _is(node: Node, name: str) -> bool:
    return type(node).__name__ == name


def _name(node: Node, scope: Scope) -> str:
    if node.name in scope.loops:
        return str(node.name)
    if node.name in {"loop", "this"}:
        raise Untranslatable(f"`{node.name}` as a value has no counterpart", "rename it, or write `@index`")
    scope.read(node.name)
    name = f"[{node.name}]" if node.name in _WORDS else node.name
    # Within two loops, `../` does not count a loop whose item equals that of the one around it, as in Handlebars.js.
    return f"@root.{name}" if scope.depth > 1 else f"{'../' * scope.depth}{name}"


def _path(node: Node, step: str, scope: Scope) -> str:
    inner = node.node
    if _is(inner, "Name") and inner.name == "loop" and "loop" not in scope.loops:
        if step in _LOOP and scope.depth:
            return _LOOP[step]
        raise Untranslatable(
            f"`loop.{step}` has no counterpart", "Handlebars knows `@index` (from 0), `@first`, `@last`"
        )
    if not any(_is(inner, kind) for kind in ("Name", "Getattr", "Getitem")):
        raise Untranslatable("a part of a computed value", "compute it in your program")
    path = value(inner, scope)
    if _is(inner, "Name") and inner.name not in scope.loops:
        scope.read(inner.name, "list" if step.isdigit() else "object")
    plain = step.isidentifier() and step.isascii() and step not in _WORDS | {"this", "length"}
    if "]" in step or "\\" in step or not step:
        raise Untranslatable(f"the key `{step}`", "rename the key")
    return f"{path}.{step}" if plain else f"{path}.[{step}]"


def _getitem(node: Node, scope: Scope) -> str:
    key = node.arg
    if _is(key, "Const") and (isinstance(key.value, str) or (type(key.value) is int and key.value >= 0)):
        return _path(node, str(key.value), scope)
    begins = _is(key, "Slice") and key.start is None and key.step is None and _is(key.stop, "Const")
    end = key.stop.value if begins else None
    if type(end) is int and end >= 0 and scope.kind(node.node) in {None, "string"}:
        return f'(truncate {value(node.node, scope)} {end} marker="")'
    raise Untranslatable("a computed key, a slice or a negative index", "compute it in your program, or write `lookup`")


def _constant(node: Node, _: Scope) -> str:
    if isinstance(node.value, str):
        return quoted(node.value)
    if node.value is None or isinstance(node.value, bool):
        return {None: "null", True: "true", False: "false"}[node.value]
    if isinstance(node.value, int) and abs(node.value) < 2**53:
        return str(node.value)
    raise Untranslatable(f"the number {node.value}", "make it an input")


def _compare(node: Node, scope: Scope) -> str:
    if len(node.ops) != 1:
        raise Untranslatable("a chain of comparisons", "write two, joined by `and`")
    sign, left, right = node.ops[0].op, value(node.expr, scope), value(node.ops[0].expr, scope)
    if sign in {"gt", "lt", *_REVERSED}:
        for one, other in ((node.expr, node.ops[0].expr), (node.ops[0].expr, node.expr)):
            if _is(other, "Const") and type(other.value) is int and (path := _steps(one, scope)):
                scope.numbers.add(path)
                if len(path) == 1:
                    scope.read(path[0], "number")
    if sign in _SIGNS:
        return f"({_SIGNS[sign]} {left} {right})"
    if sign in _REVERSED:
        return f"(not ({_REVERSED[sign]} {left} {right}))"
    inside = f"(in {left} {right})"
    return inside if sign == "in" else f"(not {inside})"


def _steps(node: Node, scope: Scope) -> tuple[str, ...]:
    """An input and the keys that are read of it; empty for anything else."""
    if _is(node, "Name"):
        return () if node.name in {*scope.loops, "loop"} else (node.name,)
    key = _step_of(node)
    owner = _steps(node.node, scope) if key else ()
    measured = _is(node, "Filter") and len(owner) == 1  # the length of an input itself is read as that of a list
    return (*owner, key) if owner and not measured else ()


def _step_of(node: Node) -> str:
    """The key that an expression reads of another; empty where it reads none, or a computed one."""
    if _is(node, "Filter"):
        return "length" if _FILTERS.get(node.name) is _length else ""
    if _is(node, "Getitem") and _is(node.arg, "Const"):
        return str(node.arg.value)
    return str(node.attr) if _is(node, "Getattr") else ""


def _both(name: str) -> Callable[[Node, Scope], str]:
    return lambda node, scope: f"({name} {value(node.left, scope)} {value(node.right, scope)})"


def _test(node: Node, scope: Scope) -> str:
    if node.name == "none" and not node.args:
        return f"(eq {value(node.node, scope)} null)"
    if node.name in {"defined", "undefined"}:
        if _is(node.node, "Name") and node.node.name not in scope.loops:
            scope.untold.add(node.node.name)
        return f"({'ne' if node.name == 'defined' else 'eq'} {value(node.node, scope)} null)"
    raise Untranslatable(f"the test `is {node.name}` has no counterpart", "compute it in your program")


def _filter(node: Node, scope: Scope) -> str:
    named = {each.key for each in node.kwargs}
    if node.node is None or named - {"indent"} or node.dyn_args or node.dyn_kwargs or node.name not in _FILTERS:
        known = ", ".join(f"`{name}`" for name in sorted(_FILTERS))
        raise Untranslatable(
            f"the filter `{node.name}`, as used here, has no equivalent helper", f"supported filters: {known}"
        )
    return _FILTERS[node.name](node, scope)


def _plain(helper: str) -> Callable[[Node, Scope], str]:
    def write(node: Node, scope: Scope) -> str:
        if node.args:
            raise Untranslatable(f"the filter `{node.name}` with arguments", "compute it in your program")
        return f"({helper} {value(node.node, scope)})"

    return write


def _join(node: Node, scope: Scope) -> str:
    separator = node.args[0].value if node.args and _is(node.args[0], "Const") else "" if not node.args else None
    if not isinstance(separator, str) or len(node.args) > 1 or "\\" in separator:
        raise Untranslatable("`join` with a computed separator or an attribute", "write a loop")
    items = value(node.node, scope)
    if _is(node.node, "Name") and node.node.name not in scope.loops:
        scope.read(node.node.name, "list")
    return f"(join {items} {quoted(separator.replace(chr(10), chr(0))).replace(chr(0), chr(92) + 'n')})"


def _default(node: Node, scope: Scope) -> str:
    truthy = len(node.args) == 2 and _is(node.args[1], "Const") and node.args[1].value is True
    if not node.args or (len(node.args) == 2 and not truthy) or len(node.args) > 2:
        raise Untranslatable("`default` without a value, or with a computed switch", "give the input a default")
    if not truthy:
        scope.remarks.append(
            (
                "`default` also replaces an empty value; in Jinja only a missing one",
                "check that this is right for empty values",
            )
        )
    return f"(default {value(node.node, scope)} {value(node.args[0], scope)})"


def _length(node: Node, scope: Scope) -> str:
    if node.args or not any(_is(node.node, kind) for kind in ("Name", "Getattr", "Getitem")):
        raise Untranslatable("the length of a computed value", "compute it in your program")
    if scope.kind(node.node) == "object":
        raise Untranslatable("the length of an object", "pass it as an input")
    return f"{value(node.node, scope)}.length"


def _json(node: Node, scope: Scope) -> str:
    given = [*node.args, *(each.value for each in node.kwargs)]
    if len(given) > 1 or not all(_is(each, "Const") and type(each.value) is int for each in given):
        raise Untranslatable("`tojson` with a computed indent", "write `json value indent=2`")
    scope.remarks.append(
        ("`tojson` sorts keys and writes `<`, `>`, `&` and `'` as escapes; `json` here does not", "compare the output")
    )
    indent = "".join(f" indent={each.value}" for each in given if each.value)
    return f"(json {value(node.node, scope)}{indent})"


def _indent(node: Node, scope: Scope) -> str:
    first, *more = [each.value if _is(each, "Const") else None for each in node.args] or [4]
    if node.kwargs or type(first) is not int or more not in ([], [True], [False]):
        raise Untranslatable("`indent` with a text or computed values", "write `indent value 4 first=false`")
    return f"(indent {value(node.node, scope)} {first}{'' if more == [True] else ' first=false'})"


def _replace(node: Node, scope: Scope) -> str:
    texts = [each.value for each in node.args if _is(each, "Const") and isinstance(each.value, str)]
    if node.kwargs or len(node.args) != 2 or len(texts) != 2 or not texts[0]:
        raise Untranslatable("`replace` with computed texts or a count", "compute it in your program")
    return f"(replace {value(node.node, scope)} {quoted(texts[0])} {quoted(texts[1])})"


def _truncate(node: Node, scope: Scope) -> str:
    if node.kwargs or len(node.args) != 1 or not _is(node.args[0], "Const") or type(node.args[0].value) is not int:
        raise Untranslatable("`truncate` as used here", "write `truncate value 80`")
    scope.remarks.append(
        (
            "`truncate` cuts between words in Jinja, and up to 5 characters later; here exactly",
            "compare the output",
        )
    )
    return f'(truncate {value(node.node, scope)} {node.args[0].value} marker="...")'


def method_of(node: Node) -> str:
    """The method that an expression calls on a value, such as `strip` for `x.strip()`; empty if it is no such call."""
    is_method = _is(node, "Call") and _is(node.node, "Getattr")
    plain = is_method and not (node.kwargs or node.dyn_args or node.dyn_kwargs)
    return str(node.node.attr) if plain else ""


def _called(node: Node, scope: Scope) -> str:
    method = method_of(node)
    if method in _METHODS and not node.args:
        return f"({_METHODS[method]} {value(node.node.node, scope)})"
    keys = [each.value for each in node.args[:1] if _is(each, "Const") and isinstance(each.value, str)]
    if method == "get" and keys and len(node.args) <= 2:
        path = _path(node.node, keys[0], scope)
        if len(node.args) == 1:
            return path
        scope.remarks.append(("`get` here also replaces an empty value", "check that this is right for empty values"))
        return f"(default {path} {value(node.args[1], scope)})"
    raise Untranslatable(f"the call of `{method or 'a function'}` has no counterpart", "compute it in your program")


_METHODS = {"strip": "trim", "upper": "upper", "lower": "lower"}
"""Methods of texts, and the helpers that do the same."""


_FILTERS: Mapping[str, Callable[[Node, Scope], str]] = {
    "upper": _plain("upper"),
    "lower": _plain("lower"),
    "trim": _plain("trim"),
    "join": _join,
    "default": _default,
    "d": _default,
    "length": _length,
    "count": _length,
    "tojson": _json,
    "indent": _indent,
    "replace": _replace,
    "truncate": _truncate,
}

_WRITERS: Mapping[str, Callable[[Node, Scope], str]] = {
    "Name": _name,
    "Getattr": lambda node, scope: _path(node, node.attr, scope),
    "Getitem": _getitem,
    "Const": _constant,
    "Compare": _compare,
    "And": _both("and"),
    "Or": _both("or"),
    "Not": lambda node, scope: f"(not {value(node.node, scope)})",
    "Test": _test,
    "Filter": _filter,
    "Call": _called,
}
