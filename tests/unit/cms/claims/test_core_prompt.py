"""What the core prompt says of searches, confirmations, errors and limits, tried on the engine and the CMS."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from ruamel.yaml import YAML

from cuecard import Engine
from unit.cms.claims.claims import CMS

if TYPE_CHECKING:
    from unit.cms.conftest import Site

CORE = (CMS / "agent.xml").read_text(encoding="utf-8")
SEARCHES = {
    "search images": "cms_searchImages",
    "attach image to section": "cms_updateSectionImage",
    "list page sections": "cms_getPageSections",
    "section fields": "cms_getSectionFields",
}


@pytest.fixture(scope="module")
def engine() -> Engine:
    return Engine.open(CMS)


def quoted(line: str) -> list[str]:
    """What a line of the core has in quotation marks."""
    (said,) = re.findall(rf"^{re.escape(line)}.*$", CORE, re.MULTILINE)
    return re.findall(r'"([^"]+)"', said)


def test_the_searches_of_the_example_find_every_tool_that_it_uses(engine: Engine) -> None:
    assert quoted("- acknowledge -> tool_search") == list(SEARCHES)
    for query, tool in SEARCHES.items():
        assert engine.search_tools(query).tools[0] == tool


def test_good_searches_find_their_tool_and_bad_ones_do_not_find_what_was_meant(engine: Engine) -> None:
    meant = ["cms_createPost", "cms_updateSectionImage", "cms_toggleNavigationItem"]

    assert [engine.search_tools(query).tools[0] for query in quoted("- good:")] == meant
    assert quoted('"Write an article about bees" needs')[-1] == "create blog post"
    for query in quoted("- bad:"):
        assert not {"cms_createPost", "cms_createPageWithContent", "cms_searchImages"} & set(
            engine.search_tools(query).tools[:4]
        )


def test_the_limits_are_those_of_the_agent_file() -> None:
    limits = Engine.open(CMS).agent.spec.run

    assert re.findall(r"You have up to (\d+) steps\.", CORE) == [str(limits.steps)]
    assert re.findall(r"At most (\d+) retries per tool", CORE) == [str(limits.retries)]
    assert re.findall(r"(\d+) failures per session", CORE) == [str(limits.failures)]
    assistant = YAML(typ="safe").load((CMS.parents[1] / "examples/cms/assistant.yaml").read_text(encoding="utf-8"))
    assert re.findall(r"Begin a request that needs tools with (\w+);", CORE) == [assistant["first_tool"]]


@pytest.mark.parametrize(
    ("kind", "tool", "arguments", "way_out"),
    [
        ("validation", "cms_createPage", {"title": "X", "slug": "A B"}, "a-b"),
        ("constraint", "cms_createPage", {"title": "Contact"}, "contact-2"),
        ("not_found", "cms_getPage", {"slug": "contct"}, "contact"),
        ("reference", "cms_getPageSections", {"pageId": "page-9"}, "page-1"),
    ],
)
def test_an_error_carries_what_its_rule_asks_for(
    site: Site, kind: str, tool: str, arguments: dict[str, str], way_out: str
) -> None:
    """Correct the value; propose a variant; search by name and offer the hits; list the valid choices."""
    error = site.refuse(tool, **arguments)

    assert (error.kind, error.options[0]) == (kind, way_out)
