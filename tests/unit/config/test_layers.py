"""Agent files laid over each other: whose paths are whose."""

from __future__ import annotations

from cuecard.config.documents.yaml import read_yaml
from cuecard.config.layers import lay_over
from cuecard.types import Json

SOUL = "sections: [{id: soul, files: {SUPPLIED entries: [{path: SOUL.md}, {path: [USER.md, old/USER.md]}]}}]"


def entries(*layers: tuple[str, str]) -> Json:
    """The entries of the merged list; each layer with the folder of its file."""
    documents = [(read_yaml(text, f"{folder}/agent.yaml"), folder) for text, folder in layers]
    return lay_over(documents).document.value["sections"][0]["files"]["entries"]


def soul(supplied: str) -> str:
    return SOUL.replace("SUPPLIED", supplied)


def test_paths_of_files_stay_relative_to_the_file_that_wrote_them() -> None:
    assert entries((soul(""), "../base"), ("agent: mine", "")) == [
        {"path": "../base/SOUL.md"},
        {"path": ["../base/USER.md", "../base/old/USER.md"]},
    ]


def test_paths_of_files_that_the_host_supplies_are_the_hosts() -> None:
    written = [{"path": "SOUL.md"}, {"path": ["USER.md", "old/USER.md"]}]

    assert entries((soul("supplied: true,"), "../base"), ("agent: mine", "")) == written
    assert entries(("agent: base", "../base"), (soul("supplied: true,"), "../team"), ("agent: mine", "")) == written


def test_a_list_that_an_overlay_replaces_is_still_the_hosts() -> None:
    base, team = soul("supplied: true,"), "sections: [{id: soul, files: {entries: [{path: CARE.md}]}}]"

    assert entries((base, "../base"), (team, "../team"), ("agent: mine", "")) == [{"path": "CARE.md"}]
