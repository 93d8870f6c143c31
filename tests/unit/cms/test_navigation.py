from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def labels(site: Site) -> list[str]:
    return [item["label"] for item in site.use("cms_getNavigation")["data"]]


def test_the_navigation_is_listed_in_order(site: Site) -> None:
    rows = site.use("cms_getNavigation")["data"]

    assert rows[1] == {
        "id": "nav-2",
        "label": "Services",
        "href": "/pages/services?locale=en",
        "location": "both",
        "visible": True,
    }
    assert labels(site) == ["Home", "Services", "Blog", "Contact"]


def test_an_item_is_added_after_the_others(site: Site) -> None:
    item = site.use("cms_addNavigationItem", label="Again", href="/pages/home?locale=en", location="footer")["item"]

    assert (item["label"], item["location"], item["visible"]) == ("Again", "footer", True)
    assert labels(site)[-1] == "Again"


@pytest.mark.parametrize(
    ("href", "option"),
    [
        ("/services", "/pages/services?locale=en"),
        ("/pages/services", "/pages/services?locale=en"),
        ("/pages/services?locale=de", "/pages/services?locale=en"),
        ("pages/services/", "/pages/services?locale=en"),
        ("https://example.org/services", "/pages/services?locale=en"),
        ("/", "/pages/home?locale=en"),
    ],
)
def test_an_address_has_one_form(site: Site, href: str, option: str) -> None:
    error = site.refuse("cms_addNavigationItem", label="New", href=href, location="header")

    assert (error.kind, error.options) == ("validation", (option,))


def test_an_address_leads_to_a_page_or_post_that_exists(site: Site) -> None:
    page = site.refuse("cms_addNavigationItem", label="New", href="/pages/servics?locale=en", location="header")
    post = site.refuse("cms_updateNavigationItem", label="Blog", newHref="/posts/prices-for-2024")

    assert (page.kind, page.options) == ("reference", ("/pages/services?locale=en",))
    assert (post.kind, post.options) == ("reference", ("/posts/prices-for-2025",))
    site.use("cms_updateNavigationItem", label="Blog", newHref="/posts/prices-for-2025?locale=en")


def test_a_label_is_taken_only_once(site: Site) -> None:
    again = site.refuse("cms_addNavigationItem", label="Home", href="/posts/blog", location="header")
    renamed = site.refuse("cms_updateNavigationItem", label="Blog", newLabel="Home")

    assert again.kind == renamed.kind == "constraint"


def test_a_location_is_one_of_three(site: Site) -> None:
    error = site.refuse("cms_addNavigationItem", label="New", href="/posts/blog", location="sidebar")

    assert error.kind == "validation"
    assert "`header`, `footer`, `both`" in error.message


def test_an_update_changes_what_it_names(site: Site) -> None:
    item = site.use("cms_updateNavigationItem", label="Services", newLabel="Work", newLocation="footer")["item"]

    assert (item["label"], item["href"], item["location"]) == ("Work", "/pages/services?locale=en", "footer")
    assert site.use("cms_updateNavigationItem", label="Work", newLabel="Work")["item"] == item
    assert site.refuse("cms_updateNavigationItem", label="Work").kind == "validation"


def test_an_item_is_hidden_and_shown_again(site: Site) -> None:
    hidden = site.use("cms_toggleNavigationItem", label="Blog")["item"]["visible"]
    shown = site.use("cms_toggleNavigationItem", label="Blog")["item"]["visible"]

    assert (hidden, shown) == (False, True)


def test_items_are_put_into_another_order(site: Site) -> None:
    site.use("cms_reorderNavigation", labels=["Contact", "Home", "Blog", "Services"])

    assert labels(site) == ["Contact", "Home", "Blog", "Services"]
    assert site.refuse("cms_reorderNavigation", labels=["Home", "Blog"]).kind == "validation"
    assert site.refuse("cms_reorderNavigation", labels=["Home", "Home", "Blog", "Services"]).kind == "validation"


def test_an_item_is_removed_and_its_page_stays(site: Site) -> None:
    site.use("cms_removeNavigationItem", label="Services")

    assert labels(site) == ["Home", "Blog", "Contact"]
    assert site.use("cms_getPage", slug="services")["id"] == "page-2"


@pytest.mark.parametrize("tool", ["cms_toggleNavigationItem", "cms_removeNavigationItem", "cms_updateNavigationItem"])
def test_an_unknown_label_is_not_found_and_names_the_nearest(site: Site, tool: str) -> None:
    error = site.refuse(tool, label="contacts")

    assert (error.kind, error.options) == ("not_found", ("Contact",))
