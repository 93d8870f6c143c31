"""What an assistant would type into the tool search, and the tool it needs: always among the first three."""

from __future__ import annotations

import pytest

from cuecard.catalogue import Catalogue, SearchIndex

QUERIES = {
    "write a blog post": "cms_createPost",
    "draft an article": "cms_createPost",
    "list draft posts": "cms_listPosts",
    "read post text": "cms_getPost",
    "search posts by word": "cms_searchPosts",
    "change post title": "cms_updatePost",
    "set post cover image": "cms_updatePost",
    "publish post": "cms_publishPost",
    "make article public": "cms_publishPost",
    "unpublish post": "cms_archivePost",
    "delete blog post": "cms_deletePost",
    "create new page": "cms_createPage",
    "create page with sections": "cms_createPageWithContent",
    "get page details": "cms_getPage",
    "list all pages": "cms_listPages",
    "rename page": "cms_updatePage",
    "change page slug": "cms_updatePage",
    "copy page": "cms_duplicatePage",
    "remove page": "cms_deletePage",
    "find id by name": "cms_findResource",
    "site overview": "cms_getSiteOverview",
    "section types": "cms_listSectionDefinitions",
    "section field names": "cms_getSectionFields",
    "list sections of page": "cms_getPageSections",
    "read section content": "cms_getSectionContent",
    "add section to page": "cms_addPageSection",
    "update hero heading": "cms_updateSectionContent",
    "edit page text": "cms_updateSectionContent",
    "reorder sections": "cms_reorderPageSections",
    "duplicate section": "cms_duplicatePageSection",
    "move section up": "cms_movePageSection",
    "delete section": "cms_deletePageSection",
    "delete multiple sections": "cms_deletePageSections",
    "list images": "cms_listAllImages",
    "image details": "cms_getImage",
    "find image by description": "cms_findImage",
    "search images": "cms_searchImages",
    "change alt text": "cms_updateImageMetadata",
    "attach image to section": "cms_updateSectionImage",
    "replace hero image": "cms_updateSectionImage",
    "where is image used": "cms_getImageUsage",
    "delete image": "cms_deleteImage",
    "search stock photos": "pexels_searchPhotos",
    "stock photo details": "pexels_getPhoto",
    "download photo": "pexels_downloadPhoto",
    "save stock photo to library": "pexels_downloadPhoto",
    "show menu": "cms_getNavigation",
    "add menu item": "cms_addNavigationItem",
    "link page in footer": "cms_addNavigationItem",
    "rename menu item": "cms_updateNavigationItem",
    "hide menu item": "cms_toggleNavigationItem",
    "reorder menu": "cms_reorderNavigation",
    "remove menu item": "cms_removeNavigationItem",
    "image upload": "pexels_downloadPhoto",
    "insert picture": "cms_updateSectionImage",
    "create article with photo": "cms_createPost",
    "erase page": "cms_deletePage",
    "edit navigation": "cms_updateNavigationItem",
    "clone section": "cms_duplicatePageSection",
    "take post offline": "cms_archivePost",
    "toggle visibility": "cms_toggleNavigationItem",
    "free photos": "pexels_searchPhotos",
    "menu order": "cms_reorderNavigation",
    "website structure": "cms_getSiteOverview",
    "broken link in menu": "cms_updateNavigationItem",
    "embed image in section": "cms_updateSectionImage",
    "photographer of stock photo": "pexels_getPhoto",
    "restore archived post": "cms_publishPost",
}
"""Capability query to tool; each of the tools is asked for at least once."""

OFF_TOPIC = ("weather forecast tomorrow", "book a flight to Paris", "play music", "schedule a meeting", "summer sale")


@pytest.fixture(scope="module")
def index(cms: Catalogue) -> SearchIndex:
    return SearchIndex.build(card for card in cms.values() if card.category != "core")


@pytest.mark.parametrize(("query", "tool"), QUERIES.items())
def test_the_right_tool_is_among_the_first_three(index: SearchIndex, query: str, tool: str) -> None:
    assert tool in index.search(query).tools[:3]


def test_nine_times_in_ten_the_right_tool_is_the_first(index: SearchIndex) -> None:
    first = [index.search(query).tools[0] == tool for query, tool in QUERIES.items()]

    assert sum(first) >= 0.9 * len(first)


def test_every_tool_that_must_be_found_is_in_the_table(index: SearchIndex) -> None:
    assert set(QUERIES.values()) == index.names


def test_every_phrase_of_a_tool_finds_it(cms: Catalogue, index: SearchIndex) -> None:
    lost = [
        (phrase, name) for name in index.names for phrase in cms[name].phrases if name not in index.search(phrase).tools
    ]

    assert lost == []


@pytest.mark.parametrize("query", OFF_TOPIC)
def test_what_the_site_cannot_do_is_not_found(index: SearchIndex, query: str) -> None:
    assert index.search(query).tools == ()
