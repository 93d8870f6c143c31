"""Entities out of tool results, by the rules of the shipped CMS agent."""

from pathlib import Path

import pytest

from cuecard import Entity, Memory, ToolResult
from cuecard.config.agent_file import AgentFile
from cuecard.config.documents.validation import validate
from cuecard.config.documents.yaml import read_yaml
from cuecard.config.results_spec import MemorySpec
from cuecard.config.words_spec import ENGLISH
from cuecard.sources.memory import remember
from cuecard.types import Json

WORDS = ENGLISH.memory

CMS = Path(__file__).parents[4] / "prompts" / "cms" / "agent.yaml"


@pytest.fixture(scope="module")
def rules() -> MemorySpec:
    return validate(read_yaml(CMS.read_text(encoding="utf-8"), "agent.yaml"), AgentFile).memory


@pytest.mark.parametrize(
    ("tool", "result", "expected"),
    [
        ("cms_getPage", {"id": "page-1", "title": "Home"}, [("page", "page-1", "Home")]),
        ("cms_getPage", '{"id": "page-1", "title": "Home"}', [("page", "page-1", "Home")]),
        ("cms_createPage", {"success": True, "page": {"id": "page-2", "slug": "about"}}, [("page", "page-2", "about")]),
        ("cms_createPage", {"success": False, "page": {"id": "page-2", "slug": "about"}}, []),
        ("cms_addPageSection", {"success": True, "section": {"id": "s", "key": "hero"}}, [("section", "s", "hero")]),
        (
            "cms_listPosts",
            {"posts": [{"id": n, "title": f"T{n}"} for n in range(9)]},
            [("post", str(n), f"T{n}") for n in range(5)],
        ),
        (
            "cms_findResource",
            {"matches": [{"id": "i", "type": "image", "filename": "a.png"}]},
            [("image", "i", "a.png")],
        ),
        ("cms_listPages", {"data": [{"id": "p"}]}, [("page", "p", "Unnamed page")]),
        ("web_search", {"data": [{"id": "w", "title": "News"}]}, [("resource", "w", "News")]),
        ("cms_getPage", {"id": "p", "title": "\x1b[2JHo\0me\ud800"}, [("page", "p", "[2JHome")]),
        ("cms_getPage", {"id": "p\0", "title": "Home"}, []),
        (
            "cms_listPages",
            {"data": [{"id": "p", "type": "pa\x1bge", "title": "\x1b"}]},
            [("page", "p", "Unnamed page")],
        ),
        ("cms_getPage", {"id": "no-name"}, []),
        ("cms_getPage", {"id": True, "title": "x"}, []),
        ("cms_getPage", "not json", []),
        ("cms_getPage", ["a"], []),
        ("cms_getPage", None, []),
    ],
)
def test_what_a_result_teaches(
    rules: MemorySpec, tool: str, result: Json, expected: list[tuple[str, str, str]]
) -> None:
    memory = remember(Memory(), [ToolResult(tool, result)], rules, WORDS)

    assert memory.entities == tuple(Entity(*e) for e in expected)


def test_an_error_teaches_nothing(rules: MemorySpec) -> None:
    result = ToolResult("cms_getPage", {"id": "page-1", "title": "Home"}, is_error=True)

    assert remember(Memory(), [result], rules, WORDS) == Memory()


def test_the_same_entity_moves_to_the_front_once(rules: MemorySpec) -> None:
    before = Memory((Entity("page", "page-2", "B"), Entity("page", "page-1", "A")))
    after = remember(before, [ToolResult("cms_getPage", {"id": "page-1", "title": "A, renamed"})], rules, WORDS)

    assert after == Memory((Entity("page", "page-1", "A, renamed"), Entity("page", "page-2", "B")))


def test_at_most_ten_are_kept(rules: MemorySpec) -> None:
    results = [ToolResult("cms_getPage", {"id": f"page-{n}", "title": f"T{n}"}) for n in range(14)]

    assert [e.id for e in remember(Memory(), results, rules, WORDS).entities] == [f"page-{n}" for n in range(13, 3, -1)]
