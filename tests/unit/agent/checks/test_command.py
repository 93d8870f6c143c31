"""`cuecard check`, called as the command line calls it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest

from command_line import main
from cuecard import Engine, InputError, Problem
from cuecard.agent.checks.codes import CODES
from cuecard.pipeline.delivery import FEW
from cuecard.types import Span
from cuecard.workbench.check.command import CheckOptions, check, matcher
from cuecard.workbench.check.formats import MANY, annotation
from unit.agent.checks.examples import examples

ROOT = Path(__file__).parents[4]


@pytest.fixture
def warned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent with one warning, `volatile-text`."""
    return written("volatile-text", tmp_path, monkeypatch)


@pytest.fixture
def broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An agent with one error, `xml-schema`."""
    return written("xml-schema", tmp_path, monkeypatch)


def written(code: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    examples()[code].write(folder, examples()[code].bad)
    monkeypatch.chdir(folder)
    return Path()


def test_an_error_fails_a_check_and_a_warning_does_not(
    warned: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert check(warned) == 0
    assert check(written("xml-schema", tmp_path / "other", monkeypatch)) == 1


def test_what_is_ignored_does_not_count(broken: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert check(broken, options=CheckOptions(ignore="xml-schema")) == 0
    assert capsys.readouterr().out.splitlines()[0] == "helper: 3 sections, 2 tools: 0 errors, 0 warnings"


@pytest.mark.parametrize("delivery", ["append", "frozen", "auto"])
def test_it_says_which_delivery_is_cheaper_by_the_figure_of_auto(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], delivery: str
) -> None:
    def said(tools: int, core: str = "[tool_search]") -> list[str]:
        entries = "".join(f"  tool_{n}: {{gotcha: {'Ask first. ' * 60}}}\n" for n in range(tools))
        (tmp_path / "tools.yaml").write_text(f"tools:\n{entries}", encoding="utf-8")
        sections = 'sections: [{id: how, text: "{{{activeProtocols}}}"}]\n'
        head = f"agent: a\ndelivery: {delivery}\ntools: {{instructions: tools.yaml, core: {core}}}\n"
        (tmp_path / "agent.yaml").write_text(head + sections, encoding="utf-8")
        check(tmp_path)
        return capsys.readouterr().out.splitlines()[1:]

    def for_programs() -> list[dict[str, Any]]:
        check(tmp_path, options=CheckOptions(format="json"))
        return list(json.loads(capsys.readouterr().out)["agents"])

    assert FEW == 2200
    assert [line.split(": ")[1] for line in said(3)] == ["`frozen` is cheaper than discovery"]
    assert [line.split(": ")[1] for line in said(30)] == ["discovery is cheaper than `frozen`"]
    assert said(100) == ["  all instructions take more than 10,000 tokens: discovery is cheaper than `frozen`"]
    (agent,) = for_programs()
    assert agent["delivery"].pop("tokens") > MANY
    said(30)
    (agent,) = for_programs()
    assert agent["delivery"].pop("tokens") > FEW
    assert agent == {"agent": "a", "sections": 1, "tools": 30, "delivery": {"few": FEW, "cheaper": "discovery"}}
    assert said(30, "all") == []
    assert for_programs() == [{"agent": "a", "sections": 1, "tools": 30}]
    assert f"{FEW:,}" in (ROOT / "docs" / "caching.md").read_text(encoding="utf-8")


def test_a_tool_that_files_say_nothing_of_is_a_note_which_fails_no_check_and_can_be_accepted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.yaml").write_text("tools:\n  handover: {gotcha: Ask first.}\n", encoding="utf-8")
    agent = 'agent: a\ntools: {instructions: tools.yaml}\nsections: [{id: how, text: "{{{activeProtocols}}}"}]\n'
    (tmp_path / "agent.yaml").write_text(agent, encoding="utf-8")

    assert check(tmp_path, options=CheckOptions(strict=True)) == 0
    told = capsys.readouterr()
    assert told.out.splitlines()[0] == "a: 1 section, 1 tool: 0 errors, 0 warnings, 1 note"
    assert "note[found-by-name]: `handover` is found by its name only" in told.err
    assert check(tmp_path, options=CheckOptions(format="github")) == 0
    assert capsys.readouterr().out.startswith("::notice file=")

    (tmp_path / "agent.yaml").write_text(f"{agent}accept: {{found-by-name: The host says it.}}\n", encoding="utf-8")
    assert check(tmp_path, options=CheckOptions(strict=True)) == 0
    assert capsys.readouterr().out.splitlines()[0] == "a: 1 section, 1 tool: 0 errors, 0 warnings"


def test_what_is_not_selected_does_not_count(broken: Path) -> None:
    assert check(broken, options=CheckOptions(select="yaml,volatile-text")) == 0
    assert check(broken, options=CheckOptions(select="yaml, xml")) == 1


def test_the_first_words_of_codes_stand_for_them_and_parts_of_words_do_not() -> None:
    chosen = {code for code in CODES if matcher("xml,unused-", "xml-schema")(code)}

    assert chosen == {
        "xml",
        "xml-branch",
        "xml-doctype",
        "xml-place",
        "unused-acceptance",
        "unused-input",
        "unused-partial",
    }
    with pytest.raises(InputError, match="`unu` is neither a check"):
        matcher("unu", "")


def test_every_wrong_name_is_reported_with_the_nearest_code() -> None:
    with pytest.raises(InputError) as caught:
        matcher("volatile-texts", "xm,yaml")

    assert [(p.code, p.name, p.hint) for p in caught.value.problems] == [
        ("unknown-code", "--select", "did you mean `volatile-text`?"),
        ("unknown-code", "--ignore", "did you mean `xml`?"),
    ]


def test_json_contains_every_problem(warned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(warned, options=CheckOptions(format="json"))
    told = json.loads(capsys.readouterr().out)

    assert told["ok"] is True
    assert [(p["code"], p["severity"], p["span"]["line"]) for p in told["problems"]] == [
        ("volatile-text", "warning", 3)
    ]


def test_github_gets_one_command_per_problem_on_stdout(warned: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(warned, options=CheckOptions(format="github"))
    shown = capsys.readouterr()

    assert shown.err == ""
    assert shown.out.startswith("::warning file=agent.xml,line=3,col=17,endColumn=26,title=volatile-text::`2026-11-20`")
    assert shown.out.splitlines()[1:] == [
        "helper: 4 sections, 2 tools: 0 errors, 1 warning",
        "  all instructions take 71 tokens, at most 2,200: `frozen` is cheaper than discovery",
    ]


def test_nothing_in_a_problem_can_end_a_github_command_or_begin_another() -> None:
    nasty = "100%\r\n::error file=x,line=1::y"
    told = annotation(Problem("xml", nasty, nasty, nasty, Span(1, 1), chain=(nasty,)))

    assert "\n" not in told
    assert "\r" not in told
    assert told.startswith("::error file=100%25%0D%0A%3A%3Aerror file=x%2Cline=1%3A%3Ay,line=1,col=1,endColumn=1,")
    assert told.count("::error file=x,line=1::y") == told.count("%0A::error") == 3


def test_a_problem_without_a_place_has_none_for_github() -> None:
    assert annotation(Problem("wrong-setting", "m")) == "::error title=wrong-setting::m%0Acuecard explain wrong-setting"


def test_what_lint_finds_is_reported_alongside_other_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written("volatile-text", tmp_path, monkeypatch)
    (tmp_path / "tools" / "more.yaml").write_text("tools: []")
    check(path, options=CheckOptions(format="json"))
    told = json.loads(capsys.readouterr().out)

    assert [p["code"] for p in told["problems"]] == ["volatile-text", "wrong-value"]


def test_problems_appear_file_by_file_from_top_to_bottom(capsys: pytest.CaptureFixture[str]) -> None:
    check(
        ROOT / "tests" / "cases" / "agents" / "unused_and_reserved_input",
        options=CheckOptions(format="json", ignore="escaped-text"),
    )
    places = [(p["name"], p["span"]["line"]) for p in json.loads(capsys.readouterr().out)["problems"]]

    assert len(places) > 1
    assert places == sorted(places)


@pytest.mark.parametrize("code", ["never-active", "xml-schema", "volatile-text", "section-order", "unsorted-mapping"])
def test_an_engine_opens_without_judging_or_counting(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = Engine.open(written(code, tmp_path, monkeypatch))

    assert engine.warnings == ()


def test_the_hook_is_a_command_that_checks_an_agent(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8")
    entry = re.search(r"entry: (.+)", hooks)
    files = re.search(r"files: (.+)", hooks)
    monkeypatch.chdir(ROOT)

    assert entry
    assert files
    monkeypatch.setattr("sys.argv", shlex.split(f"{entry[1]} prompts/cms/agent.yaml"))
    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 0
    assert "0 errors, 0 warnings" in capsys.readouterr().out
    for path in ("prompts/cms/agent.yaml", "prompts/cms/agent.xml", "tool_instructions/cms/images.yaml"):
        assert re.search(files[1], path)
    assert "pass_filenames: false" in hooks


def test_several_agents_and_folders_of_agents_are_checked_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, more in {"one": "", "deep/two": "delivry: append\n", "three": "budgt: 1\n"}.items():
        folder = tmp_path / "agents" / name
        folder.mkdir(parents=True)
        (folder / "agent.yaml").write_text(f"agent: a\nsections: [{{id: a, text: a}}]\n{more}", encoding="utf-8")

    assert check(tmp_path / "agents", tmp_path / "agents" / "one") == 1

    shown = capsys.readouterr()
    assert shown.err.count("error[unknown-key]") == 2
    assert [line.rpartition(": ")[2] for line in shown.out.splitlines()] == [
        "1 error, 0 warnings",
        "0 errors, 0 warnings",
        "1 error, 0 warnings",
    ]


def test_under_strict_a_warning_fails_the_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text("agent: a\ninputs: {x: {default: ''}}\nsections: [{id: a, text: a}]\n", encoding="utf-8")

    assert check(agent) == 0
    assert check(agent, options=CheckOptions(strict=True)) == 1
    assert check(agent, options=CheckOptions(strict=True, ignore="unused-input")) == 0
    assert "1 warning" in capsys.readouterr().out


@pytest.mark.parametrize("system", ["cms", "mistermorph", "mushroom", "pioneer", "polyant"])
def test_a_shipped_system_goes_by_its_name(
    system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert check(Path(system)) == 0
    assert capsys.readouterr().out.startswith(system)


def test_a_folder_of_your_own_goes_before_a_shipped_system(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("cms").mkdir()
    (Path("cms") / "agent.yaml").write_text("agent: mine\nsections: [{id: a, text: a}]\n", encoding="utf-8")

    assert check(Path("cms")) == 0
    assert capsys.readouterr().out.startswith("mine:")


ACCEPTING = """\
agent: a
inputs: {{x: {{default: ''}}}}
sections: [{{id: a, text: a}}]
accept: {{{accept}}}
"""


@pytest.mark.parametrize(
    ("accept", "codes"),
    [
        ("unused-input: the host sends it anyway", []),
        ("unused-input: yes it does, section-order: as stored", ["unused-acceptance"]),
        ("unusd-input: x", ["unused-input", "unknown-code"]),
        ("unused-input: ''", ["wrong-value"]),
    ],
)
def test_a_warning_can_be_accepted_with_a_reason(
    accept: str, codes: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "agent.yaml").write_text(ACCEPTING.format(accept=accept), encoding="utf-8")

    check(tmp_path)

    assert re.findall(r"(?:error|warning)\[([a-z-]+)\]", capsys.readouterr().err) == codes


def test_an_error_cannot_be_accepted(tmp_path: Path) -> None:
    text = "agent: a\nsections: [{id: a, text: '{{x}}'}]\naccept: {undeclared-input: it is fine}\n"
    (tmp_path / "agent.yaml").write_text(text, encoding="utf-8")

    assert check(tmp_path) == 1


def test_sarif_has_every_problem_with_its_rule_level_and_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "an agent"
    folder.mkdir()
    (folder / "agent.yaml").write_text(
        "agent: a\nsections:\n  - {id: s, text: 'Ünïcode {{oops}} and {{{worse}}}'}\n",
        encoding="utf-8",
    )
    assert check(folder, options=CheckOptions(format="sarif")) == 1
    log = json.loads(capsys.readouterr().out)
    assert check(folder, options=CheckOptions(format="json")) == 1
    problems = json.loads(capsys.readouterr().out)["problems"]
    (ran,) = log["runs"]
    rules = ran["tool"]["driver"]["rules"]

    jsonschema.validate(log, SARIF)
    assert [rule["id"] for rule in rules] == list(dict.fromkeys(each["code"] for each in problems))
    assert [each["shortDescription"]["text"] for each in rules] == [CODES[each["id"]] for each in rules]
    assert [each["help"]["text"] for each in rules] == [f"cuecard explain {each['id']}" for each in rules]
    assert len(problems) == len(ran["results"]) == 2
    for problem, result in zip(problems, ran["results"], strict=True):
        (location,) = result["locations"]
        place, span = location["physicalLocation"], problem["span"]
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"] == problem["code"]
        assert result["level"] == problem["severity"]
        assert result["message"]["text"].startswith(problem["message"])
        assert unquote(place["artifactLocation"]["uri"]) == problem["name"]
        assert " " not in place["artifactLocation"]["uri"]
        region = {
            "startLine": span["line"],
            "startColumn": span["column"],
            "endColumn": span["column"] + span["length"],
        }
        assert place["region"] == region


def test_sarif_of_what_is_fine_has_no_results(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(ROOT / "prompts" / "cms", options=CheckOptions(format="sarif")) == 0
    log = json.loads(capsys.readouterr().out)

    jsonschema.validate(log, SARIF)
    assert log["runs"][0]["results"] == []


def _object(required: str, **properties: Any) -> dict[str, Any]:
    made = {name.replace("schema_", "$schema"): each for name, each in properties.items()}
    return {"type": "object", "required": required.split(), "properties": made, "additionalProperties": False}


_WORD, _WHOLE, _TEXT = (
    {"type": "string", "minLength": 1},
    {"type": "integer", "minimum": 1},
    _object("text", text={"type": "string"}),
)
_PLACE = _object(
    "artifactLocation",
    artifactLocation=_object("uri", uri={"type": "string", "format": "uri-reference"}),
    region=_object("startLine", startLine=_WHOLE, startColumn=_WHOLE, endColumn=_WHOLE),
)
_RESULT = _object(
    "message",
    ruleId=_WORD,
    ruleIndex={"type": "integer", "minimum": -1},
    level={"enum": ["none", "note", "warning", "error"]},
    message=_TEXT,
    locations={"type": "array", "items": _object("", physicalLocation=_PLACE)},
)
_RULES = {"type": "array", "uniqueItems": True, "items": _object("id", id=_WORD, shortDescription=_TEXT, help=_TEXT)}
_RUN = _object(
    "tool",
    tool=_object("driver", driver=_object("name", name=_WORD, version=_WORD, rules=_RULES)),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results={"type": "array", "items": _RESULT},
)
SARIF = _object(
    "version runs",
    schema_={"type": "string", "format": "uri"},
    version={"const": "2.1.0"},
    runs={"type": "array", "items": _RUN},
)
"""The part of the schema of SARIF 2.1.0 that is used."""
