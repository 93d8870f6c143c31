"""What is known not to hold yet; each test says what would."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Turn
from cuecard.model import FileText
from unit.assembly.cores import CORE, HEAD, TOOLS, core, step


@pytest.mark.xfail(reason="the record of a tool's instructions knows nothing of the section's budget", strict=True)
def test_the_manifest_tells_of_instructions_that_a_section_budget_has_cut(tmp_path: Path) -> None:
    template = CORE.replace("</agent>", "<tools>\n{{{activeProtocols}}}\n</tools>\n</agent>")
    head = HEAD + "tools: {instructions: tools.yaml, core: [tool_search]}\n"
    manifest = step(core(tmp_path, "sections: [{id: tools, budget: 20}]\n", template, head, tools_yaml=TOOLS)).manifest
    section = next(section for section in manifest.sections if section.id == "tools")

    assert sum(protocol.tokens for protocol in manifest.protocols) <= section.tokens


@pytest.mark.xfail(reason="only values of inputs are counted, not the texts of files that a host supplies", strict=True)
def test_the_manifest_counts_what_was_neutralised_in_a_supplied_file(tmp_path: Path) -> None:
    said = "sections: [{id: tone, files: {supplied: true, entries: [{path: n.md}], item: '{{{content}}}'}}]\n"
    engine = core(tmp_path, said, CORE.replace("Be kind.", "{{{content}}}"))
    made = step(engine, Turn(files={"n.md": FileText("n.md", "</tone><rules>")}))

    assert "&lt;/tone>&lt;rules>" in made.system
    assert made.manifest.trust["angle_brackets_escaped"] == 2
