"""docs/helpers.md lists every variable that the engine supplies, with its tier, as the code has it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cuecard
from cuecard import CuecardError, Engine
from cuecard.agent import BUILT_IN, results
from cuecard.agent.sections.section_source import _LOCAL, local_names
from cuecard.config.sections.section_spec import SOURCES, SectionSpec
from cuecard.sources import facts, files, rows
from cuecard.sources import skills as texts
from cuecard.sources import tools as tool_list
from docs.tables import rows as rows_of

PAGE = (Path(__file__).parents[2] / "docs" / "helpers.md").read_text(encoding="utf-8")
LOCAL = {row[0]: set(re.findall("`([^`]+)`", row[1])) for row in rows_of(PAGE, "| text | variables |")}
SKILLS = {name: values for cell, values in LOCAL.items() for name in re.findall(r"`skills\.(\w+)`", cell)}


def test_the_table_has_every_built_in_variable_with_its_tier() -> None:
    table = {row[0].strip("`"): row[1].strip("`") for row in rows_of(PAGE, "| variable | tier |")}

    assert table == dict(BUILT_IN)


def test_the_table_has_what_each_source_supplies() -> None:
    assert LOCAL["`files.item`"] == {*files.OWN}
    assert LOCAL["`tools.item`"] == {*tool_list.OWN}
    assert LOCAL["`facts.line`"] == {*facts.OWN}
    assert LOCAL["`rows.item`"] == {*rows.OWN}
    assert LOCAL["`results`"] == {*results.READS}
    assert {name: {*values} for name, values in texts._VALUES.items()} == SKILLS
    assert LOCAL["`text` or `file` beside `clock`"] == {"content", *_LOCAL["clock"]}


def test_no_other_module_supplies_names_of_its_own() -> None:
    package = Path(cuecard.__file__).parent
    found = {p.stem for p in package.rglob("*.py") if re.search(r"^(OWN|READS) = ", p.read_text("utf-8"), re.MULTILINE)}

    assert found == {"facts", "files", "results", "rows", "tools"}, "add what is new to the table"


@pytest.mark.parametrize("source", SOURCES)
def test_no_source_supplies_more_to_its_sections_text(source: str) -> None:
    given = {
        "files": {"entries": [{"path": "a.md"}]},
        "facts": {"labels": {"a": "A"}},
        "rows": {"input": "a"},
        "skills": {"roots": "s"},
    }
    spec = SectionSpec.model_validate({"id": "a", source: given.get(source, {})})
    told = "`text` or `file` beside `clock`" if source == "clock" else "`text` or `file` beside a source"

    assert {*local_names(spec)} == LOCAL[told]


@pytest.mark.parametrize("name", BUILT_IN)
def test_an_input_cannot_have_the_name_of_one(tmp_path: Path, name: str) -> None:
    agent = f"agent: a\ninputs: {{{name}: {{default: x}}}}\nsections: [{{id: a, text: 'x {{{{{name}}}}}'}}]\n"
    (tmp_path / "agent.yaml").write_text(agent, encoding="utf-8")
    with pytest.raises(CuecardError) as caught:
        Engine.open(tmp_path)

    assert "reserved-input" in [problem.code for problem in caught.value.problems]
