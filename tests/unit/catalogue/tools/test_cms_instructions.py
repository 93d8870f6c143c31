"""The shipped instructions of the CMS tools: complete, consistent, and short."""

from __future__ import annotations

from statistics import mean

import pytest

from cuecard import ToolCard
from cuecard.catalogue.catalogue import Catalogue
from cuecard.catalogue.graph import tool_graph
from cuecard.catalogue.unknown_names import KnownNames, unknown_names
from cuecard.config.tools_spec import CuesSpec
from cuecard.config.words_spec import ENGLISH
from cuecard.files.tokens import bundled_counter
from cuecard.sources.tools import make_protocol
from shipped import content_root

TOOLS = {
    "core": "tool_search final_answer acknowledge",
    "images": "cms_listAllImages cms_getImage cms_findImage cms_searchImages cms_updateImageMetadata "
    "cms_updateSectionImage cms_getImageUsage cms_deleteImage pexels_searchPhotos pexels_getPhoto pexels_downloadPhoto",
    "navigation": "cms_getNavigation cms_addNavigationItem cms_updateNavigationItem cms_toggleNavigationItem "
    "cms_reorderNavigation cms_removeNavigationItem",
    "pages": "cms_createPage cms_createPageWithContent cms_getPage cms_listPages cms_updatePage cms_duplicatePage "
    "cms_deletePage cms_findResource cms_getSiteOverview",
    "posts": "cms_createPost cms_listPosts cms_getPost cms_searchPosts cms_updatePost cms_publishPost cms_archivePost "
    "cms_deletePost",
    "sections": "cms_listSectionDefinitions cms_getSectionFields cms_getPageSections cms_getSectionContent "
    "cms_addPageSection cms_updateSectionContent cms_reorderPageSections cms_duplicatePageSection cms_movePageSection "
    "cms_deletePageSection cms_deletePageSections",
}
COUNT = bundled_counter("o200k_base")


def cms_protocol(card: ToolCard) -> str:
    made = make_protocol(card.name, card.instructions, ENGLISH.protocols, CuesSpec.usual())
    return made.text if made else ""


@pytest.mark.parametrize("category", TOOLS)
def test_each_category_has_its_tools(cms: Catalogue, category: str) -> None:
    assert [name for name, card in cms.items() if card.category == category] == TOOLS[category].split()


def test_there_are_48_tools_and_no_others(cms: Catalogue) -> None:
    assert len(cms) == 48
    assert {card.category for card in cms.values()} == set(TOOLS)


def test_every_tool_can_be_searched_and_listed(cms: Catalogue) -> None:
    assert [name for name, card in cms.items() if not card.description or "\n" in card.description] == []
    assert [name for name, card in cms.items() if not 4 <= len(set(card.phrases)) <= 8] == []


def test_the_instructions_name_no_tool_that_does_not_exist(cms: Catalogue) -> None:
    known = KnownNames.of(cms)
    assert [(name, unknown) for name, card in cms.items() for unknown in unknown_names(card, known)] == []


def test_every_tool_but_the_last_has_a_place_in_the_graph(cms: Catalogue) -> None:
    edges = tool_graph(cms.values()).edges
    connected = {edge.source for edge in edges} | {edge.target for edge in edges}

    assert set(cms) - connected == {"final_answer"}


def test_what_cannot_be_undone_is_looked_at_first_and_confirmed(cms: Catalogue) -> None:
    deleting = [name for name in cms if name.startswith("cms_delete")]
    looked_at = {edge.target for edge in tool_graph(cms.values()).edges if edge.field == "before"}

    assert set(deleting) <= looked_at
    assert [name for name in deleting if "confirmed:true" not in cms_protocol(cms[name])] == []


def test_a_protocol_costs_60_to_75_tokens_and_never_200(cms: Catalogue) -> None:
    costs = [COUNT(cms_protocol(card)) for card in cms.values()]

    assert 60 <= mean(costs) <= 75
    assert max(costs) < 200


@pytest.mark.parametrize("category", TOOLS)
def test_editors_are_given_the_schema(category: str) -> None:
    text = (content_root() / "tool_instructions" / "cms" / f"{category}.yaml").read_text(encoding="utf-8")

    assert text.startswith("# yaml-language-server: $schema=../../schemas/tool-instructions.schema.json\n")
