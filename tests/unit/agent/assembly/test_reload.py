"""A changed template is followed: the template, the files over it, and the texts that these name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from cuecard import watch
from unit.agent.assembly.cores import CORE, HEAD
from unit.reload.demo import QUICK, Folder, Reports

CHILD = "extends: ../house\nsections: [{id: tone, text: Of the child.}, {id: new, after: tone, file: new.md}]\n"


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    made = Folder(tmp_path / "agent")
    made.write("agent.yaml", CHILD)
    made.write("new.md", "New.")
    made.write("own.xml", "<agent>\n<own>\nOf its own.\n</own>\n</agent>\n")
    made.write("../house/agent.yaml", HEAD)
    made.write("../house/core.xml", CORE)
    return made


@pytest.fixture
def reports(folder: Folder, tmp_path: Path) -> Iterator[Reports]:
    with ExitStack() as stack:
        yield Reports(stack.enter_context(watch(folder.root, states=tmp_path / "state", pace=QUICK)))


@pytest.mark.parametrize(
    ("file", "text", "shows"),
    [
        ("../house/core.xml", CORE.replace("Promise nothing.", "Promise everything."), "Promise everything."),
        ("../house/agent.yaml", HEAD + "sections: [{id: rules, text: Of the house.}]\n", "Of the house."),
        ("agent.yaml", CHILD.replace("Of the child.", "Of the grown child."), "<tone>\nOf the grown child."),
        ("agent.yaml", "extends: ../house\ntemplate: own.xml\n", "Of its own."),
        ("new.md", "Newer.", "<new>\nNewer.\n</new>"),
    ],
)
def test_every_file_is_followed(folder: Folder, reports: Reports, file: str, text: str, shows: str) -> None:
    folder.write(file, text)

    assert file in reports.until_prompt(shows).changed


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("../house/core.xml", CORE.replace("</tone>", "</tune>"), "error[xml]"),
        ("../house/core.xml", CORE.replace("tone>", "tune>"), "the base of this file has no section `tone`"),
        ("new.md", "<b>", "error[xml]"),
        ("agent.yaml", "extends: ../house\nsections: [{id: hello, text: Hi.}]\n", "error[two-assemblies]"),
    ],
)
def test_a_broken_edit_keeps_the_last_good_prompt(
    folder: Folder, reports: Reports, file: str, text: str, told: str
) -> None:
    good = reports.watcher.current
    folder.write(file, text)
    status = reports.until(lambda s: s.refused)

    assert status.refused
    assert told in status.refused.picture
    assert reports.watcher.current is good
