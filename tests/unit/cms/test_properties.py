from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import given, settings
from hypothesis import strategies as st

from cms.errors import CmsError, ConstraintError, ValidationError
from cms.matching import rank
from cms.slugs import free, slugify
from cms.snapshot import changes, snapshot
from cms.tools import TOOLS, call
from unit.cms.conftest import open_quickly

if TYPE_CHECKING:
    from cms.database import Database


def one_of(*options: object) -> st.SearchStrategy[Any]:
    return st.sampled_from(options)


PAGES = one_of("page-1", "page-2", "page-4")
SECTIONS = one_of("sec-1", "sec-2", "sec-3", "sec-6", "sec-9")
IMAGES = one_of("img-1", "img-9", "img-10", "img-13")
SLUGS = one_of("home", "about", "prices-for-2025", "notes-from-the-coast-shoot")
LABELS = one_of("Home", "Blog", "About")
HREFS = one_of("/pages/home?locale=en", "/pages/about?locale=en", "/posts/blog")
URLS = one_of("/uploads/logo.png", "/uploads/growth-chart.png")
SECTION = one_of(
    {"definitionId": "hero", "content": {"heading": "x", "backgroundImage": "img-1"}},
    {"definitionId": "image-gallery", "content": {"image1": "img-10"}},
    {"definitionId": "cta", "content": {"heading": "x", "link": "/pages/about?locale=en"}},
)
ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=3), max_size=2)

KNOWN: Mapping[str, st.SearchStrategy[Any]] = {
    "slug": SLUGS,
    "newSlug": SLUGS,
    "title": one_of("Home", "About", "About!"),
    "description": one_of("forest", "x"),
    "pageId": PAGES,
    "pageSectionId": SECTIONS,
    "pageSectionIds": st.lists(SECTIONS, max_size=3),
    "id": one_of("hero", "cta"),
    "definitionId": one_of("hero", "team"),
    "imageId": IMAGES,
    "photoId": one_of(2101),
    "imageField": one_of("backgroundImage", "image1"),
    "sections": st.lists(SECTION, max_size=3),
    "content": one_of({"heading": "y"}, {"heading": "y", "backgroundImage": "img-9"}, {"link": "/posts/blog"}),
    "order": st.permutations(["sec-1", "sec-2", "sec-3"]),
    "position": st.integers(0, 3),
    "limit": st.integers(1, 9),
    "query": one_of("team", "home", "forest"),
    "type": one_of("page", "section"),
    "status": one_of("draft"),
    "label": LABELS,
    "newLabel": LABELS,
    "labels": st.permutations(["Home", "Services", "Blog", "Contact"]),
    "href": HREFS,
    "newHref": HREFS,
    "location": one_of("both"),
    "newLocation": one_of("footer"),
    "featuredImage": URLS,
    "cover": st.fixed_dictionaries({"url": URLS}),
    "tags": st.lists(st.text(), max_size=2),
    "excerpt": st.text(),
    "body": st.text(),
    "confirmed": st.booleans(),
    "includeContent": st.booleans(),
}


def arguments(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that fit a tool, and now and then some that do not."""
    schema = TOOLS[name].input_schema
    fitting = {key: KNOWN[key] for key in schema["properties"]}
    required = {key: fitting.pop(key) for key in schema["required"]}
    right = st.fixed_dictionaries(required, optional=fitting)
    wrong = st.dictionaries(one_of(*schema["properties"], "x"), ANYTHING, max_size=3)
    return st.integers(0, 9).flatmap(lambda chance: right if chance else wrong)


CALLS = st.sampled_from(list(TOOLS)).flatmap(lambda name: st.tuples(st.just(name), arguments(name)))


@given(calls=st.lists(CALLS, max_size=15))
def test_whatever_is_called_the_rules_of_the_site_hold(seeded: Path, calls: list[tuple[str, dict[str, Any]]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        with closing(open_quickly(Path(folder), lambda: datetime(2026, 3, 1, tzinfo=UTC))) as db:
            for name, given_arguments in calls:
                check_call(db, name, given_arguments)
            check_rules(db, Path(folder))


def check_call(db: Database, name: str, given_arguments: dict[str, Any]) -> None:
    before = snapshot(db)
    try:
        answer = call(db, name, given_arguments)
    except CmsError as error:
        refused = error.to_json()["error"]

        assert refused["class"] in {"validation", "constraint", "not_found", "reference"}
        assert refused["message"]
        assert refused["suggestion"]
        assert changes(before, snapshot(db)) == []
    else:
        assert json.loads(json.dumps(answer)) == answer
        asked = "requiresConfirmation" in answer
        assert snapshot(db) == before or not (asked or TOOLS[name].reads_only)
        if asked:
            check_call(db, name, {**given_arguments, "confirmed": True})


def check_rules(db: Database, folder: Path) -> None:
    content = snapshot(db)
    for table in ("pages", "posts"):
        slugs = [row["slug"] for row in content[table].values()]

        assert len(set(slugs)) == len(slugs)
        assert all(slugify(slug) == slug for slug in slugs)
    for page_id in content["pages"]:
        positions = [row["position"] for row in content["sections"].values() if row["pageId"] == page_id]

        assert sorted(positions) == list(range(len(positions)))
    for section in content["sections"].values():
        fields = call(db, "cms_getSectionFields", {"id": section["definitionId"]})["elementsStructure"]

        assert all(field["key"] in section["content"] for field in fields if field["required"])
    assert {image["filename"] for image in content["images"].values()} == {
        path.name for path in (folder / "uploads").iterdir()
    }
    assert db.rows("PRAGMA foreign_key_check") == []


@given(st.text())
def test_a_slug_of_a_slug_is_the_slug(text: str) -> None:
    assert slugify(slugify(text)) == slugify(text)


@settings(max_examples=20)
@given(
    titles=st.lists(st.sampled_from(["Home", "home!", "About", "About 2", "a" * 90, "a" * 77 + " b" * 2]), max_size=8)
)
def test_a_suggested_slug_is_always_free(seeded: Path, titles: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(seeded, folder, dirs_exist_ok=True)
        with closing(open_quickly(Path(folder), lambda: datetime(2026, 3, 1, tzinfo=UTC))) as db:
            for title in titles:
                made = create(db, title)

                assert made["slug"] != free(db, "pages", made["slug"])


def create(db: Database, title: str) -> dict[str, Any]:
    """Make a page as an assistant would: take the slug that the refusal suggests."""
    try:
        made = call(db, "cms_createPage", {"title": title})
    except ConstraintError as error:
        made = call(db, "cms_createPage", {"title": title, "slug": error.options[0]})
    page: dict[str, Any] = made["page"]
    return page


@given(st.lists(st.text(max_size=20)), st.text(min_size=1, max_size=20))
def test_scores_lie_between_minus_one_and_zero_and_the_best_comes_first(texts: list[str], query: str) -> None:
    try:
        ranked = rank(texts, query, lambda text: [(text, 1.0)])
    except ValidationError:  # no word in it
        return

    scores = [score for score, _ in ranked]

    assert scores == sorted(scores)
    assert all(-1 <= score < 0 for score in scores)


@given(st.lists(st.text("abcdef", min_size=4, max_size=6), min_size=1, max_size=5, unique=True))
def test_its_own_words_find_a_text_with_the_best_score(texts: list[str]) -> None:
    for text in texts:
        ranked = rank(texts, text, lambda other: [(other, 1.0)])

        assert (ranked[0][0], text) in ranked
