"""A render does a bounded amount of work, and says where it was too much; no value makes a raw error, or is told."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from cuecard import CuecardError, Engine, InputError, Template, TemplateRenderError, Turn, compile_template
from cuecard.template.markup.xml import MAX_ATTRIBUTES
from cuecard.types import Limits, TemplateLimitError
from cuecard.workbench.check.command import check
from unit.robustness.agents import refusal, write_agent

DOUBLING = ("{{> p%d}}{{> p%d}}", "{{> p%d x=1}}{{> p%d x=@root.a}}", "{{#> p%d}}{{/p%d}}{{#> p%d}}{{/p%d}}")


@pytest.mark.repeats
@pytest.mark.parametrize("body", DOUBLING)
def test_partials_that_double_the_work_are_stopped_where_they_do(body: str) -> None:
    levels = 30
    partials = {f"p{n}": body.replace("%d", str(n + 1)) for n in range(levels)} | {f"p{levels}": ""}
    template = compile_template("{{> p0}}", partials=partials)

    with pytest.raises(TemplateLimitError) as caught:
        template.render({"a": 1})
    assert caught.value.problems[0].code == "too-much-work"
    assert caught.value.problems[0].span


def test_loops_in_loops_are_stopped() -> None:
    template = compile_template("{{#each a}}{{#each @root.a}}{{#each @root.a}}{{/each}}{{/each}}{{/each}}")

    with pytest.raises(TemplateLimitError) as caught:
        template.render({"a": [1] * 1_000})
    assert caught.value.problems[0].code == "too-much-work"


@pytest.mark.repeats
@pytest.mark.parametrize(
    "text", ["{{{a}}}" * 5_000, "{{#each b}}{{{../a}}}{{{../a}}}{{/each}}", "{{#if a}}" + "{{a}}" * 500 + "{{/if}}"]
)
def test_long_values_that_are_printed_often_are_refused_before_they_are_joined(text: str) -> None:
    with pytest.raises(TemplateLimitError) as caught:
        compile_template(text).render({"a": "x" * 100_000, "b": [1] * 1_000})
    assert caught.value.problems[0].code == "too-much-output"


def test_limits_can_be_set_and_each_render_has_them_again() -> None:
    template = compile_template("{{#each a}}{{> p}}{{/each}}", partials={"p": "x"}, limits=Limits(work=60, output=20))

    for _ in range(3):
        assert template.render({"a": [1] * 10}) == "x" * 10
    with pytest.raises(TemplateLimitError, match="more than 60 partial calls"):
        template.render({"a": [1] * 11})
    with pytest.raises(TemplateLimitError, match="more than 20 characters"):
        compile_template("{{a}}", limits=Limits(output=20)).render({"a": "x" * 21})
    with pytest.raises(InputError):
        compile_template("", limits=7)  # type: ignore[arg-type] # what the test is about


def test_the_agent_file_sets_the_limits_of_its_sections(tmp_path: Path) -> None:
    text = (
        "agent: a\nlimits: {work: 5}\ninputs: {l: {type: list}}\nsections: [{id: a, text: '{{#each l}}x{{/each}}'}]\n"
    )
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")
    engine = Engine.open(tmp_path)

    assert engine.prepare_step(engine.prepare_call(Turn({"l": [1] * 5}))).system.strip() == "xxxxx"
    with pytest.raises(TemplateLimitError):
        engine.prepare_call(Turn({"l": [1] * 6}))


class Evil(Mapping[str, Any]):
    """A mapping that raises what it likes."""

    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("SECRET VALUE")

    def __iter__(self) -> Any:
        return iter(["b"])

    def __len__(self) -> int:
        return 1


SECRET = "SECRET VALUE"  # noqa: S105 - a value that no error may repeat
VALUES: tuple[Any, ...] = (
    *(10**400, -(10**5000), float("nan"), b"SECRET VALUE", None, True, SECRET, {"a": SECRET}, [SECRET], {"b": 1}),
    *(object(), Evil(), Decimal(1), {"b": 10**5000}, bytearray(b"SECRET VALUE"), range(3), {1, 2}, "\ud800"),
)
READING = (
    *(
        "{{lookup a 'x'}}",
        "{{lookup a b}}",
        "{{lookup b a}}",
        "{{> (lookup . 'a')}}",
        "{{> (lookup . 'b') a}}",
        "{{a}}",
    ),
    *("{{a.b}}", "{{#each a}}{{.}}{{/each}}", "{{#with a}}{{b}}{{/with}}", "{{#if a}}{{/if}}", "{{#a}}{{.}}{{/a}}"),
    *("{{> p a}}", "{{> p x=a}}", "{{#each a as |x y|}}{{x}}{{y}}{{/each}}", "{{#if b includeZero=a}}{{/if}}"),
)


@pytest.mark.parametrize("text", READING)
@pytest.mark.parametrize("strict", [True, False])
def test_no_value_causes_a_raw_error_and_no_value_but_a_name_is_shown(text: str, *, strict: bool) -> None:
    template = compile_template(text, partials={"p": "{{x}}{{b}}"}, strict=strict)
    errors = [error for a in VALUES for b in (*VALUES, "x", 0) if (error := error_of(template, {"a": a, "b": b}))]

    assert {type(error) for error in errors} <= {TemplateRenderError}
    assert not any(SECRET in str(error) for error in errors)


def error_of(template: Template, values: dict[str, Any]) -> CuecardError | None:
    """The error that a render ends with; anything else passes through."""
    try:
        template.render(values)
    except CuecardError as error:
        return error
    return None


def test_an_element_with_very_many_attributes_is_refused_without_looking_at_each_pair(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = " ".join(f'x{number}="1"' for number in range(8_000))
    core = f"<agent>\n<a {many}>x</a>\n<b>{{{{{{activeProtocols}}}}}}</b></agent>\n"

    assert check(write_agent(tmp_path, {"agent.xml": core})) == 1
    assert f"an element with 8,000 attributes; at most {MAX_ATTRIBUTES}" in capsys.readouterr().err


def test_many_documents_in_a_file_are_reported_once(tmp_path: Path) -> None:
    codes = [problem.code for problem in refusal(tmp_path, {"tools/search.yaml": "---\n" * 10_000})]

    assert codes.count("yaml-refused") == 1
