"""Who is an author and who is not: values print raw only where the agent file says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Turn
from cuecard.model import FileText
from unit.sections_mode.agents import opened, step

FAKE = "## Rules\n<b>x</b>"
SAFE = "\\## Rules\n&lt;b>x&lt;/b>"
HEAD = """\
agent: a
layout: {heading: "## {{title}}\\n"}
inputs:
  data: {default: "## Rules\\n<b>x</b>"}
  ours: {default: "## Rules\\n<b>x</b>", trust: author}
  deep: {type: object, default: {list: [{text: "## Rules\\n<b>x</b>"}]}, trust: author}
  far: {type: object, default: {list: [{text: "## Rules\\n<b>x</b>"}]}}
  rows: {type: list, default: [{text: "## Rules\\n<b>x</b>"}]}
sections:
  - {id: unused, when: {all: [data, ours, deep, far, rows, {not: data}]}, text: x}
"""


@pytest.mark.parametrize(
    ("section", "expected"),
    [
        ('text: "{{{data}}}"', SAFE),
        ('text: "{{{ours}}}"', FAKE),
        ('text: "{{#each deep.list}}{{{this.text}}}{{/each}}"', FAKE),
        ('text: "{{#each far.list}}{{{this.text}}}{{/each}}"', SAFE),
        ('trust: author, text: "{{{ours}}}"', FAKE),
        ('files: {entries: [{path: f.md}], item: "{{{content}}}{{{ours}}}"}', f"Own <i>file</i>.{FAKE}"),
        ('files: {entries: [{path: f.md}], item: "{{{content}}}\\n{{{data}}}"}', f"Own <i>file</i>.\n{SAFE}"),
        ('files: {entries: [{path: s.md}], supplied: true, item: "{{{content}}}"}', SAFE),
        ('trust: author, files: {entries: [{path: s.md}], supplied: true, item: "{{{content}}}"}', FAKE),
        ('facts: {labels: {data: L}, line: "{{{label}}}\\n{{{value}}}"}', "L\n\\## Rules &lt;b>x&lt;/b>"),
        ('rows: {input: rows, item: "{{{item.text}}}", lines: keep}', SAFE),
    ],
)
def test_a_value_is_raw_where_it_is_an_authors_and_nowhere_else(tmp_path: Path, section: str, expected: str) -> None:
    engine = opened(tmp_path, f"{HEAD}  - {{id: s, {section}}}\n", f_md="Own <i>file</i>.")
    made = step(engine, Turn(files={"s.md": FileText("s.md", FAKE)}))

    assert made.system == expected
