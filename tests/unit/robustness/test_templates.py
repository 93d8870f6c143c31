"""Rows 1 to 13 of the acceptance table for robustness: templates that are wrong, hostile or large."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from cuecard import Engine, Memory, TemplateRenderError, ToolResult, Turn, compile_template, watch
from cuecard.types import Json, Pace, TemplateError, TemplateLimitError, TemplateSyntaxError
from unit.robustness.agents import NOW, TEMPLATE, prompt, refusal, where, write_agent

pytestmark = pytest.mark.repeats

CANARY = "{{{a.[b') or __import__('pathlib').Path('canary').touch() or ('c]}}}"


def problem_of(text: str, values: dict[str, Json] | None = None, *, strict: bool = True) -> TemplateError:
    with pytest.raises(TemplateError) as caught:
        compile_template(text, strict=strict).render(values or {})
    return caught.value


def test_row_01_an_unclosed_block_is_an_error_at_its_opening_tag_and_the_last_good_prompt_stays(tmp_path: Path) -> None:
    broken = "<agent>\n<a-b> {{#if user}}\n" + "line\n" * 37 + "</a-b>\n</agent>"
    folder = write_agent(tmp_path / "agent")
    with watch(folder, states=tmp_path / "state", pace=Pace(0.02, 0.2, 0.02, 0.1)) as watcher:
        refused = threading.Event()
        watcher.on_change(lambda _, status: refused.set() if status.refused else None)
        (folder / "agent.xml").write_text(broken, encoding="utf-8")

        assert refused.wait(20)
        assert "You help Ann." in prompt(watcher.current)
    (problem,) = refusal(tmp_path / "agent", {"agent.xml": broken})

    assert (problem.code, where(problem), problem.message) == ("unclosed-block", (2, 7), "`if` is not closed")
    assert isinstance(problem_of("x\n {{#if a}} y", {"a": 1}, strict=False), TemplateSyntaxError)


def test_row_02_an_unclosed_tag_is_an_error_at_its_braces() -> None:
    (problem,) = problem_of("b {{foo").problems

    assert (problem.code, where(problem)) == ("unclosed-tag", (1, 3))


def test_row_03_a_block_closed_without_or_by_another_name_is_an_error_with_both_lines() -> None:
    (alone,) = problem_of("{{/if}}").problems
    (mixed,) = problem_of("{{#each xs}}\n\n{{/if}}").problems

    assert (alone.code, where(alone)) == ("unopened-block", (1, 1))
    assert (mixed.code, where(mixed)) == ("mismatched-block", (3, 1))
    assert "template:1:1" in mixed.message


@pytest.mark.parametrize("backend", ["cuecard", "pybars3"])
def test_row_04_no_text_of_a_template_runs_as_python(
    backend: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    agent = "agent: rows\ntemplate: {file: agent.xml, backend: BACKEND}\ninputs: {a: {type: object}}\n"
    files = {"agent.yaml": agent.replace("BACKEND", backend), "agent.xml": f"<agent>\n<a-b>{CANARY}</a-b>\n</agent>"}
    found = refusal(tmp_path / "agent", files)
    if not found:  # a path with such a name may be looked up: it is in no value
        with pytest.raises(TemplateRenderError, match="has no value here"):
            Engine.open(tmp_path / "agent").prepare_call(turn({"a": {}}))

    assert not list(tmp_path.rglob("canary"))
    assert compile_template(CANARY, strict=False).render({"a": {}}) == ""
    assert not list(tmp_path.rglob("canary"))


class Session:
    secret = "s3cret"  # noqa: S105 - what a template must not reach
    _x = "private"

    def __init__(self) -> None:
        self.deleted = False

    def delete(self) -> str:
        self.deleted = True
        return "deleted"


@pytest.mark.parametrize("name", ["__class__", "_x", "delete", "secret", "__init__.__globals__"])
def test_row_05_attributes_are_refused_and_methods_are_not_called(name: str) -> None:
    session = Session()

    assert {problem.code for problem in problem_of(f"{{{{s.{name}}}}}", {"s": session}).problems} == {"missing-value"}
    assert compile_template(f"{{{{s.{name}}}}}", strict=False).render({"s": session}) == ""
    assert not session.deleted


def test_row_06_a_value_is_never_read_as_a_template_nor_in_a_later_turn(tmp_path: Path) -> None:
    engine = Engine.open(write_agent(tmp_path))
    found = ToolResult("get_page", {"id": "page-9", "title": "{{user}}"}, "call-1")
    first = prompt(engine, "{{workingMemory}}", ("{{user}}",), (found,))
    again = prompt(engine, first, (first,), (found,))
    memory = Memory((*engine.remember(Memory(), [found]).entities,))

    assert "You help {{workingMemory}}." in first
    assert '- "{{user}}" (page-0)' in first
    assert "You help &lt;agent>" in again
    assert "{{workingMemory}}" in again
    assert all("{{user}}" in entity.name for entity in memory.entities)


def test_row_07_an_undeclared_input_is_a_load_error_and_a_missing_value_names_template_and_line(tmp_path: Path) -> None:
    (undeclared,) = refusal(tmp_path, {"agent.xml": TEMPLATE.replace("{{{user}}}", "{{{usr}}}")})
    missing = problem_of("one\ntwo {{user.nmae}}", {"user": {"name": "Ann"}})

    assert (undeclared.code, where(undeclared)) == ("undeclared-input", (3, 13))
    assert "`usr`" in undeclared.message
    assert [(p.code, p.name, where(p)) for p in missing.problems] == [("missing-value", "template", (2, 7))]
    assert "`nmae` has no value here" in str(missing)
    assert "did you mean `name`?" in str(missing)


@pytest.mark.parametrize("name", ["if", "log", "each", "items", "length", "keys", "with", "lookup"])
def test_row_08_a_value_may_have_the_name_of_a_helper_or_method(name: str) -> None:
    assert compile_template(f"{{{{{name}}}}} {{{{this.{name}}}}}").render({name: "value"}) == "value value"


def test_row_08_a_value_named_this_is_found_in_brackets() -> None:
    """`this` itself is the context, as in Handlebars."""
    assert compile_template("{{[this]}} {{this.[this]}}").render({"this": "value"}) == "value value"


@pytest.mark.parametrize(
    ("partials", "circle"),
    [
        ({"a": "{{> a}}"}, "`a` -> `a`"),
        ({"a": "{{> b}}", "b": "{{> c}}", "c": "{{> a}}"}, "`a` -> `b` -> `c` -> `a`"),
    ],
)
def test_row_09_partials_that_call_themselves_are_an_error_that_lists_the_cycle(
    partials: dict[str, str], circle: str, tmp_path: Path
) -> None:
    files = {f"partials/{name}.hbs": text for name, text in partials.items()}
    (problem,) = refusal(tmp_path, {**files, "agent.xml": TEMPLATE.replace("{{{user}}}", "{{> a}}")})

    assert (problem.code, where(problem)) == ("partial-cycle", (1, 1))
    assert circle in problem.message
    with pytest.raises(TemplateLimitError) as caught:
        compile_template("{{> a}}", partials=partials).render({})
    assert set(partials) <= {link.partition(":")[0] for link in caught.value.problems[0].chain}


def test_row_10_a_line_of_many_blocks_ends() -> None:
    line = "\n" + "{{#if a}} {{/if}} " * 40 + "text"

    assert compile_template(line).render({"a": True}) == "\n" + "  " * 40 + "text"


def test_row_11_large_texts_end_and_deep_ones_are_refused() -> None:
    blanks, prose = " " * 32_000, "Say what you do, and do it. " * 3_000
    nested = "{{#if a}}" * 200 + "x" + "{{/if}}" * 200

    assert compile_template(blanks).render({}) == blanks
    assert compile_template(f"{prose}{{{{a}}}}").render({"a": 1}) == f"{prose}1"
    for text in (nested, "{{a " + "(a " * 200 + ")" * 200 + "}}"):
        error = problem_of(text, {"a": True})
        assert isinstance(error, TemplateLimitError)
        assert [problem.code for problem in error.problems] == ["too-deep"]
        assert where(error.problems[0])[0] == 1


def test_row_12_eight_threads_that_compile_at_once_get_their_own_templates() -> None:
    wrong: list[str] = []
    start = threading.Barrier(8)

    def work(thread: int) -> None:
        start.wait()
        for number in range(50):
            text = f"{thread}-{number}: {{{{#each xs}}}}{{{{this}}}};{{{{/each}}}}{{{{> p}}}}"
            made = compile_template(text, partials={"p": f"({thread}-{number} {{{{a}}}})"})
            found = made.render({"xs": [thread, number], "a": "x"})
            if found != f"{thread}-{number}: {thread};{number};({thread}-{number} x)":
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert wrong == []


RELOADS = """\
import gc, sys
from cuecard import compile_template

def reload(number):
    text = "{{> p}}" if number % 50 == 0 else ""  # takes three times as long as a text alone
    compile_template(f"{number} {text}", partials={"p": "{{#if a}}{{a}}{{/if}}"} if text else {}).render({"a": "x"})

def pages():
    gc.collect()
    return int(open("/proc/self/statm").read().split()[1])

for number in range(500):
    reload(number)
modules, before = set(sys.modules), pages()
for number in range(10_000):
    reload(number)
print(len(set(sys.modules) - modules), (pages() - before) * 4096)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="asks the system how much memory the process holds")
def test_row_13_ten_thousand_reloads_leave_no_module_and_no_memory_behind() -> None:
    done = subprocess.run([sys.executable, "-c", RELOADS], check=True, capture_output=True, text=True)
    modules, grown = map(int, done.stdout.split())

    assert modules == 0
    assert grown < 2_000_000


def turn(inputs: dict[str, Json]) -> Turn:
    return Turn(inputs, now=NOW)
