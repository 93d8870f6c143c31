"""What the instructions of the navigation tools say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from unit.cms.conftest import Site

SEEDED = ["Home", "Services", "Blog", "Contact"]


@holds("cms_getNavigation", "Show the menus of the site")
@holds("cms_getNavigation", "List the navigation items of header and footer in order, hidden ones too.")
@holds("cms_getNavigation", "Show labels in order, hidden ones marked", "One list for header and footer")
@holds("cms_getNavigation", 'location "both" is one item in two places.')
@holds("cms_getNavigation", "cms_addNavigationItem, cms_updateNavigationItem")
def test_one_list_contains_every_item_once_and_marks_hidden_ones(site: Site) -> None:
    site.use("cms_toggleNavigationItem", label="Blog")
    items = site.use("cms_getNavigation")["data"]

    assert [item["label"] for item in items] == SEEDED
    assert [item["label"] for item in items if not item["visible"]] == ["Blog"]
    assert [item["location"] for item in items if item["label"] == "Services"] == ["both"]


@holds("cms_addNavigationItem", "href is /pages/{slug}?locale=en (or /posts/{slug}), NEVER /{slug}.")
@holds("cms_addNavigationItem", "Its target must exist.")
@holds("cms_updateNavigationItem", "href form /pages/{slug}?locale=en.")
@pytest.mark.parametrize("href", ["/home", "/pages/home", "home", "/pages/home?locale=de", "/pages/nowhere?locale=en"])
def test_an_address_has_the_one_form_and_leads_somewhere(site: Site, href: str) -> None:
    added = site.refuse("cms_addNavigationItem", label="New", location="header", href=href)
    moved = site.refuse("cms_updateNavigationItem", label="Home", newHref=href)

    assert [added.kind, moved.kind] == ["reference" if "nowhere" in href else "validation"] * 2


@holds("cms_addNavigationItem", "location: header, footer or both.")
@holds("cms_addNavigationItem", "cms_getNavigation for duplicates", "cms_getPage for the slug")
def test_an_item_has_a_place_a_label_of_its_own_and_the_address_of_a_page_or_post(site: Site) -> None:
    site.refuse("cms_addNavigationItem", label="New", href="/pages/home?locale=en", location="left")
    taken = site.refuse("cms_addNavigationItem", label="Home", href="/posts/blog", location="header")

    assert taken.kind == "constraint"
    for good in (f"/pages/{site.use('cms_getPage', slug='home')['slug']}?locale=en", "/posts/prices-for-2025"):
        site.use("cms_addNavigationItem", label=good, href=good, location="footer")


@holds("cms_addNavigationItem", "Add a link to the header or footer menu")
@holds("cms_addNavigationItem", "Add a link to the header, the footer or both, after the others.")
@holds(
    "cms_addNavigationItem", "New items come last.", "Say where it shows", "cms_reorderNavigation if the place matters"
)
@pytest.mark.parametrize("location", ["header", "footer", "both"])
def test_a_new_item_comes_last_until_the_menu_is_reordered(site: Site, location: str) -> None:
    made = site.use("cms_addNavigationItem", label="New", href="/posts/blog", location=location)["item"]

    assert made["location"] == location
    assert labels(site) == [*SEEDED, "New"]
    site.use("cms_reorderNavigation", labels=["New", *SEEDED])
    assert labels(site) == ["New", *SEEDED]


@holds("cms_updateNavigationItem", "Change label, link or place of a menu item")
@holds("cms_updateNavigationItem", "Change the label, address or location of a navigation item.")
@holds("cms_updateNavigationItem", "cms_getNavigation for the exact label", "Show old and new entry")
@holds("cms_updateNavigationItem", "label picks the item", "new values go into newLabel, newHref, newLocation.")
def test_an_update_takes_the_label_and_new_values_next_to_it(site: Site) -> None:
    new = {"newLabel": "Start", "newHref": "/posts/blog", "newLocation": "footer"}
    made = site.use("cms_updateNavigationItem", label="Home", **new)["item"]

    assert (made["label"], made["href"], made["location"]) == tuple(new.values())
    assert site.refuse("cms_updateNavigationItem", label="home", newLabel="X").kind == "not_found"
    assert site.refuse("cms_updateNavigationItem", label="Blog", href="/posts/blog").kind == "validation"


@holds("cms_toggleNavigationItem", "Hide a menu item, or show it again")
@holds("cms_toggleNavigationItem", "Hide a navigation item, or show it again, without losing it.")
@holds("cms_toggleNavigationItem", "Flips the state, so a second call undoes the first.")
@holds("cms_toggleNavigationItem", "cms_getNavigation", "it may already be as wanted", "Say whether it is visible now")
@holds("cms_toggleNavigationItem", "The page itself stays reachable.")
def test_a_second_toggle_undoes_the_first_and_the_page_stays(site: Site) -> None:
    before = site.use("cms_getNavigation")
    hidden = site.use("cms_toggleNavigationItem", label="Home")["item"]

    assert hidden["visible"] is False
    assert site.use("cms_getPage", slug="home")["title"] == "Home"
    assert site.use("cms_toggleNavigationItem", label="Home")["item"]["visible"] is True
    assert site.use("cms_getNavigation") == before


@holds("cms_reorderNavigation", "Change the order of menu items")
@holds("cms_reorderNavigation", "Put the navigation items into another order.")
@holds("cms_reorderNavigation", "cms_getNavigation for all labels", "Show the new order")
@holds("cms_reorderNavigation", "labels holds EVERY label once, header and footer, hidden ones too.")
def test_an_order_contains_every_label_once(site: Site) -> None:
    site.use("cms_toggleNavigationItem", label="Blog")
    for wrong in (["Home", "Services", "Contact"], [*SEEDED, "Home"], SEEDED[:2], [*SEEDED, "Shop"]):
        site.refuse("cms_reorderNavigation", labels=wrong)

    assert [item["label"] for item in site.use("cms_reorderNavigation", labels=SEEDED[::-1])["data"]] == SEEDED[::-1]


@holds("cms_removeNavigationItem", "Remove a link from the menu")
@holds("cms_removeNavigationItem", "Take a link out of the navigation.", "The page it leads to stays.")
@holds("cms_removeNavigationItem", "cms_getNavigation for the exact label", "Removes the link only.")
@holds("cms_removeNavigationItem", "cms_addNavigationItem puts it back, as the last one")
@holds("cms_removeNavigationItem", "Say that the link is gone and the page stays")
@holds("cms_removeNavigationItem", "To hide it for a while use cms_toggleNavigationItem.")
def test_a_removed_link_leaves_its_page_and_comes_back_as_the_last(site: Site) -> None:
    item = next(item for item in site.use("cms_getNavigation")["data"] if item["label"] == "Home")

    assert site.use("cms_removeNavigationItem", label="Home")["removed"] == "Home"
    assert site.use("cms_getPage", slug="home")["title"] == "Home"
    site.use("cms_addNavigationItem", label="Home", href=item["href"], location=item["location"])
    assert labels(site) == ["Services", "Blog", "Contact", "Home"]


def labels(site: Site) -> list[str]:
    return [item["label"] for item in site.use("cms_getNavigation")["data"]]
