from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cms.snapshot import changes

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def test_a_snapshot_is_plain_data_by_table_and_id(site: Site) -> None:
    content = site.content()

    assert json.loads(json.dumps(content)) == content
    assert list(content) == ["pages", "sections", "posts", "images", "navigation"]
    assert content["pages"]["page-2"]["slug"] == "services"
    assert content["sections"]["sec-4"]["content"]["backgroundImage"]["id"] == "img-10"
    assert content["navigation"]["nav-3"]["position"] == 2


def test_equal_states_have_no_changes(site: Site) -> None:
    assert changes(site.content(), site.content()) == []


def test_changes_name_what_came_what_went_and_what_changed_in_it(site: Site) -> None:
    before = site.content()
    site.use("cms_createPage", title="About Us", slug="about")
    site.use("cms_updateSectionContent", pageSectionId="sec-1", content={"heading": "Hello"})
    site.use("cms_updateSectionImage", imageId="img-3", pageSectionId="sec-7", imageField="backgroundImage")
    site.use("cms_toggleNavigationItem", label="Blog")
    site.use_and_confirm("cms_deletePost", slug="prices-for-2025")
    found = changes(before, site.content())

    assert [(change.kind, change.table, change.id) for change in found] == [
        ("created", "pages", "page-4"),
        ("changed", "sections", "sec-1"),
        ("changed", "sections", "sec-7"),
        ("removed", "posts", "post-4"),
        ("changed", "navigation", "nav-3"),
    ]
    assert found[1].fields == {"content.heading": ("Design with a sea view", "Hello")}
    assert found[2].fields == {
        "content.backgroundImage.id": (None, "img-3"),
        "content.backgroundImage.url": (None, "/uploads/studio-team.png"),
        "content.backgroundImage.alt": (None, "Our team of five at the studio"),
    }


def test_a_change_is_readable(site: Site) -> None:
    before = site.content()
    site.use("cms_updatePage", pageId="page-2", title="What we do", description="x" * 100)
    (change,) = changes(before, site.content())

    assert str(change) == (
        'changed pages page-2 "What we do"\n'
        '    title: "Services" -> "What we do"\n'
        f'    description: "Branding, websites and photography." -> "{"x" * 56}...'
    )
