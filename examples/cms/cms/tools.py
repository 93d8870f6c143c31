"""The table of tools: what an assistant can do with the site. One call is one transaction, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from cms import arguments, images, navigation, overview, pages, pexels, posts, sections
from cms.database import Database, Json
from cms.errors import NotFoundError
from cms.matching import listed, nearest

_READING: Final = {"get", "list", "find", "search"}


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its name, and the function that does the work."""

    name: str
    function: Callable[..., Json]

    @property
    def description(self) -> str:
        """What it can do: the docstring of the function, on one line."""
        return " ".join((self.function.__doc__ or "").split())

    @property
    def input_schema(self) -> Json:
        """The JSON Schema of its arguments."""
        return arguments.input_schema(self.function)

    @property
    def reads_only(self) -> bool:
        """Whether it leaves the site as it is: so does what gets, lists, finds or searches."""
        return self.function.__name__.split("_")[0] in _READING

    @property
    def asks_first(self) -> bool:
        """Whether the user must confirm it."""
        return "confirmed" in self.input_schema["properties"]


_FUNCTIONS: Final[Mapping[str, Callable[..., Json]]] = {
    "cms_createPost": posts.create_post,
    "cms_listPosts": posts.list_posts,
    "cms_getPost": posts.get_post,
    "cms_searchPosts": posts.search_posts,
    "cms_updatePost": posts.update_post,
    "cms_publishPost": posts.publish_post,
    "cms_archivePost": posts.archive_post,
    "cms_deletePost": posts.delete_post,
    "cms_createPage": pages.create_page,
    "cms_createPageWithContent": pages.create_page_with_content,
    "cms_getPage": pages.get_page,
    "cms_listPages": pages.list_pages,
    "cms_updatePage": pages.update_page,
    "cms_duplicatePage": pages.duplicate_page,
    "cms_deletePage": pages.delete_page,
    "cms_findResource": overview.find_resource,
    "cms_getSiteOverview": overview.get_site_overview,
    "cms_listSectionDefinitions": sections.list_section_definitions,
    "cms_getSectionFields": sections.get_section_fields,
    "cms_getPageSections": sections.get_page_sections,
    "cms_getSectionContent": sections.get_section_content,
    "cms_addPageSection": sections.add_page_section,
    "cms_updateSectionContent": sections.update_section_content,
    "cms_reorderPageSections": sections.reorder_page_sections,
    "cms_duplicatePageSection": sections.duplicate_page_section,
    "cms_movePageSection": sections.move_page_section,
    "cms_deletePageSection": sections.delete_page_section,
    "cms_deletePageSections": sections.delete_page_sections,
    "cms_listAllImages": images.list_all_images,
    "cms_getImage": images.get_image,
    "cms_findImage": images.find_image,
    "cms_searchImages": images.search_images,
    "cms_updateImageMetadata": images.update_image_metadata,
    "cms_updateSectionImage": sections.update_section_image,
    "cms_getImageUsage": images.get_image_usage,
    "cms_deleteImage": images.delete_image,
    "pexels_searchPhotos": pexels.search_photos,
    "pexels_getPhoto": pexels.get_photo,
    "pexels_downloadPhoto": pexels.download_photo,
    "cms_getNavigation": navigation.get_navigation,
    "cms_addNavigationItem": navigation.add_navigation_item,
    "cms_updateNavigationItem": navigation.update_navigation_item,
    "cms_toggleNavigationItem": navigation.toggle_navigation_item,
    "cms_reorderNavigation": navigation.reorder_navigation,
    "cms_removeNavigationItem": navigation.remove_navigation_item,
}

TOOLS: Final[Mapping[str, Tool]] = MappingProxyType({name: Tool(name, work) for name, work in _FUNCTIONS.items()})


def call(db: Database, name: str, given: Mapping[str, Any] | None = None) -> Json:
    """Call a tool by name, with the arguments as callers write them (camelCase).

    Raises:
        CmsError: the call is refused, and nothing has changed.
    """
    if name not in TOOLS:
        options = nearest(name, TOOLS)
        raise NotFoundError(f"There is no tool `{name}`.", f"Nearest: {listed(options)}.", options)
    tool = TOOLS[name]
    values = arguments.check(tool.function, given or {})
    with db.transaction(writes=not tool.reads_only):
        return tool.function(db, **values)
