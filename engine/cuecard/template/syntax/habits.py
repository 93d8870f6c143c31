"""What people used to Jinja, JavaScript or Python write, and the equivalent in Handlebars.

Consulted only for texts that are wrong, so a correct template never gets a hint.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Sequence
from functools import lru_cache
from operator import itemgetter

CALCULATED = "templates do not calculate: pass the result, or write a helper"
_CALLS = {
    **dict.fromkeys(("=", "==", "===", "eq", "is"), "eq a b"),
    **dict.fromkeys(("!=", "!=="), "ne a b"),
    "<": "lt a b",
    ">": "gt a b",
    "lt": "lt a b",
    "gt": "gt a b",
    "in": "in a b",
    "<=": "not (gt a b)",
    ">=": "not (lt a b)",
    "!": "not a",
    "not": "not a",
    **dict.fromkeys(("&&", "&", "and"), "and a b"),
    **dict.fromkeys(("||", "or"), "or a b"),
}
_NAME = r"[^\W\d][\w$-]*"
_PLAIN = re.compile(rf"{_NAME}\Z")
_PATH_BEFORE = re.compile(r"[\w$@./-]+\Z")
_BRACKET = r"""\[(?:"[^"\[\]\n]*"|'[^'\[\]\n]*'|[^"'\[\]{}\n]+)\]"""
_STEPS = re.compile(rf"(?:{_BRACKET}|\.{_NAME})+")
_STEP = re.compile(rf"\[\s*(?:(?P<quoted>[\"'].*?[\"'])|(?P<other>[^\]]*?))\s*\]|\.(?P<name>{_NAME})")
_INDEX = re.compile(r"[0-9]+\Z")
_ORDER = re.compile(r"<=?[ ]?[^\n{}<>]*\}\}")
_OPERATOR = re.compile(r"={2,3}|\|\||&&|[!<>]=?=?")
_LOOPED = re.compile(rf"(?P<item>{_NAME})(?:\s*,\s*{_NAME})?\s+(?:in|of)\s+(?P<list>\S+)\s*\Z")
_NAMED = re.compile(rf"(?P<list>\S+)\s+as\s+(?P<item>{_NAME}(?:\s*,?\s*{_NAME})?)\s*\Z")
_VALUES = re.compile(r"\(([^(){}\n]{0,200})\)")
_VALUE = re.compile(r"""\"[^"]*"|'[^']*'|[^,\s]+""")
_FILTERED = re.compile(r"(?P<value>[\w$@./-]+)\s*\|\s*\Z")
_OTHERWISE = '"otherwise"'
_NAMES = {"tojson": "json", "to_json": "json", "toUpperCase": "upper", "toLowerCase": "lower", "strip": "trim"}
"""Helpers that have other names elsewhere."""

_METHODS = {
    **dict.fromkeys(("length", "size", "count"), "{}.length"),
    **dict.fromkeys(("upper", "toUpperCase"), "upper {}"),
    **dict.fromkeys(("lower", "toLowerCase"), "lower {}"),
    **dict.fromkeys(("trim", "strip"), "trim {}"),
    "join": 'join {} ", "',
}
_BEFORE = 200
"""How many characters are examined."""

WORDS = {
    **dict.fromkeys(("elseif", "elsif", "elif"), "write `{{else if value}}`"),
    "endif": "a block is closed by its name: `{{/if}}`",
    "endunless": "a block is closed by its name: `{{/unless}}`",
    **dict.fromkeys(("endfor", "endeach", "endforeach"), "a block is closed by its name: `{{/each}}`"),
    "endwith": "a block is closed by its name: `{{/with}}`",
    "end": "a block is closed by its name, as in `{{/if}}`",
    **dict.fromkeys(("for", "foreach"), "write `{{#each items as |item|}} ... {{/each}}`"),
    "not": "write `{{#unless value}} ... {{/unless}}`",
    **dict.fromkeys(("len", "size", "count"), "the length of a list is `items.length`"),
    **dict.fromkeys(("set", "let", "assign"), "write `{{#with value as |name|}} ... {{/with}}`"),
    **dict.fromkeys(("switch", "case"), 'write `{{#if (eq value "a")}} ... {{else if (eq value "b")}} ... {{/if}}`'),
    **dict.fromkeys(("ifEquals", "ifEqual", "ifEq", "if_eq", "ifeq", "equals"), "write `{{#if (eq a b)}} ... {{/if}}`"),
    **dict.fromkeys(("raw", "verbatim"), "write `\\{{` for literal braces"),
    **dict.fromkeys(("loop", "forloop"), "in `each`, the index is `@index`; `@first` and `@last` tell the ends"),
    "index": "in `each`, the index is `@index`",
    "item": "in `each`, the item is `this`; `{{#each items as |item|}}` gives it a name",
    ":else": "write `{{else}}`",
    **dict.fromkeys(("include", "import", "render"), "write `{{> name}}`, the name of a partial"),
    **dict.fromkeys(("now", "today"), "the date of a user message is `currentDate`"),
    "todo": "`cuecard import` left this unchanged: write what is meant, and remove the mark",
}
"""Words from other template languages, and what to write instead."""

_HELPERS = {
    **dict.fromkeys(("unlessEquals", "unlessEqual", "ifNotEquals", "neq", "isnt"), "write `(ne a b)`"),
    **dict.fromkeys(("gte", "ge"), "write `(not (lt a b))`"),
    **dict.fromkeys(("lte", "le"), "write `(not (gt a b))`"),
    **dict.fromkeys(("add", "plus", "sub", "subtract", "minus", "inc", "increment", "dec", "decrement"), CALCULATED),
    **dict.fromkeys(("multiply", "times", "divide", "mod", "modulo", "math", "sum", "avg"), CALCULATED),
    **dict.fromkeys(("round", "ceil", "floor", "toFixed", "abs", "min", "max", "random", "sort", "sortBy"), CALCULATED),
    **dict.fromkeys(("any", "some", "all", "every", "filter", "map"), CALCULATED),
    **dict.fromkeys(("first", "last"), "in `each`, `@first` and `@last` tell the ends; the first item is `items.[0]`"),
    **dict.fromkeys(("append", "concat"), "write the values one after the other: `{{{a}}}{{{b}}}`"),
    **dict.fromkeys(("toJson", "toJSON", "stringify", "JSONstringify"), "write `json value`"),
}
"""Helpers of others whose nearest name here means something else, and what to write instead."""


def word_hint(name: str) -> str:
    """What to write instead of a word from another language; empty if it is none."""
    if name.endswith("?"):
        return f"write `{name[:-1]}` without `?`: a key that is missing has no value"
    return WORDS.get(name, "")


def helper_hint(name: str) -> str:
    """What to write instead of a helper that others have; empty if it is none."""
    return WORDS.get(name) or _HELPERS.get(name, "")


FOREIGN = re.compile(
    r"(?<![`\\])\{%[-+]?\s*(?P<word>if|elif|else|endif|for|endfor|set|endset|block|endblock|extends|include|import|from"
    r"|macro|endmacro|call|filter|with|endwith|raw|endraw|unless|endunless|assign|case|comment|todo)\b[^\n]{0,200}?%\}"
    r"|(?<![`\\{])\{#-?[ ][^\n{}]{0,200}?[ ]-?#\}"
)
"""A tag or comment of Jinja or Liquid, unless it is shown in backticks."""

PLACEHOLDER = re.compile(
    r"(?<![{`\\])(?:\$?\{[ ]?(?P<name>[A-Za-z_]\w{0,99})[ ]?\}(?!\})|<%=?[ ]*(?P<other>\w{1,99})[ ]*%>)"
)
"""A placeholder of Python, JavaScript or ERB; only those that name an input are taken for one."""

_CODE = re.compile(r"^[ ]{0,3}(?P<fence>`{3,}|~{3,}).*?(?:^[ ]{0,3}(?P=fence)|\Z)|`[^`\n]+`", re.MULTILINE | re.DOTALL)


_OF_OTHERS = re.compile(r"(?:\$|\\[A-Za-z]+(?:\{\{[^{}]*\}\})*)$")


def is_foreign_brace(line: str, at: int) -> bool:
    """Whether the double braces around an offset of a line are those of something else: an expression of a workflow
    file, a command of LaTeX.
    """
    opened = line.rfind("{{", 0, at)
    return opened >= 0 and _OF_OTHERS.search(line[:opened]) is not None


def is_code(text: str, at: int) -> bool:
    """Whether an offset is inside Markdown code: in a fence, or between backticks on its line."""
    spans = _code_of(text)
    place = bisect_right(spans, at, key=itemgetter(1))
    return place < len(spans) and spans[place][0] < at


def foreign_placeholder(text: str, names: Collection[str]) -> re.Match[str] | None:
    """The first placeholder of another language that is one of these names, or the first tag of one.

    A step of a path, as in `/users/{user}`, is how APIs are described.
    """
    found = (each for each in PLACEHOLDER.finditer(text) if (each["name"] or each["other"]) in names)
    named = (each for each in found if text[each.start() - 1 : each.start()] != "/")
    return next((each for each in (*named, *FOREIGN.finditer(text)) if not is_code(text, each.start())), None)


@lru_cache(maxsize=4)
def _code_of(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in _CODE.finditer(text)]


def foreign_hint(word: str | None) -> str:
    """What to write instead of a tag of Jinja or Liquid; None for a comment."""
    if word is None:
        return "write `{{! ... }}`"
    written = {"if": "{{#if value}}", "unless": "{{#unless value}}", "else": "{{else}}", "with": "{{#with value}}"}
    if word in written:
        return f"write `{written[word]}`"
    return WORDS.get(word, "Handlebars writes its tags as `{{...}}`")


def bracket(text: str, opening: int, at: int) -> tuple[int, str, str] | None:
    """`items[0]` and `user['name']`, from the bracket at `at`: its end, the problem, and the way to fix it."""
    before = _PATH_BEFORE.search(text[max(opening, at - _BEFORE) : at])
    steps = _STEPS.match(text, at)
    if not before or not steps:
        return None
    path = before.group()
    message = "a path cannot have `[...]` directly after a name"
    for step in _STEP.finditer(steps.group()):
        other = step["other"]
        if other is not None and not _INDEX.match(other):
            return steps.end(), message, _computed(path, other)
        path += f".[{other}]" if other is not None else f".{_segment(step['name'] or step['quoted'][1:-1])}"
    return steps.end(), message, f"write `{path}`"


def called(text: str, opening: int, at: int) -> str:
    """`upper(name)`, `name | truncate(20)` and `user.get('name')`, from the parenthesis at `at`: what to write."""
    start = max(opening, at - _BEFORE)
    before, values = _PATH_BEFORE.search(text[start:at]), _VALUES.match(text, at)
    if not before or not values:
        return "write the helper inside the parentheses: `(helper value)`"
    given = _VALUE.findall(values[1])
    *path, name = before.group().split(".")
    if found := _FILTERED.search(text[start : at - len(before.group())]):
        return piped(found["value"], name, given)
    if not path:
        return WORDS.get(name) or f"values follow a helper without parentheses: write `{' '.join([name, *given])}`"
    owner = ".".join(path)
    if name == "get" and given and given[0][0] in "\"'":
        return f"write `{owner}.{_segment(given[0][1:-1])}`"
    if name in _METHODS:
        return f"values have no methods: write `{_METHODS[name].format(owner)}`"
    return "values have no methods: pass the result, or write a helper"


def _computed(path: str, key: str) -> str:
    if re.fullmatch(rf"{_NAME}(?:\.{_NAME})*", key):
        return f"to use a value as a key, write `lookup {path} {key}`"
    return "items are addressed by their index, as in `items.[0]`; pass any other part of a list as a value"


def _segment(name: str) -> str:
    return name if _PLAIN.match(name) else f"[{name}]"


def literal_step(path: str, step: str) -> str:
    """`items.0`, whose last step reads as a number; likewise `true`, `null` and texts."""
    if step[:1] in {'"', "'"}:
        return f"write `{path}.{_segment(step[1:-1])}`"
    if step[:1] == "-":
        return "items are addressed by their index, as in `items.[0]`"
    return f"write `{path}{''.join(f'.[{each}]' for each in step.split('.'))}`"


def is_comparison(text: str, at: int) -> bool:
    """Whether a `<` means `less than`: the tag ends after it, and nothing there looks like markup."""
    return text[at : at + 2] != "</" and text[at - 1 : at] in {" ", "\t"} and bool(_ORDER.match(text, at))


def operator(text: str, at: int) -> str:
    """The operator that begins here; empty if none does."""
    found = _OPERATOR.match(text, at)
    return found.group() if found else ""


def compared(sign: str) -> str:
    """What to write instead of an operator."""
    if sign not in _CALLS:
        return CALCULATED
    return f"an operator is a call: write `({_CALLS[sign]})`, as in `{{{{#if ({_CALLS[sign]})}}}}`"


def piped(value: str, name: str, given: Sequence[str] = ()) -> str:
    """`value | name`, `value | name(given)`: what to write instead."""
    name = name.rstrip(":")
    if name in {"length", "count", "size"}:
        return f"Handlebars has no filters: write `{value}.length`"
    if name == "safe":
        return (
            f"Handlebars has no filters: `{{{{{{{value}}}}}}}` prints a value without the escapes of `{{{{{value}}}}}`"
        )
    if name == "default":
        return f"Handlebars has no filters: write `default {value} {given[0] if given else _OTHERWISE}`"
    return f"Handlebars has no filters: call a helper: `{' '.join([_NAMES.get(name, name), value, *given])}`"


def looped(name: str, written: str) -> str:
    """`item in items`, `items as item`: what to write instead; empty if it is neither. `written`: the arguments."""
    found = _LOOPED.match(written) if name in {"each", "for", "foreach"} else None
    found = found or (_NAMED.match(written) if name in {"each", "with", "for", "foreach"} else None)
    if not found:
        return ""
    block = name if name == "with" else "each"
    return f"write `{{{{#{block} {found['list']} as |{' '.join(found['item'].replace(',', ' ').split())}|}}}}`"


def misused(name: str, values: tuple[str, ...], written: str) -> str:
    """What to write instead of a block or helper with too many arguments; empty if it is no known habit."""
    if found := looped(name, written[:_BEFORE]):
        return found
    if values[:1] == ("not",) and len(values) == 2 and name in {"if", "unless"}:
        return f"write `{{{{#{'unless' if name == 'if' else 'if'} {values[1]}}}}}`"
    if values[:1] == ("??",):
        return f"write `default {name} {_OTHERWISE}`"
    if values[-1:] == ("-",):
        return f"white space beside a tag is removed with `~`: `{{{{{name}~}}}}`"
    if {"?", "if"}.intersection(values):
        return "write `{{#if value}} ... {{else}} ... {{/if}}`"
    return next((compared(each) for each in values if each in _CALLS), "")
