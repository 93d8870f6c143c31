"""What the instructions of the post tools say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from unit.cms.conftest import Site

CONFIRMED = "Needs confirmed:true, after a yes."
DRAFT = "notes-from-the-coast-shoot"
PUBLIC = "five-questions-before-a-redesign"
ARCHIVED = "prices-for-2025"


@holds("cms_createPost", "Create a blog post as a draft")
@holds("cms_createPost", "Write a new blog post as a draft, not yet visible to the public.")
@holds("cms_createPost", "cms_listPosts, lest a post has this title already")
@holds(
    "cms_createPost", "Starts as a DRAFT nobody sees, without images.", "pexels_searchPhotos (cover), cms_publishPost"
)
@holds("cms_createPost", "A cover is two fields, featuredImage AND content.cover", "set both with cms_updatePost.")
def test_a_new_post_is_a_draft_and_gets_a_cover_in_two_fields(site: Site) -> None:
    assert all(post["title"] for post in site.use("cms_listPosts")["posts"])
    post = site.use("cms_createPost", title="New")["post"]
    published = [post["id"] for post in site.use("cms_listPosts", status="published")["posts"]]
    image = site.use("pexels_downloadPhoto", photoId=2104)["image"]
    cover = {"url": image["url"], "alt": "A desk"}
    done = site.use("cms_updatePost", slug="new", cover=cover, featuredImage=image["url"])["post"]

    assert (post["status"], post["featuredImage"], post["content"]["cover"]) == ("draft", None, None)
    assert post["id"] not in published
    assert (done["featuredImage"], done["content"]["cover"]) == (image["url"], cover)
    assert site.use_and_confirm("cms_publishPost", slug="new")["post"]["status"] == "published"


@holds("cms_listPosts", "List blog posts with their state")
@holds("cms_listPosts", "Show title, state and date of each", "cms_getPost (read one), cms_publishPost")
def test_every_post_of_the_list_has_title_state_and_date(site: Site) -> None:
    site.use("cms_createPost", title="New")
    posts = site.use("cms_listPosts")["posts"]

    assert {post["status"] for post in posts} == {"draft", "published", "archived"}
    assert all(post["title"] and (post["publishedAt"] or post["updatedAt"]) for post in posts)
    assert site.use("cms_getPost", slug=posts[0]["slug"])["id"] == posts[0]["id"]


@holds("cms_listPosts", "No bodies", "20 posts unless limit says more.")
@holds("cms_listPosts", "Use the status filter (draft, published, archived) when the user means one state.")
def test_the_list_has_no_bodies_and_says_how_many_there_are(site: Site) -> None:
    for number in range(25):
        site.use("cms_createPost", title=f"Post {number}", body="The body")
    short, whole = site.use("cms_listPosts"), site.use("cms_listPosts", limit=100)

    assert (len(short["posts"]), len(whole["posts"]), short["total"]) == (20, 29, 29)
    assert "The body" not in str(whole)
    for state, number in (("draft", 26), ("published", 2), ("archived", 1)):
        found = site.use("cms_listPosts", status=state, limit=100)
        assert ({post["status"] for post in found["posts"]}, found["total"]) == ({state}, number)


@holds("cms_getPost", "Read one blog post in full")
@holds("cms_getPost", "Read one blog post with its whole text, cover and tags.")
@holds("cms_getPost", "Slug from memory, cms_listPosts or cms_searchPosts", "Returns the whole Markdown body")
@holds("cms_getPost", "cms_updatePost, cms_publishPost")
@holds("cms_searchPosts", "Name the hits with their state", "cms_getPost")
def test_a_post_of_a_search_is_read_with_its_whole_body(site: Site) -> None:
    body = "# Title\n\n" + "A long text. " * 2000
    site.use("cms_updatePost", slug=DRAFT, body=body)
    hit = site.use("cms_searchPosts", query="coast shoot")["matches"][0]

    assert hit["status"] == "draft"
    assert site.use("cms_getPost", slug=hit["slug"])["content"]["body"] == body


@holds("cms_searchPosts", "Finds words, not meanings.", "Try a synonym before you say there is none.")
def test_a_post_is_found_by_its_words_only(site: Site) -> None:
    assert site.use("cms_searchPosts", query="picture")["matches"] == []
    assert site.use("cms_searchPosts", query="photographer")["matches"]
    assert site.use("cms_searchPosts", query="staff")["matches"] == []
    assert site.use("cms_searchPosts", query="team")["matches"]


@holds("cms_updatePost", "What is not named stays.")
@holds("cms_updatePost", "cms_getPost for the current text", "Say which fields changed")
@holds("cms_updatePost", "Fields you leave out stay", "so does the state.", "cms_publishPost if still a draft")
@pytest.mark.parametrize("slug", [DRAFT, PUBLIC, ARCHIVED])
def test_an_update_changes_what_it_names_and_nothing_else(site: Site, slug: str) -> None:
    before = site.use("cms_getPost", slug=slug)
    after = site.use("cms_updatePost", slug=slug, title="Another title")["post"]

    assert {key for key in before if before[key] != after[key]} == {"title", "updatedAt"}


@holds(
    "cms_updatePost",
    "A cover needs BOTH featuredImage (url, for lists) and cover {url, alt} (content.cover, top of the post), local "
    "urls only.",
)
def test_cover_and_featured_image_are_set_apart_and_are_local(site: Site) -> None:
    url, far = "/uploads/logo.png", "https://example.com/logo.png"
    cover = site.use("cms_updatePost", slug=DRAFT, cover={"url": url, "alt": "Rings"})["post"]
    both = site.use("cms_updatePost", slug=DRAFT, featuredImage=url)["post"]

    assert (cover["content"]["cover"], cover["featuredImage"]) == ({"url": url, "alt": "Rings"}, None)
    assert (both["content"]["cover"], both["featuredImage"]) == ({"url": url, "alt": "Rings"}, url)
    assert site.refuse("cms_updatePost", slug=DRAFT, featuredImage=far).kind == "validation"
    assert site.refuse("cms_updatePost", slug=DRAFT, cover={"url": far, "alt": ""}).kind == "validation"


@holds("cms_publishPost", "Make a draft or archived blog post public")
@holds("cms_publishPost", "Make a draft or archived blog post visible to the public, after the user confirmed.")
@holds("cms_publishPost", "cms_getPost to see that title, body and cover are complete")
@holds("cms_publishPost", "Drafts and archived posts only.", CONFIRMED)
@holds("cms_publishPost", "Say that it is public and listed on /posts/blog")
@holds("cms_publishPost", "cms_addNavigationItem if it should be in the menu")
@pytest.mark.parametrize("slug", [DRAFT, ARCHIVED])
def test_a_draft_or_an_archived_post_becomes_public(site: Site, slug: str) -> None:
    assert {"title", "content"} <= site.use("cms_getPost", slug=slug).keys()
    done = site.use_and_confirm("cms_publishPost", slug=slug)["post"]

    assert (done["status"], bool(done["publishedAt"])) == ("published", True)
    assert done["id"] in [post["id"] for post in site.use("cms_listPosts", status="published")["posts"]]
    assert site.refuse("cms_publishPost", slug=slug).kind == "constraint"
    site.use("cms_addNavigationItem", label="News", href=f"/posts/{slug}", location="footer")
    site.use("cms_addNavigationItem", label="All posts", href="/posts/blog", location="footer")


@holds("cms_archivePost", "Take a published blog post offline without deleting it")
@holds(
    "cms_archivePost",
    "Hide a published blog post from the public, after the user confirmed.",
    "It can be published again.",
)
@holds("cms_archivePost", "Published posts only.", CONFIRMED, "Menu links to it stay.")
@holds("cms_archivePost", "cms_publishPost makes it public again", "Say that it is hidden and can come back")
def test_an_archived_post_keeps_its_links_and_can_come_back(site: Site) -> None:
    for slug in (DRAFT, ARCHIVED):
        assert site.refuse("cms_archivePost", slug=slug).kind == "constraint"
    site.use("cms_addNavigationItem", label="Five", href=f"/posts/{PUBLIC}", location="header")
    menu = site.use("cms_getNavigation")
    hidden = site.use_and_confirm("cms_archivePost", slug=PUBLIC)["post"]

    assert hidden["status"] == "archived"
    assert PUBLIC not in [post["slug"] for post in site.use("cms_listPosts", status="published")["posts"]]
    assert site.use("cms_getNavigation") == menu
    assert site.use_and_confirm("cms_publishPost", slug=PUBLIC)["post"]["status"] == "published"


@holds("cms_deletePost", "Delete a blog post for good")
@holds(
    "cms_deletePost", "Delete a blog post for good, after the user confirmed", "lists navigation items that lead to it."
)
@holds("cms_deletePost", "No undo, in any state.", CONFIRMED, "Say that it is gone")
@holds("cms_deletePost", "cms_removeNavigationItem for each label in staleNavigation")
@pytest.mark.parametrize("slug", [DRAFT, PUBLIC, ARCHIVED])
def test_a_post_of_any_state_is_deleted_for_good_and_names_its_links(site: Site, slug: str) -> None:
    id_ = site.use("cms_getPost", slug=slug)["id"]
    site.use("cms_addNavigationItem", label="A", href=f"/posts/{slug}", location="header")
    site.use("cms_addNavigationItem", label="B", href=f"/posts/{slug}?locale=en", location="footer")
    done = site.use_and_confirm("cms_deletePost", slug=slug)

    assert done == {"success": True, "deleted": [id_], "staleNavigation": ["A", "B"]}
    assert site.refuse("cms_getPost", slug=slug).kind == "not_found"
    assert site.use("cms_createPost", title="x", slug=slug)["post"]["id"] != id_
    for label in done["staleNavigation"]:
        site.use("cms_removeNavigationItem", label=label)
