from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def names(answer: dict[str, list[dict[str, str]]]) -> list[str]:
    return [image["filename"] for image in answer["matches"]]


def test_every_image_is_listed_with_a_local_url(site: Site) -> None:
    rows = site.use("cms_listAllImages")["data"]

    assert len(rows) == 12
    assert all((site.folder / row["url"].lstrip("/")).is_file() for row in rows)


def test_an_image_is_read_by_its_id(site: Site) -> None:
    assert site.use("cms_getImage", imageId="img-6") == {
        "id": "img-6",
        "type": "image",
        "name": "forest-path.png",
        "filename": "forest-path.png",
        "url": "/uploads/forest-path.png",
        "description": "Path between fir trees",
        "tags": ["forest", "trees", "nature", "path", "green"],
        "width": 320,
        "height": 200,
        "source": "upload",
    }
    assert site.refuse("cms_getImage", imageId="forest-path.png").options[0] == "img-6"


def test_the_best_match_comes_with_its_score(site: Site) -> None:
    found = site.use("cms_findImage", description="mountain landscape")

    assert (found["id"], found["score"]) == ("img-1", -0.75)


def test_nothing_alike_is_not_found(site: Site) -> None:
    error = site.refuse("cms_findImage", description="submarine")

    assert error.kind == "not_found"
    assert "pexels_searchPhotos" in error.suggestion


def test_lower_scores_are_better_and_one_hit_among_other_words_is_strong(site: Site) -> None:
    matches = site.use("cms_searchImages", query="nature water sunlight", limit=12)["matches"]
    scores = [match["score"] for match in matches]

    assert scores == sorted(scores)
    assert scores[0] <= -0.3
    assert all(-1 <= score < 0 for score in scores)


def test_a_search_forgives_plurals_and_slips_and_keeps_to_its_limit(site: Site) -> None:
    assert names(site.use("cms_searchImages", query="mountains"))[0] == "mountain-lake.png"
    assert names(site.use("cms_searchImages", query="skylnie"))[0] == "city-dusk.png"
    assert names(site.use("cms_searchImages", query="the nature", limit=1)) == ["mountain-lake.png"]
    assert names(site.use("cms_searchImages", query="submarine")) == []


@pytest.mark.parametrize("query", ["", "   ", "the of a", "?!"])
def test_a_search_needs_a_word_to_look_for(site: Site, query: str) -> None:
    assert site.refuse("cms_searchImages", query=query).kind == "validation"


@pytest.mark.parametrize("limit", [0, -1, 101])
def test_a_limit_has_a_minimum_and_a_maximum(site: Site, limit: int) -> None:
    assert site.refuse("cms_searchImages", query="nature", limit=limit).kind == "validation"


def test_new_words_are_found_at_once(site: Site) -> None:
    image = site.use("cms_updateImageMetadata", imageId="img-12", description="Target", tags=["bullseye"])["image"]

    assert (image["description"], image["tags"]) == ("Target", ["bullseye"])
    assert names(site.use("cms_searchImages", query="bullseye")) == ["logo.png"]
    assert site.use("cms_updateImageMetadata", imageId="img-12", tags=[])["image"]["description"] == "Target"
    assert site.refuse("cms_updateImageMetadata", imageId="img-12").kind == "validation"


def test_usage_names_sections_and_posts_with_their_fields(site: Site) -> None:
    used = site.use("cms_getImageUsage", imageId="img-10")

    assert used["imageId"] == "img-10"
    assert [(place["type"], place["id"], place["field"]) for place in used["data"]] == [
        ("section", "sec-4", "backgroundImage"),
        ("post", "post-1", "cover"),
        ("post", "post-1", "featuredImage"),
    ]
    assert site.use("cms_getImageUsage", imageId="img-1")["data"] == []


def test_a_deleted_image_leaves_the_places_that_used_it_empty(site: Site) -> None:
    asked = site.use("cms_deleteImage", imageId="img-10")
    done = site.use("cms_deleteImage", imageId="img-10", confirmed=True)

    assert "backgroundImage of Hero on Services" in asked["message"]
    assert (done["success"], done["deleted"]) == (True, ["img-10"])
    assert [place["id"] for place in done["emptied"]] == ["sec-4", "post-1", "post-1"]
    assert "backgroundImage" not in site.use("cms_getSectionContent", pageSectionId="sec-4")["content"]
    assert site.use("cms_getPost", slug="five-questions-before-a-redesign")["content"]["cover"] is None
    assert not (site.folder / "uploads" / "growth-chart.png").exists()


def test_an_image_in_a_field_that_needs_one_is_not_deleted(site: Site) -> None:
    error = site.refuse("cms_deleteImage", imageId="img-9")

    assert (error.kind, error.options) == ("constraint", ("sec-6",))

    site.use("cms_updateSectionImage", imageId="img-1", pageSectionId="sec-6", imageField="image1")

    assert site.use_and_confirm("cms_deleteImage", imageId="img-9")["success"] is True


def test_stock_photos_are_searched_without_bringing_them_in(site: Site) -> None:
    before = site.content()
    photos = site.use("pexels_searchPhotos", query="city skyline", limit=1)["photos"]

    assert [photo["id"] for photo in photos] == [2102]
    assert site.use("pexels_getPhoto", photoId=2102).items() <= photos[0].items()
    assert site.content() == before


def test_a_downloaded_photo_has_a_local_url_and_can_be_used(site: Site) -> None:
    image = site.use("pexels_downloadPhoto", photoId=2103, description="The new team")["image"]

    assert image["url"] == "/uploads/pexels-2103.png"
    assert image["description"] == "The new team"
    assert (site.folder / "uploads" / "pexels-2103.png").read_bytes().startswith(b"\x89PNG")
    assert names(site.use("cms_searchImages", query="new team"))[0] == "pexels-2103.png"
    site.use("cms_updatePost", slug="prices-for-2025", featuredImage=image["url"])


def test_a_photo_is_downloaded_once(site: Site) -> None:
    image = site.use("pexels_downloadPhoto", photoId=2101)["image"]
    error = site.refuse("pexels_downloadPhoto", photoId=2101)

    assert "Ines Okafor" in image["description"]
    assert (error.kind, error.options) == ("constraint", (image["id"],))


def test_an_unknown_photo_is_a_reference_error(site: Site) -> None:
    assert site.refuse("pexels_getPhoto", photoId=1).kind == "reference"
    assert "2101" in site.refuse("pexels_downloadPhoto", photoId=1).options
