"""What the instructions of the tools for stock photos say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from unit.cms.conftest import Site


@holds("pexels_getPhoto", "Show details of one Pexels photo")
@holds("pexels_searchPhotos", "Search Pexels for free stock photos")
@holds(
    "pexels_searchPhotos",
    "Search stock photos on Pexels by what they show, best match first.",
    "Nothing is downloaded yet.",
)
@holds("pexels_getPhoto", "Get one stock photo of Pexels: what it shows, who took it, and its size.")
@holds("pexels_searchPhotos", "cms_searchImages", "the library may have one")
@holds("pexels_searchPhotos", "Show the photos with photographer", "pexels_downloadPhoto")
@holds("pexels_searchPhotos", "Hits are previews, in the CMS only once downloaded.")
@holds("pexels_getPhoto", "photoId from pexels_searchPhotos", "Show preview, size and photographer")
@holds("pexels_getPhoto", "Its urls are for looking only", "a page needs the downloaded copy.", "pexels_downloadPhoto")
def test_a_photo_of_pexels_is_a_preview_until_it_is_downloaded(site: Site) -> None:
    before = site.content()
    photo = site.use("pexels_searchPhotos", query="coffee")["photos"][0]
    same = site.use("pexels_getPhoto", photoId=photo["id"])

    assert site.content() == before
    assert {**same, "score": photo["score"]} == photo
    assert all(same[key] for key in ("preview", "width", "height", "photographer"))
    for url in (same["url"], same["preview"]):
        assert site.refuse("cms_updatePost", slug="prices-for-2025", featuredImage=url).kind == "validation"
    copy = site.use("pexels_downloadPhoto", photoId=photo["id"])["image"]
    site.use("cms_updatePost", slug="prices-for-2025", featuredImage=copy["url"])


@holds("pexels_searchPhotos", "English words for what can be seen work best.")
def test_words_for_what_is_seen_find_photos_and_other_languages_do_not(site: Site) -> None:
    assert site.use("pexels_searchPhotos", query="mountains by a lake")["photos"]
    assert site.use("pexels_searchPhotos", query="Gebirge am Wasserfall")["photos"] == []
    assert site.use("pexels_searchPhotos", query="unwavering loyalty")["photos"] == []


@holds("pexels_downloadPhoto", "Only the local url (/uploads/...) may go into content", "pexels.com urls NEVER.")
@pytest.mark.parametrize("url", ["https://images.pexels.com/photos/1/a.jpg", "https://pexels.example/photo/2104"])
def test_no_content_takes_an_address_of_pexels(site: Site, url: str) -> None:
    text = f"Look: ![a photo](<{url}>)"
    post, section = {"slug": "prices-for-2025"}, {"pageSectionId": "sec-2"}

    assert site.refuse("cms_updatePost", **post, cover={"url": url, "alt": "x"}).kind == "validation"
    assert site.refuse("cms_updatePost", **post, featuredImage=url).kind == "validation"
    assert site.refuse("cms_updatePost", **post, body=text).kind == "validation"
    assert site.refuse("cms_createPost", title="New", body=text).kind == "validation"
    assert site.refuse("cms_updateSectionContent", **section, content={"body": text}).kind == "validation"
