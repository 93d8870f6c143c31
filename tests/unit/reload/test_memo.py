from __future__ import annotations

import pytest

from cuecard import SpecError
from cuecard.agent import build_agent
from cuecard.agent.world import Memo
from cuecard.config.documents.document import Document
from cuecard.config.documents.yaml import read_yaml
from cuecard.files.folder import read_agent
from unit.reload.demo import Folder, instructions


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the instruction files that were parsed, in order."""
    names: list[str] = []

    def counted(text: str, name: str) -> Document:
        names.append(name.rpartition("/")[2])
        return read_yaml(text, name)

    monkeypatch.setattr("cuecard.agent.instructions.read_lately", counted)
    return names


def test_only_what_changed_is_read_again(folder: Folder, parsed: list[str]) -> None:
    for number in range(5):
        folder.write(f"tools/t{number}.yaml", instructions(f"tool_{number}"))
    memo = Memo()
    before = build_agent(read_agent(folder.root), memo)
    parsed.clear()
    folder.write("tools/t3.yaml", instructions("tool_3", "changed"))
    after = build_agent(read_agent(folder.root), memo)

    assert parsed == ["t3.yaml"]
    assert "changed" in after.protocols["tool_3"].text
    assert [section.render for section in after.sections] == [section.render for section in before.sections]


def test_an_agent_is_the_same_with_and_without_memory(folder: Folder) -> None:
    memo = Memo()
    build_agent(read_agent(folder.root), memo)
    folder.write("tools/pages.yaml", instructions("get_page"))
    folder.write("partials/tone.hbs", "Be brief.")
    sources = read_agent(folder.root)
    warm, cold = build_agent(sources, memo), build_agent(sources)

    assert (warm.sha256, warm.catalogue, warm.protocols) == (cold.sha256, cold.catalogue, cold.protocols)
    assert [s.render({"activeProtocols": ""}) for s in warm.sections] == [
        s.render({"activeProtocols": ""}) for s in cold.sections
    ]


def test_a_broken_build_costs_no_memories(folder: Folder, parsed: list[str]) -> None:
    memo = Memo()
    build_agent(read_agent(folder.root), memo)
    memo.forget_unused()
    good = (folder.root / "agent.yaml").read_text(encoding="utf-8")
    folder.write("agent.yaml", good.replace("tools\n", "nowhere\n"))
    with pytest.raises(SpecError):
        build_agent(read_agent(folder.root), memo)
    folder.write("agent.yaml", good)
    parsed.clear()
    build_agent(read_agent(folder.root), memo)

    assert parsed == []


def test_what_is_not_used_any_more_is_forgotten() -> None:
    memo, made = Memo(), []

    def work(text: str) -> int:
        made.append(text)
        return len(text)

    memo(work, "old")
    memo.forget_unused()

    assert memo(work, "new") == 3

    memo.forget_unused()
    memo(work, "new")
    memo(work, "old")

    assert made == ["old", "new", "old"]


def test_a_failure_is_tried_again() -> None:
    memo, tries = Memo(), []

    def fail(text: str) -> None:
        tries.append(text)
        raise LookupError(text)

    for _ in range(2):
        with pytest.raises(LookupError):
            memo(fail, "text")

    assert tries == ["text", "text"]
