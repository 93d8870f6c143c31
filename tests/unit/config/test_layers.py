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


def test_items_are_called_by_their_ids_where_files_lie_over_each_other() -> None:
    base = read_yaml("sections: [{id: a, text: x}, {id: 7}, {id: ''}, b]\nids: {id: c}", "base.yaml")
    both = lay_over([(base, ""), (read_yaml("agent: mine", "agent.yaml"), "")]).document
    paths = [("sections", 0, "text"), *(("sections", at) for at in (1, 2, 3)), ("ids", "id"), ()]

    assert [both.dotted(path) for path in paths] == [
        "sections.a.text",
        "sections.1",
        "sections.2",
        "sections.3",
        "ids.id",
        "",
    ]
    assert base.dotted(("sections", 0)) == "sections.0"
