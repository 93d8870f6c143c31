"""`cuecard test`: turn files held against what they expect."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from command_line import main, run

AGENT = """\
agent: bakery
inputs:
  customer: {default: ""}
tools:
  instructions: tools.yaml
  core: [tool_search]
layout: {heading: "## {{title}}\\n"}
sections:
  - {id: identity, title: Identity, text: You answer the mail of a bakery.}
  - {id: customer, title: Customer, text: "{{{customer}}}"}
  - {id: rules, title: Rules, text: Promise nothing.}
  - {id: guides, title: Tools, text: "{{{activeProtocols}}}"}
"""
TOOLS = """\
category: shop
described:
  tool_search: {description: Find tools}
tools:
  find_day:
    description: Find a free day
    before: Ask for the month.
    after: Name the day.
    next: Offer to note it.
    gotcha: Sundays are closed.
"""


class Bakery:
    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.monkeypatch, self.capsys = folder, monkeypatch, capsys
        monkeypatch.chdir(folder)
        self.write("agent.yaml", AGENT)
        self.write("tools.yaml", TOOLS)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test(self, *options: str) -> tuple[int, str, str]:
        self.monkeypatch.setattr("sys.argv", ["cuecard", "test", *options])
        with pytest.raises(SystemExit) as ended:
            main()
        shown = self.capsys.readouterr()
        return int(ended.value.code or 0), shown.out, shown.err


@pytest.fixture
def bakery(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Bakery:
    return Bakery(tmp_path, monkeypatch, capsys)


@pytest.mark.parametrize(
    ("expected", "code"),
    [
        ("active: tool_search", None),
        ("active: find_day", "expect-active"),
        ("inactive: find_day", None),
        ("inactive: tool_search", "expect-inactive"),
        ("sections: rules", None),
        ("sections: customer", "expect-sections"),
        ("without: customer", None),
        ("without: rules", "expect-without"),
        ("active: 7", "wrong-value"),
        ("inactive: two words", "wrong-value"),
    ],
)
def test_one_name_needs_no_list(bakery: Bakery, expected: str, code: str | None) -> None:
    bakery.write("turns/first.yaml", f"expect: {{{expected}}}\n")

    ended, _, problems = bakery.test(".")

    assert ended == (1 if code else 0)
    assert (f"error[{code}]" in problems) == bool(code)


def test_a_turn_that_is_as_expected_passes(bakery: Bakery) -> None:
    bakery.write(
        "turns/first.yaml",
        """\
inputs: {customer: Jana}
history: [{tool: tool_search, result: {tools: [find_day]}, call_id: call-1}]
expect:
  contains: [You answer, Jana, Ask for the month]
  absent: Max
  active: find_day
  sections: [identity, customer, rules]
  max_tokens: 200
""",
    )

    code, out, err = bakery.test(".")

    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "1 turn: 1 passed, 0 failed"


UNMET = {
    "contains: [Jana, You answer the mail of the bakery.]": (
        "expect-contains",
        "nearest line is: You answer the mail of a bakery.",
    ),
    'contains: ["", Jana]': ("expect-contains", "every prompt contains an empty text"),
    "absent: Promise": ("expect-absent", "it is in section `rules`"),
    'absent: "\\n\\n##"': ("expect-absent", "the prompt contains `##`"),
    "active: [find_day]": ("expect-active", "`find_day` is not active"),
    "active: [find_dya]": ("expect-active", "did you mean `find_day`?"),
    "inactive: [tool_search]": ("expect-inactive", "`tool_search` is active"),
    "sections: [rules, identity]": ("expect-sections", "their order is: identity, rules"),
    "sections: [ruls]": ("expect-sections", "did you mean `rules`?"),
    "sections: [guides]": ("expect-sections", "it is empty in this turn"),
    "without: [rules]": ("expect-without", "there is a section `rules`"),
    "without: [customr]": ("expect-without", "did you mean `customer`?"),
    "max_tokens: 3": ("expect-max-tokens", "the longest sections: "),
    "shares_cache: true": ("expect-shares-cache", "there is no previous turn"),
    "snapshot: true": ("snapshot-missing", "write it: cuecard test --update"),
    "nonsense: true": ("unknown-key", "nonsense"),
    "max_tokens: 0": ("wrong-value", "max_tokens"),
}


@pytest.mark.parametrize("expected", UNMET)
def test_what_is_not_as_expected_is_reported_at_its_place(bakery: Bakery, expected: str) -> None:
    bakery.write("turns/first.yaml", f"inputs: {{customer: Jana}}\nexpect:\n  {expected}\n")

    code, out, err = bakery.test(".")

    problem, hint = UNMET[expected]
    assert code == 1
    assert err.lstrip().startswith("turns/first.yaml:3:")
    assert f"error[{problem}]" in err
    assert hint in err
    assert "1 turn: 0 passed, 1 failed" in out


RESULTS = """\
history:
  - {tool: find_day, result: {day: Monday, note: "xxxxxxxxxxxxxxxxxxxx"}, call_id: c-1}
  - {tool: find_day, result: the oven is cold, call_id: c-2, is_error: true}
expect:
  results:
"""


@pytest.mark.parametrize(
    ("expected", "problem"),
    [
        ("c-1: [<day>Monday</day>, Monday]", ""),
        ("c-2: <failed>the oven", ""),
        ("find_day: [day, Monday]", "6:21: error[expect-results]: the result does not contain `Monday`"),
        ("c-1: xxxx", "6:10: error[expect-results]: the result does not contain `xxxx`"),
        ("fin_day: Monday", "did you mean `find_day`?"),
        ("{}", ""),
    ],
)
def test_results_are_held_against_what_the_model_reads(bakery: Bakery, expected: str, problem: str) -> None:
    agent = bakery.folder / "agent.yaml"
    told = "results: {find_day: {text: '<day>{{{result.day}}}</day>', error: '<failed>{{{content}}} today</failed>'}}\n"
    agent.write_text(agent.read_text(encoding="utf-8") + told, encoding="utf-8")
    bakery.write("turns/first.yaml", f"{RESULTS}    {expected}\n")

    code, _, err = bakery.test(".")

    assert code == bool(problem)
    assert problem in err
    assert "told by `find_day` (agent.yaml:" in err or "did you mean" in err or not problem


def test_every_problem_of_every_turn_is_reported_at_once(bakery: Bakery) -> None:
    bakery.write("turns/a.yaml", "expect: {contains: [nowhere, nor this], max_tokens: 1}\n")
    bakery.write("turns/b.yaml", "expects: {}\n")
    bakery.write("turns/c.yaml", "inputs: {custmer: x}\n")
    bakery.write("turns/d.yaml", "expect: {contains: You}\n")

    code, out, err = bakery.test(".")

    assert code == 1
    assert err.count("error[") == 5
    assert [line[0] for line in out.splitlines()[:4]] == ["✗", "✗", "✗", "✓"]


def test_a_turn_without_expectations_must_render(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "inputs: {customer: Jana}\n")

    assert bakery.test(".")[0] == 0


CONVERSATION = """\
turns:
  - inputs: {customer: Jana}
  - inputs: {customer: Max}
    expect: {shares_cache: true, contains: Max}
"""


@pytest.mark.parametrize(
    ("turn", "problem"),
    [
        ("expect: {}", "1:9: error[wrong-value]: `expect` asks for nothing"),
        ("tools: [tool_search, find_dya]", "1:22: error[unknown-tool]: no tool is called `find_dya`"),
        ("discovered: [finds_day]", "1:14: error[unknown-tool]: no tool is called `finds_day`"),
        ("history: [{tool: find_dya, result: x}]", "1:18: error[unknown-tool]: no tool is called `find_dya`"),
        (
            "history: [{tool: tool_search, result: {tools: [find_dya]}}]",
            "1:39: error[unknown-tool]: no tool is called `find_dya`",
        ),
        ("files: {notes.md: x}", "1:9: error[no-effect]: no section reads the file `notes.md` from the turn"),
    ],
)
def test_a_turn_that_names_what_does_not_exist_tests_nothing(bakery: Bakery, turn: str, problem: str) -> None:
    bakery.write("turns/a.yaml", turn)
    code, _, err = bakery.test(".")

    assert code == 1
    assert f"turns/a.yaml:{problem}" in err


def test_results_of_tools_without_an_entry_are_no_mistake(bakery: Bakery) -> None:
    found = "{tool: tool_search, result: {tools: [find_day, paint_cake]}}"
    others = "{tool: send_mail, result: sent}, {tool: find_days, result: x}"
    bakery.write("turns/a.yaml", f"history: [{others}, {found}]\nexpect: {{active: find_day}}\n")

    assert bakery.test(".")[0] == 0


def test_a_file_may_be_supplied_that_no_section_reads_unless_its_name_is_misspelt(bakery: Bakery) -> None:
    reads = "  - {id: own, files: {entries: [{path: notes.md}], supplied: true}}"
    bakery.write("agent.yaml", f"{AGENT}{reads}\n")
    bakery.write("turns/a.yaml", "files: {other.txt: x}\nexpect: {absent: x y}")
    bakery.write("turns/b.yaml", "files: {note.md: x}\nexpect: {absent: x y}")
    code, out, err = bakery.test(".")

    assert code == 1
    assert "b.yaml:1:9: error[no-effect]: no section reads the file `note.md` from the turn" in err
    assert "= did you mean `notes.md`?" in err
    assert "✓ turns/a.yaml" in out


def test_an_input_that_the_agent_does_not_take_is_marked_itself_by_every_command(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "inputs:\n  customer: [Jana]\n  custmer: Jana\nmessage: hi\n")
    told = [
        "turns/first.yaml:3:3: error[unknown-input]: `custmer` is not an input of this agent",
        "turns/first.yaml:2:13: error[wrong-input]: `customer` should be of type string, not list",
    ]

    assert [line for line in bakery.test()[2].splitlines() if "error" in line] == told
    rendered = run("render", "--turn", "turns/first.yaml").stderr
    assert [line for line in rendered.splitlines() if "error" in line] == told
    supplied = run("render", "--turn", "turns/first.yaml", "--set", "custmer=Max").stderr
    assert "--set: error[unknown-input]: `custmer`" in supplied


def test_turns_of_one_file_are_one_conversation(bakery: Bakery) -> None:
    bakery.write("turns/two.yaml", CONVERSATION)

    assert bakery.test(".")[0] == 0

    code, out, err = bakery.test(".", "--delivery", "rewrite")

    assert code == 1
    assert "✓ turns/two.yaml turn 1" in out
    assert "the prompt differs from the previous one at `customer`" in err
    assert "cause: input customer" in err


SHORTENED = """\
turns:
  - {inputs: {customer: Jana}, message: Rolls?}
  - inputs: {customer: Max}
    message: And rye?
    messages: []
    expect: {shares_cache: true}
"""


def test_a_history_that_was_forgotten_is_reported_as_the_cause(bakery: Bakery) -> None:
    bakery.write("turns/two.yaml", SHORTENED)

    code, _, err = bakery.test(".")

    assert code == 1
    assert "the history window moved" in err


def test_sections_appear_in_the_text_as_in_the_prompt(bakery: Bakery) -> None:
    """What is between two sections can be expected, and blank lines that are not there are not found."""
    expect = '{contains: "Jana\\n\\n## Rules", absent: "\\n\\n\\n"}'
    bakery.write("turns/a.yaml", f"inputs: {{customer: Jana}}\nexpect: {expect}\n")

    assert bakery.test(".")[0] == 0

    bakery.write("turns/a.yaml", 'expect: {absent: "\\n\\n"}\n')

    assert r"the prompt contains `\n\n`" in bakery.test(".")[2]


def test_a_snapshot_is_written_holds_and_tells_what_changed(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "inputs: {customer: Jana}\nexpect: {snapshot: true}\n")
    golden = bakery.folder / "turns" / "snapshots" / "first.txt"

    assert bakery.test(".", "--update")[0] == 0
    written = golden.read_text(encoding="utf-8")
    assert "=== customer | call | " in written
    assert bakery.test(".")[0] == 0

    bakery.write("agent.yaml", AGENT.replace("Promise nothing.", "Promise little."))
    code, _, err = bakery.test(".")

    assert code == 1
    assert "error[snapshot-differs]" in err
    assert "section `rules`" in err
    assert "-Promise nothing." in err
    assert golden.read_text(encoding="utf-8") == written

    bakery.test(".", "--update")
    assert "Promise little." in golden.read_text(encoding="utf-8")


def test_the_date_of_a_snapshot_stands_still(bakery: Bakery) -> None:
    clock = "  - {id: day, clock: {}, text: '{{{date}}}'}\n"
    bakery.write("agent.yaml", AGENT.replace("  - {id: rules", f"{clock}  - {{id: rules"))
    bakery.write("turns/first.yaml", "expect: {contains: '2026-01-01'}\n")

    assert bakery.test(".")[0] == 0


def test_a_snapshot_that_nobody_asks_for_is_reported_and_discarded_on_demand(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "expect: {snapshot: true}\n")
    bakery.test(".", "--update")
    bakery.write("turns/first.yaml", "expect: {snapshot: false}\n")
    bakery.write("turns/snapshots/notes.txt", "not a snapshot\n")

    code, _, err = bakery.test(".")
    assert code == 0
    assert "turns/snapshots/first.txt: warning[snapshot-unused]" in err

    assert bakery.test(".", "--prune")[0] == 0
    assert [path.name for path in (bakery.folder / "turns" / "snapshots").iterdir()] == ["notes.txt"]


def test_nothing_is_discarded_while_a_turn_cannot_be_read(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "expect: {snapshot: true}\n")
    bakery.test(".", "--update")
    bakery.write("turns/first.yaml", "expect: {snapshot: true\n")

    assert bakery.test(".", "--prune")[0] == 1
    assert (bakery.folder / "turns" / "snapshots" / "first.txt").exists()


def test_a_damaged_snapshot_is_an_error_and_rewritten_on_demand(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "expect: {snapshot: true}\n")
    bakery.write("turns/snapshots/first.txt", "cuecard snapshot 9\n")

    code, _, err = bakery.test(".")

    assert code == 1
    assert "turns/snapshots/first.txt:1:1: error[bad-snapshot]" in err
    assert bakery.test(".", "--update")[0] == 0


def test_machines_get_json_junit_and_annotations(bakery: Bakery) -> None:
    bakery.write("turns/a.yaml", "expect: {contains: nowhere}\n")
    bakery.write("turns/b.yaml", "expect: {contains: You}\n")

    told = json.loads(bakery.test(".", "--json", "--junit", "junit.xml")[1])
    suite = ET.parse(bakery.folder / "junit.xml").getroot()  # noqa: S314 - our own file

    assert told["ok"] is False
    assert [(turn["name"], turn["ok"]) for turn in told["turns"]] == [("turns/a.yaml", False), ("turns/b.yaml", True)]
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert [case.find("failure") is not None for case in suite.iter("testcase")] == [True, False]

    _, out, _ = bakery.test(".", "--format", "github")
    assert out.startswith("::error file=turns/a.yaml,line=1,col=20,")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["."], 2, "there are no turn files in turns"),
        ([".", "nowhere.yaml"], 2, "nowhere.yaml: error[missing-file]"),
        (["nowhere"], 2, "nowhere: error[missing-file]"),
    ],
)
def test_nothing_to_test_is_an_error(bakery: Bakery, arguments: list[str], code: int, message: str) -> None:
    found, _, err = bakery.test(*arguments)

    assert (found, message in err) == (code, True), err


def test_a_report_that_cannot_be_written_is_an_error(bakery: Bakery) -> None:
    bakery.write("turns/a.yaml", "inputs: {customer: Jana}\n")

    code, _, err = bakery.test(".", "--junit", "no/such/folder.xml")

    assert code == 2
    assert "error[wrong-option]" in err


@pytest.mark.parametrize("system", ["cms", "mistermorph", "mushroom", "pioneer", "polyant"])
def test_the_turns_of_the_shipped_systems_pass(system: str, bakery: Bakery) -> None:
    code, out, err = bakery.test(f"prompts/{system}")

    assert (code, err) == (0, "")
    assert out.count("✓") >= 10


@pytest.mark.parametrize("first", ["message: I need a day", "message: {role: user, content: I need a day}"])
def test_the_messages_of_earlier_turns_are_the_history_of_later_ones(bakery: Bakery, first: str) -> None:
    bakery.write(
        "turns/talk.yaml",
        f"""turns:
  - {first}
    history: [{{tool: tool_search, call_id: c1, result: {{tools: [find_day]}}}}]
    expect: {{active: find_day}}
  - {{message: thank you, expect: {{shares_cache: true, active: find_day}}}}
  - {{query: by other means, expect: {{shares_cache: true}}}}
  - {{message: bye, expect: {{shares_cache: true}}}}
  - {{message: who are you, messages: [], expect: {{shares_cache: false}}}}
""",
    )
    code, told, _ = bakery.test(".")

    assert (code, "5 passed" in told) == (0, True), told


SEARCHED = """\
turns:
  - history: [{search: find a free day, finds: find_day}]
    expect: {active: find_day, contains: Sundays are closed.}
  - history: [{search: find a free day, limit: 1, call_id: s-2}, {search: paint the wall, finds: []}]
    expect: {active: find_day}
"""


def test_a_search_in_a_history_is_answered_by_the_engine(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", SEARCHED)

    assert bakery.test(".")[0] == 0


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("finds: find_day", "finds: [find_day, tool_search]", "2:48: error[expect-finds]: `find a free day` does not"),
        ("wall, finds: []", "day, finds: []", "should find nothing"),
        ("search: paint", "serch: paint", "error[missing-key]: `tool` is missing"),
        ("limit: 1", "limt: 1", "did you mean `limit`?"),
    ],
)
def test_a_search_that_does_not_find_it_is_reported_at_its_place(
    bakery: Bakery, old: str, new: str, problem: str
) -> None:
    bakery.write("turns/first.yaml", SEARCHED.replace(old, new))
    code, _, err = bakery.test(".")

    assert code == 1
    assert problem in err


def test_a_snapshot_holds_results_that_a_template_renders(bakery: Bakery) -> None:
    bakery.write("turns/first.yaml", "history: [{tool: find_day, result: {day: Monday}}]\nexpect: {snapshot: true}\n")
    bakery.test(".", "--update")
    plain = (bakery.folder / "turns/snapshots/first.txt").read_text(encoding="utf-8")
    bakery.write("agent.yaml", AGENT + "results: {find_day: 'It is {{{result.day}}}.'}\n")
    code, _, err = bakery.test(".")

    assert "Monday" not in plain
    assert code == 1
    assert "result: find_day: new, 4 tokens" in err
    assert "+It is Monday." in err
    assert bakery.test(".", "--update")[0] == bakery.test(".")[0] == 0
