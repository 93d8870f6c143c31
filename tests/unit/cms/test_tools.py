from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from cms.arguments import camel_case
from cms.tools import TOOLS

if TYPE_CHECKING:
    from unit.cms.conftest import Site

ARGUMENTS: dict[str, dict[str, object]] = {
    "cms_getPost": {"slug": "prices-for-2025"},
    "cms_searchPosts": {"query": "prices"},
    "cms_getPage": {"slug": "home", "includeContent": True},
    "cms_findResource": {"query": "home"},
    "cms_getSectionFields": {"id": "hero"},
    "cms_getPageSections": {"pageId": "page-1"},
    "cms_getSectionContent": {"pageSectionId": "sec-1"},
    "cms_getImage": {"imageId": "img-1"},
    "cms_findImage": {"description": "forest"},
    "cms_searchImages": {"query": "forest"},
    "cms_getImageUsage": {"imageId": "img-1"},
    "pexels_searchPhotos": {"query": "forest"},
    "pexels_getPhoto": {"photoId": 2106},
}
READING = [name for name, tool in TOOLS.items() if tool.reads_only]


def test_there_are_forty_five_tools() -> None:
    assert len(TOOLS) == 45


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_named_after_its_function_and_says_what_it_can_do(name: str) -> None:
    tool = TOOLS[name]

    assert name.split("_")[1] == camel_case(tool.function.__name__)
    assert 1 <= len(re.findall(r"[.;] |\.$", tool.description)) <= 3
    assert len(tool.description) < 160


@pytest.mark.parametrize("name", TOOLS)
def test_every_id_slug_and_text_is_described(name: str) -> None:
    schema = TOOLS[name].input_schema

    assert all("description" in value or "enum" in value for value in schema["properties"].values())
    assert set(schema["required"]) <= set(schema["properties"])


def test_the_tools_that_ask_first_are_those_that_cannot_be_undone() -> None:
    assert {name for name, tool in TOOLS.items() if tool.asks_first} == {
        "cms_publishPost",
        "cms_archivePost",
        "cms_deletePost",
        "cms_deletePage",
        "cms_deletePageSection",
        "cms_deletePageSections",
        "cms_deleteImage",
    }


@pytest.mark.parametrize("name", READING)
def test_a_reading_tool_writes_nothing(site: Site, name: str) -> None:
    written = site.db.connection.total_changes
    answer = site.use(name, **ARGUMENTS.get(name, {}))

    assert answer
    assert site.db.connection.total_changes == written


@pytest.mark.parametrize("name", TOOLS)
def test_an_unknown_argument_is_a_validation_error_for_every_tool(site: Site, name: str) -> None:
    assert site.refuse(name, nonsense=1).kind == "validation"


def test_an_unknown_tool_is_not_found(site: Site) -> None:
    error = site.refuse("cms_deletePages")

    assert (error.kind, error.options[0]) == ("not_found", "cms_deletePage")
