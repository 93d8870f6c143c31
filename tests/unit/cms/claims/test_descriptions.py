"""What the CMS says of its tools beyond what their instructions say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from unit.cms.conftest import Site


@holds("cms_createPost", "Without a slug, one is made from the title.")
@holds("cms_createPage", "Without a slug, one is made from the title.")
def test_a_slug_is_made_from_the_title(site: Site) -> None:
    for tool, thing in (("cms_createPost", "post"), ("cms_createPage", "page")):
        assert site.use(tool, title="  Ünder the Sea!  ")[thing]["slug"] == "under-the-sea"


@holds("cms_listPosts", "List blog posts, newest first, all of them or only drafts, published or archived ones.")
def test_posts_are_listed_newest_first(site: Site) -> None:
    for title in ("First", "Second"):
        site.use("cms_createPost", title=title)

    assert [post["title"] for post in site.use("cms_listPosts")["posts"]][:2] == ["Second", "First"]
    assert [post["title"] for post in site.use("cms_listPosts", status="draft")["posts"]][:2] == ["Second", "First"]


@holds("cms_searchPosts", "Search blog posts by words in title, text or tags")
@holds("cms_searchPosts", "Search blog posts by words in their title, tags, excerpt or text, best match first.")
def test_posts_are_searched_in_every_field(site: Site) -> None:
    for place in ({"title": "Zebra"}, {"title": "b", "tags": ["zebra"]}, {"title": "c", "excerpt": "Zebra"}):
        site.use("cms_createPost", **place)
    site.use("cms_createPost", title="d", body="A zebra.")

    assert [match["title"] for match in site.use("cms_searchPosts", query="zebra")["matches"]] == [
        "Zebra",
        "b",
        "c",
        "d",
    ]


@holds("cms_updatePost", "Change the text, title, tags or cover of a blog post")
@holds("cms_updatePost", "Change the text, tags, slug, cover or featured image of a blog post.")
@holds("cms_updatePost", "Tells which navigation items still use an old slug.")
def test_a_post_takes_new_values_and_names_links_to_its_old_slug(site: Site) -> None:
    old, url = "prices-for-2025", "/uploads/logo.png"
    site.use("cms_addNavigationItem", label="Prices", href=f"/posts/{old}", location="footer")
    changes = {
        "newSlug": "prices",
        "body": "New",
        "tags": ["x"],
        "featuredImage": url,
        "cover": {"url": url, "alt": "y"},
    }
    done = site.use("cms_updatePost", slug=old, **changes)

    assert done["staleNavigation"] == ["Prices"]
    assert done["post"] == site.use("cms_getPost", slug="prices")
    assert done["post"]["content"] == {"body": "New", "tags": ["x"], "cover": {"url": url, "alt": "y"}}


@holds("cms_updatePage", "Change a page's title, slug or metadata")
@holds("cms_listPages", "List the pages of the site")
@holds("cms_listPages", "List every page of the site with its slug and number of sections.")
@holds("cms_updatePage", "Change the title, slug or description of a page.")
def test_pages_are_listed_with_slug_and_number_of_sections(site: Site) -> None:
    new = {"title": "Start", "slug": "start", "description": "Hello."}
    page = site.use("cms_updatePage", pageId="page-1", **new)["page"]

    assert {key: page[key] for key in new} == new
    assert [(p["slug"], p["sectionCount"]) for p in site.use("cms_listPages")["data"]] == [
        ("start", 3),
        ("services", 3),
        ("contact", 2),
    ]


@holds("cms_findResource", "Find a page, section, post or image by an inexact name")
@holds("cms_findResource", "Find pages, posts, sections and images by a rough name, to learn their ids.")
def test_anything_is_found_by_a_rough_name(site: Site) -> None:
    for rough, kind, id_ in (
        ("servcies", "page", "page-2"),
        ("questions redesign", "post", "post-1"),
        ("contact form", "section", "sec-8"),
        ("harbor bridge", "image", "img-9"),
    ):
        assert site.use("cms_findResource", query=rough, type=kind)["matches"][0]["id"] == id_
