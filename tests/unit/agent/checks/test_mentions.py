"""Wherever an agent's texts can name a tool, a name that no tool has any more is reported where it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from command_line import problems, run
from unit.agent.checks.agents import place, write

ENTRY = "{description: Look up notes, gotcha: Try other words}"
TOOLS = f"tools:\n  add_note: {{description: Save a note, gotcha: Ask for a title}}\n  search_notes: {ENTRY}\n"
CORE = "<agent>\n<rules>\n{{> house}}\n</rules>\n<tools>{{{activeProtocols}}}</tools>\n</agent>\n"
AGENT = "agent: notes\ntemplate: {file: agent.xml, partials: partials}\ntools: {instructions: tools.yaml}\n"
LIST = "agent: notes\ntools: {instructions: tools.yaml}\nsections:\n  - {id: tools, text: '{{{activeProtocols}}}'}\n"
FILES = {"agent.yaml": AGENT, "agent.xml": CORE, "partials/house.hbs": "Be brief.", "tools.yaml": TOOLS}


def told(folder: Path, files: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The mentions of unknown tools in these files, over those of an agent without any."""
    monkeypatch.chdir(write(folder, {**FILES, **files}))
    found = problems(".")
    assert [each for each in found if each.severity == "error"] == []
    return [place(each) for each in found if each.code == "unknown-tool"]


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("agent.xml", CORE.replace("{{>", "Use find_notes.\n{{>")),
        ("agent.xml", CORE.replace("<rules>", "<rules>{{! find }}Call find_notes first.")),
        ("partials/house.hbs", "Be brief.\nLook with find_notes()"),
        ("agent.yaml", f"{LIST}  - {{id: a, text: Use find_notes.}}\n"),
        ("agent.yaml", f"{LIST}  - id: a\n    text: |\n      Be brief.\n      Use find_notes.\n"),
        ("agent.yaml", f"{LIST}  - id: a\n    choose: [{{text: 'Use find_notes.'}}]\n"),
        ("agent.yaml", f"{LIST}  - {{id: a, title: With find_notes, text: a}}\n"),
        ("agent.yaml", f"{LIST}  - {{id: a, when: a, text: b}}\ninputs:\n  a: {{default: Use find_notes}}\n"),
        ("agent.yaml", f"{AGENT}words: {{search: {{nothing: No hit. Try find_notes.}}}}\n"),
        ("agent.yaml", f"{AGENT}results: {{add_note: {{text: 'Saved. Now find_notes: {{{{{{content}}}}}}'}}}}\n"),
        ("agent.yaml", f"{AGENT}memory: {{forget: {{find_notes: [{{at: id}}]}}}}\n"),
        ("agent.yaml", f"{AGENT}memory: {{types: {{find_notes: note}}}}\n"),
        ("agent.yaml", f"{AGENT}results: {{find_notes: {{head: 10}}}}\n"),
        ("tools.yaml", f"{TOOLS}described:\n  note_pad: {{description: What find_notes reads}}\n"),
        ("tools.yaml", f"{TOOLS}described:\n  note_pad: {{phrases: [a note, find_notes]}}\n"),
        ("tools.yaml", TOOLS.replace("Try other words", "[Try, 'Use find_notes: a']")),
        ("tools.yaml", TOOLS.replace("Try other", "Not find_notes but other")),
    ],
)
def test_an_old_name_is_reported_where_it_stands(
    file: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = text[: text.index("find_notes")]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")

    assert told(tmp_path, {file: text}, monkeypatch) == [f"{Path(file).name}:{line}:{column} find_notes"]


def test_in_a_long_line_it_is_marked_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"{LIST}  - {{id: a, text: '{'Be kind. ' * 200}Use find_notes.'}}\n"
    monkeypatch.chdir(write(tmp_path, {**FILES, "agent.yaml": text}))
    told = run("check", ".").stderr.splitlines()
    at = next(number for number, line in enumerate(told) if "[unknown-tool]" in line)
    line, carets = told[at + 1 : at + 3]

    assert line[carets.index("^") : carets.rindex("^") + 1] == "find_notes"


@pytest.mark.parametrize(
    "text",
    [
        "Use search_notes.",
        "{{!-- was find_notes --}} {{! find_notes }}",
        "<!-- find_notes -->",
        "```\nfind_notes = 1\n```",
        'Say "find_notes".',
        "See docs/find_notes and find_notes.md, or set find_notes=1.",
        "The text of get_help stands here.",  # an input, declared below
        "Set sort_order and page_size; write snake_case; a read-only, well-known place.",
        "Use `order_status` as it stands; what the tools call back_office_id.",  # no verb, and parameters are used, too
    ],
)
def test_other_words_are_left_alone(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    agent = f"{AGENT}inputs: {{get_help: {{default: none}}}}\nmemory: {{types: {{add_note: get_kind}}}}\n"
    agent += "accept: {section-order: it was find_notes}\n"
    core = CORE.replace("{{>", f"{text}\n{{{{{{get_help}}}}}}\n{{{{>")

    assert told(tmp_path, {"agent.yaml": agent, "agent.xml": core}, monkeypatch) == []


@pytest.mark.parametrize("text", ["Call order_status first.", "Use `order_lookup`.", "The `order_status` tool knows."])
def test_a_name_without_a_verb_is_known_by_what_is_said_of_it(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    core = CORE.replace("{{>", f"{text}\n{{{{>")

    assert [each.split()[1] in text for each in told(tmp_path, {"agent.xml": core}, monkeypatch)] == [True]


def test_what_another_file_laid_over_this_one_says_is_placed_in_that_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    more = "agent: house\nextends: old find_notes/agent.yaml\nwords: {search: {nothing: Try find_notes now.}}\n"
    files = {f"old find_notes/{name}": text for name, text in FILES.items()}
    base = f"{AGENT}words: {{search: {{empty_query: Say more to get_notes please.}}}}\n"

    assert told(tmp_path, {**files, "old find_notes/agent.yaml": base, "agent.yaml": more}, monkeypatch) == [
        "agent.yaml:3:31 find_notes",
        "agent.yaml:4:43 get_notes",
    ]
