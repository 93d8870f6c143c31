"""Small generated templates of what both backends support: the same bytes, or the same error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st

from cuecard import CuecardError, compile_template, trusted
from cuecard.template import HelperOptions
from cuecard.template.backends.pybars_backend import pybars3
from cuecard.template.backends.python_backend import python
from cuecard.types import Escaping, Helper, Json

PARTIALS = {"line": "{{name}}\n  {{.}}\n{{#if more}}{{> line more}}{{/if}}", "empty": ""}


def shout(text: Json, *, mark: str = "!") -> str:
    return f"{text}{mark}"


def wrap(value: Json, options: HelperOptions) -> str:
    if value and options.fn:
        return f"<{options.fn(value)}|{options.hash.get('by')}>"
    return str(options.inverse(options.context)) if options.inverse else "-"


def broken() -> str:
    message = "on purpose"
    raise KeyError(message)


HELPERS: dict[str, Helper] = {"shout": shout, "wrap": wrap, "broken": broken}

TEXTS = (
    "a",
    " ",
    "\n",
    "\r\n",
    "\t",
    "{",
    "}",
    "}}",
    "~",
    "\\",
    "\\{{x}}",
    "<b>",
    '<i t="',
    '">',
    "'",
    "else",
    "é\u2028",
)
PATHS = (
    "name",
    "more",
    "items",
    "name.more",
    "this",
    ".",
    "../name",
    "../../items",
    "true1",
    "[two words].[é]",
    "items.[0]",
)
PRIVATE = ("@index", "@key", "@first", "@last", "@../index", "@root.name", "@level")
LITERALS = ("1", "-2", "1.5", "true", "null", "undefined", '"it\'s"', "'\"\\'", '"{{x}}\n"')

paths = st.sampled_from((*PATHS, *PATHS, *PRIVATE))
calls: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.builds("shout {} mark={}".format, values, values),
        st.builds("lookup {} {}".format, values, values),
        st.just("broken"),
    )
)
values: st.SearchStrategy[str] = st.one_of(paths, paths, st.sampled_from(LITERALS), calls.map("({})".format))
tilde = st.sampled_from(("", "", "", "~"))


def tag(mark: str, inner: str, left: str = "", right: str = "") -> str:
    return f"{{{{{left}{mark}{inner}{right}}}}}"


@st.composite
def blocks(draw: st.DrawFn) -> str:
    name = draw(st.sampled_from(("if", "unless", "each", "with", "wrap")))
    opening = f"{name} {draw(values)}" + draw(st.sampled_from(("", "", " includeZero=true", " by=name")))
    if draw(st.booleans()):
        name = opening = draw(st.sampled_from(PATHS))
    mark = draw(st.sampled_from("###^"))
    branches = [draw(programs)]
    if mark == "#":
        branches += draw(st.lists(st.builds("{{{{else if {}}}}}{}".format, paths, programs), max_size=2))
    branches += draw(st.lists(st.builds("{}{}".format, st.sampled_from(("{{else}}", "{{~^}}")), programs), max_size=1))
    return tag(mark, opening, draw(tilde), draw(tilde)) + "".join(branches) + tag("/", name, draw(tilde), draw(tilde))


mustaches = st.one_of(
    st.builds(tag, st.sampled_from(("", "&")), st.one_of(paths, calls), tilde, tilde),
    paths.map("{{{{{{{}}}}}}}".format),
)
comments = st.sampled_from(("{{! c }}", "{{!-- {{x}} --}}", "{{~!--~}}--~}}"))
partials = st.one_of(
    st.builds("{{{{> {} {} more={}}}}}".format, st.sampled_from(sorted(PARTIALS)), values, values),
    st.sampled_from(("{{> line}}", "\n  {{> line}}\n", '{{> (lookup this "name")}}')),
)
texts = st.sampled_from(TEXTS)
statements = st.deferred(lambda: st.one_of(texts, texts, mustaches, comments, partials, blocks()))
programs = st.lists(statements, max_size=4).map("".join)

scalars = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.floats())
written = st.sampled_from(("", "x", "<a>", "{{name}}", "line", "\ud800 & ‹b›", trusted("<t>")))
json = st.recursive(
    scalars | written,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(("name", "more", "items", "2")), inner),
    max_leaves=6,
)
contexts = st.fixed_dictionaries({}, optional=dict.fromkeys(("name", "more", "items", "true1", "two words"), json))
escapings: st.SearchStrategy[Escaping] = st.sampled_from(("text", "names", "handlebars"))


@pytest.mark.repeats
@given(text=programs, context=contexts, strict=st.booleans(), escaping=escapings)
def test_what_both_backends_support_renders_to_the_same_bytes(
    *, text: str, context: dict[str, Json], strict: bool, escaping: Escaping
) -> None:
    ours, theirs = (
        outcome(text, context, backend=backend, strict=strict, escaping=escaping) for backend in (python, pybars3)
    )
    assume("[backend-unsupported]" not in theirs)
    event("an error" if "error[" in ours else "a text")

    assert ours == theirs


def outcome(text: str, context: dict[str, Json], **options: Any) -> str:
    try:
        template = compile_template(text, partials=PARTIALS, helpers=HELPERS, **options)
        return template.render(context, {"level": 3})
    except CuecardError as error:
        return str(error)
