"""The helpers that every template has."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuecard import compile_template, trusted
from cuecard.template.backends.registry import BACKENDS
from cuecard.template.guards.marks import read_marks
from cuecard.template.helpers.standard import NAMES, usage
from cuecard.types import Limits, TemplateError

PAGE = {"title": "A <b>", "tags": ["x", "y & z"], "by": {"name": "Ann"}}


def rendered(text: str, /, **values: Any) -> str:
    """The template with these values."""
    return compile_template(text).render(values)


def refused(text: str, /, **values: Any) -> str:
    """What is said of a template, or of its values."""
    with pytest.raises(TemplateError) as told:
        rendered(text, **values)
    problem = told.value.problems[0]
    return f"{problem.code}: {problem.message} = {problem.hint}"


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("{{{trim v}}}|", " \n a b\n", "a b|"),
        ("{{{one_line v}}}", " a\n\n b\tc ", "a b c"),
        ("{{{indent v}}}", "a\n\nb", "  a\n\n  b"),
        ("{{{indent v}}}", "a:\n  - b\n \n\tc", "  a:\n    - b\n \n  \tc"),
        ("{{{indent v 4 first=false}}}", "a\nb", "a\n    b"),
        ('{{{indent v "> "}}}', "a\nb", "> a\n> b"),
        ("{{{join v}}}", ["a", "", 2, None, True], "a, 2, true"),
        (r'{{{join v "\n"}}}', ["a", "b"], "a\nb"),
        ('{{{replace v "-" "+"}}}', "a-b-c", "a+b+c"),
        ('{{{default v "none"}}}', None, "none"),
        ('{{{default v "none"}}}', "", "none"),
        ('{{{default v "none"}}}', 0, "0"),
        ('{{{default v "none"}}}', False, "false"),
        ("{{{or w v 'friend'}}}", "Ann", "Ann"),
        ("{{{json v}}}", {"a": [1, None, "é"]}, '{"a": [1, null, "é"]}'),
        ("{{{json v indent=2}}}", [1], "[\n  1\n]"),
        ("{{{truncate v 5}}}", "abcdef", "abcd…"),
        ("{{{truncate v 6}}}", "abcdef", "abcdef"),
        ('{{{truncate v 5 marker="..."}}}', "abcdef", "ab..."),
        ("{{{truncate v 2 marker='...'}}}", "abcdef", ".."),
        ("{{{middle v 4}}}", "abcdefgh", "ab\n[... 4 characters left out ...]\ngh"),
        ("{{{middle v 8}}}", "abcdefgh", "abcdefgh"),
        ("{{{first_sentence v}}}", "Ask Dr. Who, e.g. today.\nThen go.", "Ask Dr. Who, e.g. today."),
        ("{{{first_sentence v}}}", "No end\nof it\n\nSecond.", "No end of it"),
        ("{{{first_sentence v}}}", "はい。次。", "はい。"),
        ("{{{first_sentence v}}}", 'He said "stop." Then left.', 'He said "stop."'),
        ("{{{lower v}}}{{{upper v}}}", "aB", "abAB"),
        ("{{{date v}}}", "2026-11-22", "November 22, 2026"),
        ('{{{date v "full" locale="en-GB"}}}', "2026-11-22", "Sunday, 22 November 2026"),
        ('{{{date v "d MMM yyyy, HH:mm" zone="Europe/Vienna"}}}', "2026-11-22T23:30:00Z", "23 Nov 2026, 00:30"),
        ("{{{date v \"EEEE 'at' h a\"}}}", "2026-11-22T13:00:00", "Sunday at 1 PM"),
        ("{{{date v}}}", None, ""),
    ],
)
def test_helpers_make_texts(text: str, value: Any, expected: str) -> None:
    assert rendered(text, v=value, w="") == expected


@pytest.mark.parametrize(
    ("call", "values", "expected"),
    [
        ('eq v "a"', {"v": "a"}, True),
        ("eq v 1", {"v": "1"}, False),
        ("eq v 1", {"v": True}, False),
        ("eq v w", {"v": [1], "w": [1]}, True),
        ("ne v 1", {"v": 2}, True),
        ("gt v 1", {"v": 2}, True),
        ("lt v 'b'", {"v": "a"}, True),
        ("and v w", {"v": 1, "w": 0}, False),
        ("and v w 3", {"v": 1, "w": "x"}, True),
        ("or v w", {"v": "", "w": []}, False),
        ("not v", {"v": []}, True),
        ("in v w", {"v": 2, "w": [1, 2]}, True),
        ("contains v 'ell'", {"v": "hello"}, True),
        ("contains v 'a'", {"v": {"a": 0}}, True),
        ("contains v 'a'", {"v": None}, False),
        ("one_of v 'plan' 'yolo'", {"v": "yolo"}, True),
        ("and (eq v 1) (not w)", {"v": 1, "w": ""}, True),
    ],
)
def test_helpers_answer_questions(call: str, values: dict[str, Any], expected: bool) -> None:  # noqa: FBT001 - a table
    assert rendered(f"{{{{#if ({call})}}}}yes{{{{else}}}}no{{{{/if}}}}", **values) == ("yes" if expected else "no")


def test_a_name_without_values_is_a_value_and_what_a_host_hands_in_wins() -> None:
    assert (
        rendered("{{date}} {{#if default}}x{{/if}}{{#each join}}{{this}}{{/each}}", date=1, default=2, join=[3])
        == "1 x3"
    )
    assert compile_template("{{trim v}}", helpers={"trim": lambda _: "mine"}).render({"v": 1}) == "mine"
    assert rendered("{{#each v as |trim|}}{{trim}}{{/each}}", v=[1]) == "1"


def test_what_an_author_writes_stays_and_what_data_says_is_escaped() -> None:
    assert rendered('{{{default v "<b>"}}} {{{upper w}}}', v="", w="<b>") == "<b> &lt;B>"
    assert rendered('{{{trim v}}} {{{join w ", "}}}', v=trusted(" <b> "), w=[trusted("<i>")]) == "<b> <i>"
    assert rendered("{{{replace v 'x' w}}}", v=trusted("<b>x"), w="<i>") == "&lt;b>&lt;i>"
    assert rendered("{{json v}}", v="<") == "&quot;&lt;&quot;"


def test_xml_writes_an_element_for_each_key_and_none_of_the_prompt() -> None:
    assert rendered('{{{xml v "page"}}}', v=PAGE) == (
        "<page>\n<title>A &lt;b&gt;</title>\n<tags>\n<item>x</item>\n<item>y &amp; z</item>\n</tags>\n"
        "<by>\n<name>Ann</name>\n</by>\n</page>"
    )
    assert (
        rendered("{{{xml v}}}", v={"a b": 1, 'c"': None}) == '<entry key="a b">1</entry>\n<entry key="c&quot;"></entry>'
    )
    assert rendered("{{{xml v}}}", v="a<") == "a&lt;"
    text = compile_template("<rules>{{{xml v}}}</rules>").render({"v": {"rules": "x", "RULES": "y"}})
    assert text == '<rules><entry key="rules">x</entry>\n<entry key="RULES">y</entry></rules>'


@pytest.mark.parametrize(
    ("text", "values", "told"),
    [
        ("{{eq a}}", {}, "wrong-arguments: `eq` cannot be called with these values = write `eq value other`"),
        ("{{trim a b}}", {}, "wrong-arguments: `trim` cannot be called"),
        ("{{json a width=2}}", {}, "wrong-arguments: `json` cannot be called"),
        ("{{or a}}", {}, "wrong-arguments: `or` cannot be called"),
        ("{{tool a}}", {}, 'wrong-arguments: `tool` cannot be called with these values = write `tool "name"`'),
        ("{{#eq a b}}x{{/eq}}", {}, "wrong-arguments: `eq` is not a block = write `{{#if (eq value other)}}"),
        ("{{upper a}}", {"a": [1]}, "wrong-value: `upper` takes a text, not a list"),
        ("{{upper a}}", {"a": {}}, "wrong-value: `upper` takes a text, not an object"),
        ("{{join a}}", {"a": "x"}, "wrong-value: `join` takes a list"),
        ("{{truncate a -1}}", {"a": "x"}, "wrong-value: `truncate` takes a whole number from 0"),
        ("{{truncate a 1.5}}", {"a": "x"}, "wrong-value: `truncate` takes a whole number"),
        ("{{indent a 100}}", {"a": "x"}, "wrong-value: `indent` takes a whole number from 0 to 80"),
        ("{{gt a 1}}", {"a": "2"}, "wrong-value: `gt` compares two numbers, or two texts"),
        ("{{in 1 a}}", {"a": 5}, "wrong-value: `in` looks into a text, a list or an object"),
        ("{{date a}}", {"a": "tomorrow"}, "wrong-value: `date` takes a date"),
        ("{{date a 'long' locale='xx'}}", {"a": "2026-01-01"}, "wrong-value: `date` cannot be written"),
        (
            "{{date a 'd Y x'}}",
            {"a": "2026-01-01"},
            "wrong-value: `date` cannot be written: `d Y x` is not a date pattern",
        ),
        ("{{date a 'long' zone='Mars'}}", {"a": "2026-01-01T00:00:00Z"}, "wrong-value: `date` cannot be written"),
        (
            "{{date a 'long' zone='UTC'}}",
            {"a": "2026-01-01T00:00:00"},
            "wrong-value: `date` cannot convert a time that has no zone",
        ),
        (
            "{{date a 'long' zone='Asia/Tokyo'}}",
            {"a": "9999-12-31T23:59:00Z"},
            "wrong-value: `date` takes a date between",
        ),
        ("{{replace a '' 'x'}}", {"a": "x"}, "wrong-value: `replace` has nothing to look for"),
        ("{{xml a 'my page'}}", {"a": 1}, "wrong-value: `my page` is no name of an element"),
        ("{{#if (tool 'x')}}{{/if}}", {}, "wrong-value: `tool` only works in the texts of an agent"),
        ("{{trim a}}", {"a": len}, "not-data: a value of type builtin_function_or_method is not data"),
        ("{{json a}}", {"a": [len]}, "not-data"),
        ("{{a}}", {"a": {"b": 1}}, "object-printed: an object cannot be printed as text"),
        ("{{{a}}}", {"a": [[{}]]}, "object-printed"),
        ("{{uper a}}", {"a": "x"}, "unknown-helper: there is no helper named `uper` = did you mean `upper`?"),
    ],
)
def test_what_cannot_be_used_is_reported_at_its_place(text: str, values: dict[str, Any], told: str) -> None:
    assert refused(text, **{"a": None, "b": None, **values}).startswith(told)


def test_results_are_bounded() -> None:
    assert "wrong-value" in refused("{{{replace v 'a' w}}}", v="a" * 10_000, w="b" * 10_000)
    assert "wrong-value" in refused("{{{join v w}}}", v=["a"] * 10_000, w="b" * 10_000)
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]
    assert "too deep" in refused("{{{json v}}}", v=deep)
    assert "too deep" in refused("{{{xml v}}}", v=deep)
    short = compile_template("{{{upper v}}}", limits=Limits(output=10))
    with pytest.raises(TemplateError, match="too-much-output"):
        short.render({"v": "a" * 11})


@pytest.mark.parametrize("backend", sorted(BACKENDS))
def test_both_backends_call_them(backend: str) -> None:
    text = "{{#each vs}}{{#if (eq this 'a')}}{{{upper this}}}{{else}}{{{default ../w 'z'}}}{{/if}}{{/each}}"
    assert compile_template(text, backend=BACKENDS[backend]).render({"vs": ["a", "b"], "w": ""}) == "Az"


def test_each_is_called_as_its_usage_says() -> None:
    values = {
        **dict.fromkeys(("text", "value", "other", "item"), "2026-11-22T10:00:00Z"),
        "list": [1],
        "number": 1,
    }
    for name in NAMES:
        call = usage(name).replace("number other", "number 2")
        if name != "tool":
            assert isinstance(rendered(f"{{{{{call}}}}}", **values), str)


HOSTILE = st.text(alphabet="<>/ruleskey\n#-`& \"'=.!\ufdd0\ufdd1", max_size=30)


@given(HOSTILE, st.sampled_from([name for name in NAMES if name not in {"tool", "date", "json", "join", "xml"}]))
def test_a_text_made_of_data_is_marked_as_data(value: str, name: str) -> None:
    call = usage(name).replace("number", "text").replace("2026", "3").replace("2000", "3").replace("list", "text")
    values = dict.fromkeys(("text", "value", "other", "item"), value)
    call = call.replace('"old"', '"e"')
    plain, spans = read_marks(compile_template(f"{{{{{{{call}}}}}}}", escaping="marks").render(values))
    assert sum(span.end - span.start for span in spans) == len(plain) or plain == "otherwise"


@given(st.recursive(HOSTILE, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(HOSTILE, inner, max_size=3)))
def test_json_and_xml_let_no_data_out(value: Any) -> None:
    text = compile_template("<rules>{{{json v}}}|{{{xml v 'page'}}}</rules>").render({"v": value})
    assert text.lower().replace(" ", "").count("<rules") == 1
    assert text.lower().replace(" ", "").count("</rules") == 1
    plain = compile_template("{{{json v}}}", escaping="handlebars").render({"v": value})
    assert json.loads(plain) == value


@pytest.mark.repeats
@pytest.mark.parametrize(
    "text",
    [
        "{{date a b}}",
        '{{date a "long" locale=b}}',
        '{{date a "long" zone=b}}',
        "{{xml a b}}",
    ],
)
def test_an_error_of_a_helper_repeats_no_value(text: str) -> None:
    for value in ("my secret 7'", "7s3cr3t-key", "7 s3cret" * 50_000):
        with pytest.raises(TemplateError) as caught:
            compile_template(text).render({"a": "2026-11-22T09:30:00Z", "b": value})
        assert value not in str(caught.value)
        assert len(str(caught.value)) < 1_000
