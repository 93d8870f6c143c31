"""What pybars3 may not do, and what is said where it cannot follow."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from cuecard import CuecardError, TemplateRenderError, compile_template
from cuecard.template import HelperOptions
from cuecard.template.backends.pybars_backend import pybars3
from cuecard.types import Json, TemplateLimitError, TemplateSyntaxError

REFUSED = {
    "{{#each xs as |x|}}{{x}}{{/each}}": "block parameters",
    "{{#if a}}{{else with b as |c|}}{{c}}{{/if}}": "block parameters",
    "{{#> line}}x{{/line}}": "a partial with a block",
    '{{#*inline "x"}}y{{/inline}}': "an inline partial",
    "{{{{line}}}}{{x}}{{{{/line}}}}": "a raw block",
}


def outcome(text: str, values: Mapping[str, Json], **settings: Any) -> str:
    try:
        return compile_template(text, **settings).render(values)
    except CuecardError as error:
        return str(error)


@pytest.mark.parametrize("text", REFUSED)
def test_what_it_renders_wrongly_is_refused_with_the_reason_and_the_place(text: str) -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_template(f"one\n two {text}", partials={"line": ""}, backend=pybars3)

    problem = caught.value.problems[0]
    assert (problem.code, problem.span and problem.span.line) == ("backend-unsupported", 2)
    assert REFUSED[text] in problem.message
    assert "choose the backend `cuecard`" in problem.hint


TWO = "\n{{#> p}}{{/p}}{{#each a as |b|}}{{/each}}"


def test_everything_that_it_cannot_do_is_reported_at_once() -> None:
    with pytest.raises(TemplateSyntaxError) as caught:
        compile_template("{{#*inline 'a'}}{{/inline}}\n{{> p}}", partials={"p": TWO}, backend=pybars3)

    assert [(p.name, p.span and p.span.line) for p in caught.value.problems] == [("template", 1), ("p", 2), ("p", 2)]


@pytest.mark.parametrize(
    "text",
    [
        "{{shout a}}",
        "{{#shout a}}{{/shout}}",
        "{{lookup a}}",
        "{{#if b}}{{if a}}{{/if}}",
        "{{#if a b}}{{/if}}",
        "{{x.y}}",
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_what_is_wrong_is_wrong_in_the_same_words(text: str, *, strict: bool) -> None:
    assert outcome(text, {"a": 1}, strict=strict, backend=pybars3) == outcome(text, {"a": 1}, strict=strict)
    assert "error[" in outcome(text, {"a": 1, "b": 1}, strict=strict, backend=pybars3) or text == "{{x.y}}"


@pytest.mark.parametrize("hook", ["helperMissing", "blockHelperMissing"])
@pytest.mark.parametrize("text", ["{{a}}{{b}}", "{{#a}}[{{this}}]{{else}}-{{/a}}", "{{#b}}x{{else}}-{{/b}}", "{{b 1}}"])
def test_helpers_for_what_is_missing_are_called_alike(text: str, hook: str) -> None:
    def missing(*values: Json, options: HelperOptions) -> str:
        inside = options.fn(options.context) if options.fn else ""
        return f"{options.name}({len(values)}){inside}"

    settings: dict[str, Any] = {"strict": False, "helpers": {hook: missing}}

    assert outcome(text, {"a": [1]}, backend=pybars3, **settings) == outcome(text, {"a": [1]}, **settings)


@pytest.mark.parametrize("name", ["it's", "a\\b", "this", "@root", "x'+__import__('os').getcwd()+'"])
def test_a_name_that_it_misreads_never_reaches_it(name: str) -> None:
    text = f"{{{{a.[{name}]}}}}{{{{#if a.[{name}]}}}}!{{{{/if}}}}"

    assert compile_template(text, backend=pybars3).render({"a": {name: "v"}}) == "v!"


def test_values_have_keys_and_items_but_no_attributes_and_no_methods() -> None:
    text = "{{a.__class__}}{{a.items}}{{a.keys}}{{b.append}}{{b.[9]}}{{c.upper}}{{__init__}}{{get}}{{context}}{{value}}"
    template = compile_template(text, strict=False, backend=pybars3)

    assert template.render({"a": {"k": 1}, "b": [1], "c": "x"}) == ""


def test_objects_are_not_values() -> None:
    with pytest.raises(TemplateRenderError, match="a value of type object is not data"):
        compile_template("{{a}}", backend=pybars3).render({"a": object()})


@pytest.mark.parametrize("name", ["if", "each", "html", "path", "log", "lookup", "helperMissing", "else", "null", "0"])
def test_a_value_may_be_called_like_anything(name: str) -> None:
    template = compile_template(f"{{{{o.[{name}]}}}} {{{{#with o}}}}{{{{[{name}]}}}}{{{{/with}}}}", backend=pybars3)

    assert template.render({"o": {name: "v"}}) == "v v"


def test_a_missing_package_is_reported_with_the_extra_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pybars", None)

    with pytest.raises(TemplateSyntaxError, match=r'pip install "cuecard\[pybars3\]"'):
        compile_template("text", backend=pybars3)


def test_it_is_loaded_at_the_first_render_and_not_before() -> None:
    program = (
        "import sys\nfrom cuecard.template import compile_template\n"
        "from cuecard.template.backends.pybars_backend import pybars3\n"
        "template = compile_template('{{a}}', backend=pybars3); before = 'pybars' in sys.modules\n"
        "print(template.render({'a': 1}), before, 'pybars' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)

    assert done.stdout == "1 False True\n"


def test_nothing_of_a_template_is_left_in_the_interpreter() -> None:
    compile_template("first", backend=pybars3).render({})
    before = set(sys.modules)
    for number in range(5):
        compile_template(f"{number} {{{{a}}}}", backend=pybars3).render({"a": number})

    assert set(sys.modules) == before


def test_many_threads_compile_at_once_without_mixing_templates_up() -> None:
    def render(number: int) -> str:
        text = f"{number}:{{{{#each xs}}}}{number}{{{{this}}}}{{{{else}}}}-{{{{/each}}}}"
        return compile_template(text, backend=pybars3).render({"xs": [number, "x"]})

    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(render, range(24)))

    assert texts == [f"{n}:{n}{n}{n}x" for n in range(24)]


def test_blocks_that_are_too_deep_for_it_are_an_error_and_no_crash() -> None:
    template = compile_template("{{#if a}}" * 90 + "x" + "{{/if}}" * 90, backend=pybars3)

    with pytest.raises(TemplateLimitError, match="recursion limit"):
        template.render({"a": True})


class Torn(Mapping[str, Any]):
    """A mapping that fails when it is read, as no mapping may."""

    def __getitem__(self, key: str) -> Any:
        raise OSError(key)

    def __iter__(self) -> Iterator[str]:
        return iter("a")

    def __len__(self) -> int:
        return 1


def test_whatever_happens_inside_comes_out_as_an_error_of_the_template() -> None:
    template = compile_template("{{o.a}}", name="core.xml", backend=pybars3)

    with pytest.raises(TemplateRenderError, match=r"core.xml: error\[backend-failed\]: pybars3 failed: OSError: a"):
        template.render({"o": Torn()})
