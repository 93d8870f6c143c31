"""The agents that cuecard brings are found anywhere, by their path or name, unless something else is there."""

from __future__ import annotations

from pathlib import Path

import pytest

from cuecard import Engine, SpecError, watch

TOLD = "is not in this folder: using the agent that cuecard brings"


@pytest.mark.parametrize("path", ["cms", "prompts/cms", "prompts/cms/agent.yaml"])
def test_in_another_folder(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(UserWarning, match=TOLD) as told:
        engine = Engine.open(path)
    assert (engine.name, told[0].filename) == ("cms", __file__)

    with pytest.warns(UserWarning, match=TOLD), watch(path, states=tmp_path / "states") as watcher:
        assert watcher.current.name == "cms"


def test_your_own_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "cms").mkdir()
    (tmp_path / "cms" / "agent.yaml").write_text("agent: mine\nsections: [{id: a, text: Hi}]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    assert Engine.open("cms").name == "mine"
    with pytest.raises(SpecError, match="no such file"):
        Engine.open("cmz")
