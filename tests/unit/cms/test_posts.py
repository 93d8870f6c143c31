from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def test_a_new_post_is_a_draft_with_a_slug_made_from_its_title(site: Site) -> None:
    made = site.use("cms_createPost", title="Größe & Maß: a Story!", tags=["words"])

    assert made["success"] is True
    assert made["post"]["id"] == "post-5"
    assert made["post"]["slug"] == "groe-ma-a-story"
    assert made["post"]["status"] == "draft"
    assert made["post"]["publishedAt"] is None
    assert made["post"]["content"] == {"body": "", "cover": None, "tags": ["words"]}


def test_a_taken_slug_is_refused_with_a_free_one(site: Site) -> None:
    site.use("cms_createPost", title="Hello", slug="hello")
    site.use("cms_createPost", title="Hello", slug="hello-2")

    error = site.refuse("cms_createPost", title="Hello")

    assert (error.kind, error.options) == ("constraint", ("hello-3",))


def test_the_address_of_the_list_of_posts_is_not_a_slug_for_a_post(site: Site) -> None:
    error = site.refuse("cms_createPost", title="Blog")

    assert (error.kind, error.options) == ("constraint", ("blog-2",))
    assert site.use("cms_createPage", title="Blog")["page"]["slug"] == "blog"


def test_a_title_that_gives_no_slug_asks_for_one(site: Site) -> None:
    error = site.refuse("cms_createPost", title="Привет")

    assert error.kind == "validation"
    assert "slug" in error.suggestion


@pytest.mark.parametrize("slug", ["About Us", "about_us", "-about", "about--us", "ABOUT", "about/", "a" * 81])
def test_a_malformed_slug_is_refused_with_the_nearest_right_one(site: Site, slug: str) -> None:
    error = site.refuse("cms_createPost", title="About", slug=slug)

    assert error.kind == "validation"
    assert error.options[0] in {"about-us", "about", "a" * 80}


def test_posts_are_listed_newest_first_and_by_status(site: Site) -> None:
    site.use("cms_createPost", title="Latest")

    everything = [post["title"] for post in site.use("cms_listPosts")["posts"]]
    archived = [post["title"] for post in site.use("cms_listPosts", status="archived")["posts"]]

    assert everything[0] == "Latest"
    assert len(everything) == 5
    assert archived == ["Prices for 2025"]
    assert [post["title"] for post in site.use("cms_listPosts", limit=1)["posts"]] == ["Latest"]


def test_an_unknown_slug_is_not_found_and_names_the_nearest(site: Site) -> None:
    error = site.refuse("cms_getPost", slug="notes-from-the-coast")

    assert (error.kind, error.options) == ("not_found", ("notes-from-the-coast-shoot",))
    assert "cms_findResource" in error.suggestion


def test_search_finds_posts_by_title_tag_and_text(site: Site) -> None:
    def found(query: str) -> list[str]:
        return [match["slug"] for match in site.use("cms_searchPosts", query=query)["matches"]]

    assert found("redesign questions")[0] == "five-questions-before-a-redesign"
    assert found("photography") == ["notes-from-the-coast-shoot", "a-new-colleague-by-the-water"]
    assert found("boat") == ["a-new-colleague-by-the-water"]
    assert found("submarine") == []


def test_an_update_changes_what_it_names_and_nothing_else(site: Site) -> None:
    before = site.use("cms_getPost", slug="prices-for-2025")
    after = site.use("cms_updatePost", slug="prices-for-2025", title="Prices", newSlug="prices", tags=[])["post"]

    assert (after["title"], after["slug"], after["content"]["tags"]) == ("Prices", "prices", [])
    assert after["content"]["body"] == before["content"]["body"]
    assert after["createdAt"] == before["createdAt"]
    assert after["updatedAt"] > before["updatedAt"]
    assert site.refuse("cms_getPost", slug="prices-for-2025").kind == "not_found"


def test_a_cover_and_a_featured_image_come_from_the_library(site: Site) -> None:
    post = site.use(
        "cms_updatePost",
        slug="notes-from-the-coast-shoot",
        cover={"url": "/uploads/harbour-sail.png", "alt": "A sail"},
        featuredImage="/uploads/sunrise.png",
    )["post"]

    assert post["content"]["cover"] == {"url": "/uploads/harbour-sail.png", "alt": "A sail"}
    assert post["featuredImage"] == "/uploads/sunrise.png"


def test_an_image_from_elsewhere_is_refused(site: Site) -> None:
    slug = "notes-from-the-coast-shoot"
    outside = site.refuse("cms_updatePost", slug=slug, featuredImage="https://pexels.example/photo/2101")
    misspelt = site.refuse("cms_updatePost", slug=slug, cover={"url": "/uploads/sunrize.png"})

    assert outside.kind == "validation"
    assert "pexels_downloadPhoto" in outside.suggestion
    assert (misspelt.kind, misspelt.options[0]) == ("reference", "/uploads/sunrise.png")


@pytest.mark.parametrize("cover", [{}, {"alt": "x"}, {"url": 3}, {"url": "/uploads/logo.png", "size": "big"}])
def test_a_cover_has_a_url_and_an_alt_text(site: Site, cover: dict[str, object]) -> None:
    assert site.refuse("cms_updatePost", slug="prices-for-2025", cover=cover).kind == "validation"


def test_an_update_without_changes_is_refused(site: Site) -> None:
    assert site.refuse("cms_updatePost", slug="prices-for-2025").kind == "validation"


def test_a_post_keeps_its_own_slug_but_takes_no_other(site: Site) -> None:
    same = site.use("cms_updatePost", slug="prices-for-2025", newSlug="prices-for-2025")["post"]
    error = site.refuse("cms_updatePost", slug="prices-for-2025", newSlug="a-new-colleague-by-the-water")

    assert same["slug"] == "prices-for-2025"
    assert (error.kind, error.options) == ("constraint", ("a-new-colleague-by-the-water-2",))


def test_a_post_is_published_archived_and_published_again(site: Site) -> None:
    slug = "notes-from-the-coast-shoot"
    first = site.use_and_confirm("cms_publishPost", slug=slug)["post"]
    hidden = site.use_and_confirm("cms_archivePost", slug=slug)["post"]
    second = site.use_and_confirm("cms_publishPost", slug=slug)["post"]

    assert [first["status"], hidden["status"], second["status"]] == ["published", "archived", "published"]
    assert hidden["publishedAt"] == first["publishedAt"]
    assert second["publishedAt"] > first["publishedAt"]


@pytest.mark.parametrize(
    ("tool", "slug", "allowed"),
    [
        ("cms_publishPost", "a-new-colleague-by-the-water", ("draft", "archived")),
        ("cms_archivePost", "notes-from-the-coast-shoot", ("published",)),
        ("cms_archivePost", "prices-for-2025", ("published",)),
    ],
)
def test_a_post_cannot_skip_a_state(site: Site, tool: str, slug: str, allowed: tuple[str, ...]) -> None:
    error = site.refuse(tool, slug=slug)

    assert (error.kind, error.options) == ("constraint", allowed)


@pytest.mark.parametrize("slug", ["a-new-colleague-by-the-water", "notes-from-the-coast-shoot", "prices-for-2025"])
def test_a_post_of_any_state_can_be_deleted_for_good(site: Site, slug: str) -> None:
    assert site.use_and_confirm("cms_deletePost", slug=slug)["success"] is True
    assert site.refuse("cms_getPost", slug=slug).kind == "not_found"
