"""What the instructions of the image tools say, tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cms import images, pictures
from unit.cms.claims.claims import holds

if TYPE_CHECKING:
    from unit.cms.conftest import Site

CONFIRMED = "Needs confirmed:true, after a yes."


@holds("cms_listAllImages", "List every image in the library")
@holds("cms_listAllImages", "List every image of the media library with its local URL, description and tags.")
@holds(
    "cms_listAllImages",
    "Show a few as ![description](url) and give the total",
    "cms_updateSectionImage, cms_searchImages",
)
def test_the_list_contains_every_image_with_what_is_needed_to_show_it(site: Site) -> None:
    listed = site.use("cms_listAllImages")["data"]

    assert len(listed) == len(site.content()["images"])
    assert all(image["description"] and image["url"].startswith("/uploads/") for image in listed)
    attach(site, listed[0]["id"])


@holds("cms_listAllImages", "Uploads appear by themselves once processed.")
def test_an_upload_is_listed_without_a_call(site: Site) -> None:
    with site.db.transaction():
        images.store(site.db, "upload.png", pictures.draw("cup", "day"), "A cup", ["cup"], "upload")

    assert site.use("cms_listAllImages")["data"][-1]["filename"] == "upload.png"


@holds("cms_getImage", "Show one image with its details")
@holds("cms_getImage", "Get one image with its local URL, description, tags and size.")
@holds("cms_getImage", "imageId from memory or a search", "Show it as ![description](url) with its tags")
@holds("cms_getImage", "Use its url as it stands (/uploads/...)", "cms_updateSectionImage, cms_updateImageMetadata")
@holds("cms_getImageUsage", "imageId from memory or a search")
def test_an_image_of_a_search_is_shown_by_its_url(site: Site) -> None:
    found = site.use("cms_searchImages", query="team")["matches"][0]
    image = site.use("cms_getImage", imageId=found["id"])

    assert image["url"].startswith("/uploads/")
    assert (site.folder / image["url"].lstrip("/")).is_file()
    assert image["description"]
    assert image["tags"]
    assert site.use("cms_getImageUsage", imageId=found["id"])["imageId"] == found["id"]


@holds("cms_findImage", "Find the one image that fits a description best")
@holds(
    "cms_findImage",
    "Find the one image that fits a description best.",
    "Lower scores are better",
    "-0.3 or lower is a strong match.",
)
@holds(
    "cms_searchImages",
    "Search images by what they show, best first.",
    "Lower scores are better",
    "-0.3 or lower is a strong match.",
)
@holds("cms_findImage", "ONE image, even a weak one.", "Lower score is better, -0.3 or less is strong.")
@holds("cms_searchImages", "Lower score is better", "Show the hits with their local urls and ask for a choice")
@pytest.mark.parametrize(
    ("weaker", "better"), [("pathway", "path"), ("boats somewhere", "sailing boat"), ("flower", "flowers meadow")]
)
def test_the_better_match_has_the_lower_score(site: Site, weaker: str, better: str) -> None:
    weak, strong = (site.use("cms_findImage", description=query) for query in (weaker, better))
    many = site.use("cms_searchImages", query=better, limit=12)["matches"]

    assert weak["id"] == strong["id"] == many[0]["id"]
    assert strong["score"] < weak["score"] < 0
    assert strong["score"] <= -0.3
    assert [match["score"] for match in many] == sorted(match["score"] for match in many)
    assert all(match["url"].startswith("/uploads/") for match in many)


@holds("cms_findImage", "For a choice use cms_searchImages.")
def test_a_search_gives_a_choice_where_find_gives_one(site: Site) -> None:
    assert "id" in site.use("cms_findImage", description="nature")
    assert len(site.use("cms_searchImages", query="nature")["matches"]) > 1


@holds(
    "cms_searchImages",
    'Spell out short queries: "AI" -> "artificial intelligence, robots, computer chips".',
)
@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("AI", "artificial intelligence, robots, computer chips"),
        ("team", "team of professional people at their work"),
        ("sea", "sea with waves, sailing boat, summer"),
        ("office", "office desk with a laptop computer"),
        ("growth", "growth chart, rising results, financial success"),
        ("nature", "untouched nature, a wide landscape with mountains"),
    ],
)
def test_a_query_that_is_spelled_out_finds_more_and_nothing_that_is_worse(site: Site, short: str, long: str) -> None:
    few, many = (
        {match["id"]: match["score"] for match in site.use("cms_searchImages", query=query, limit=12)["matches"]}
        for query in (short, long)
    )

    assert many
    assert all(many[image] <= score for image, score in few.items())
    assert min(many.values()) < min(few.values(), default=0)


@holds("cms_searchImages", "Search the image library by meaning")
@holds("cms_searchImages", "trust the order even without a common word.")
@pytest.mark.parametrize(
    ("query", "expected"),
    [("ocean vessel", "harbour-sail.png"), ("staff", "studio-team.png"), ("dawn", "sunrise.png")],
)
def test_an_image_is_found_by_meaning(site: Site, query: str, expected: str) -> None:
    best = site.use("cms_searchImages", query=query)["matches"][0]
    words = f"{best['filename']} {best['description']} {' '.join(best['tags'])}".casefold()

    assert best["filename"] == expected
    assert best["score"] <= -0.3
    assert not any(word in words for word in query.split())


@holds("pexels_downloadPhoto", "Download a Pexels photo into the image library")
@holds("cms_updateSectionImage", "Attach an image to a section")
@holds(
    "pexels_downloadPhoto",
    "Bring a stock photo of Pexels into the media library.",
    "The answer holds the local URL to use from then on.",
)
@holds("cms_searchImages", "cms_updateSectionImage (attach)", "pexels_searchPhotos if nothing fits")
@holds("cms_updateSectionImage", "imageId from cms_searchImages or pexels_downloadPhoto")
@holds("cms_updateSectionImage", "cms_getSectionFields for the image field")
@holds("pexels_downloadPhoto", "cms_updateSectionImage (section), cms_updatePost (cover)")
@holds("pexels_downloadPhoto", "pexels_searchPhotos for photoId", "Show it by the LOCAL url in the result")
@holds("pexels_downloadPhoto", "The imageId is the id in the result, not photoId.")
def test_an_image_of_the_library_and_a_downloaded_one_can_be_attached(site: Site) -> None:
    attach(site, site.use("cms_searchImages", query="team")["matches"][0]["id"])
    photo = site.use("pexels_searchPhotos", query="team")["photos"][0]
    image = site.use("pexels_downloadPhoto", photoId=photo["id"])["image"]
    attach(site, image["id"])
    site.use("cms_updatePost", slug="prices-for-2025", cover={"url": image["url"], "alt": "x"})

    assert image["url"].startswith("/uploads/")
    assert site.refuse("cms_getImage", imageId=str(photo["id"])).kind == "reference"


@holds("cms_updateImageMetadata", "Change the description (alt text) or tags of an image")
@holds("cms_updateImageMetadata", "Change the description or the tags of an image, which is what searches look at.")
@holds("cms_updateImageMetadata", "cms_getImage for the current values", "Show the new values")
@holds("cms_updateImageMetadata", "The description is also the alt text, so say what is seen.")
@holds("cms_updateImageMetadata", "Tags you send replace the old list", "searches read both.")
def test_the_description_is_the_alt_text_and_new_tags_replace_the_old(site: Site) -> None:
    changed = site.use("cms_updateImageMetadata", imageId="img-5", description="A zeppelin", tags=["quokka"])["image"]
    hero = site.use("cms_getSectionContent", pageSectionId="sec-1")["content"]

    assert (changed["description"], changed["tags"]) == ("A zeppelin", ["quokka"])
    assert changed == site.use("cms_getImage", imageId="img-5")
    assert hero["backgroundImage"]["alt"] == "A zeppelin"
    for word in ("zeppelin", "quokka"):
        assert site.use("cms_findImage", description=word)["id"] == "img-5"
    assert all(match["id"] != "img-5" for match in site.use("cms_searchImages", query="summer")["matches"])


@holds(
    "cms_updateSectionImage",
    "imageField is the exact key of the definition (backgroundImage, photo, ...), never a guess.",
)
def test_the_image_field_is_a_key_of_the_definition_and_no_other(site: Site) -> None:
    definitions = [row["id"] for row in site.use("cms_listSectionDefinitions")["data"]]
    fields = [f for id_ in definitions for f in site.use("cms_getSectionFields", id=id_)["elementsStructure"]]
    guess = {"imageId": "img-1", "pageSectionId": "sec-1", "imageField": "heroImage"}

    assert {"backgroundImage", "photo"} <= {field["key"] for field in fields if field["type"] == "image"}
    assert list(site.refuse("cms_updateSectionImage", **guess).options) == ["backgroundImage"]


@holds(
    "cms_updateSectionImage",
    "Not for post covers, which need cms_updatePost.",
    "Show the image and say where it now is",
)
def test_a_post_is_not_a_section(site: Site) -> None:
    wrong = {"imageId": "img-1", "pageSectionId": "post-1", "imageField": "cover"}
    done = site.use("cms_updateSectionImage", imageId="img-1", pageSectionId="sec-1", imageField="backgroundImage")

    assert site.refuse("cms_updateSectionImage", **wrong).kind == "reference"
    assert (done["image"]["id"], done["section"]["pageId"]) == ("img-1", "page-1")


@holds("cms_getImageUsage", "Show where an image is used")
@holds("cms_getImageUsage", "Tell which sections and posts use an image, and in which field.")
@holds("cms_getImageUsage", "Name the pages and posts", "cms_deleteImage if it is unused")
@holds("cms_getImageUsage", "Sections, covers and featured images only", "![...] inside a text is not seen.")
def test_the_usage_names_fields_and_not_texts(site: Site) -> None:
    shown = "![x](/uploads/logo.png)"
    site.use("cms_updatePost", slug="prices-for-2025", body=shown)
    site.use("cms_updateSectionContent", pageSectionId="sec-2", content={"body": shown})
    places = site.use("cms_getImageUsage", imageId="img-10")["data"]

    assert site.use("cms_getImageUsage", imageId="img-12")["data"] == []
    assert {place["field"] for place in places} == {"backgroundImage", "cover", "featuredImage"}
    assert [place["name"] for place in places][:2] == ["Hero on Services", "Five questions before a redesign"]
    assert site.use_and_confirm("cms_deleteImage", imageId="img-12")["deleted"] == ["img-12"]


@holds("cms_deleteImage", "Delete an image from the library")
@holds("cms_deleteImage", "one that requires an image keeps it from being deleted.")
@holds("cms_deleteImage", "Refused while a section requires it", "put another image there first.")
def test_a_required_image_is_deleted_only_after_another_took_its_place(site: Site) -> None:
    assert site.refuse("cms_deleteImage", imageId="img-9").kind == "constraint"
    site.use("cms_updateSectionImage", imageId="img-1", pageSectionId="sec-6", imageField="image1")

    assert site.use_and_confirm("cms_deleteImage", imageId="img-9")["success"] is True


@holds("cms_deleteImage", "Delete an image for good, after the user confirmed.", "Places that use it become empty")
@holds("cms_deleteImage", "No undo.", CONFIRMED, "Say that it is gone and which places are empty now")
@holds("cms_deleteImage", "cms_getImageUsage", "cms_updateSectionImage for those places")
def test_a_deleted_image_is_gone_and_its_places_are_named_to_be_filled(site: Site) -> None:
    before = site.use("cms_getImageUsage", imageId="img-5")["data"]
    done = site.use_and_confirm("cms_deleteImage", imageId="img-5")
    place = done["emptied"][0]

    assert done["emptied"] == before
    assert "img-5" not in site.refuse("cms_getImage", imageId="img-5").options
    assert place["field"] not in site.use("cms_getSectionContent", pageSectionId=place["id"])["content"]
    site.use("cms_updateSectionImage", imageId="img-1", pageSectionId=place["id"], imageField=place["field"])


def attach(site: Site, image: str) -> None:
    """Put an image into the field that the fields of a section name."""
    structure = site.use("cms_getSectionFields", id="hero")["elementsStructure"]
    field = next(field["key"] for field in structure if field["type"] == "image")
    site.use("cms_updateSectionImage", imageId=image, pageSectionId="sec-1", imageField=field)

    assert site.use("cms_getSectionContent", pageSectionId="sec-1")["content"][field]["id"] == image
