"""What is known not to hold yet; each test says what would."""

from __future__ import annotations

from pathlib import Path

import pytest

from unit.assembly.cores import CORE, HEAD, TOOLS, core, step


@pytest.mark.xfail(reason="the record of a tool's instructions knows nothing of the section's budget", strict=True)
def test_the_manifest_tells_of_instructions_that_a_section_budget_has_cut(tmp_path: Path) -> None:
    template = CORE.replace("</agent>", "<tools>\n{{{activeProtocols}}}\n</tools>\n</agent>")
    head = HEAD + "tools: {instructions: tools.yaml, core: [tool_search]}\n"
    manifest = step(core(tmp_path, "sections: [{id: tools, budget: 20}]\n", template, head, tools_yaml=TOOLS)).manifest
    section = next(section for section in manifest.sections if section.id == "tools")

    assert sum(protocol.tokens for protocol in manifest.protocols) <= section.tokens
