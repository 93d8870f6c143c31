from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from cms.database import open_database
from cms.errors import ConstraintError, TransientError, ValidationError
from cms.seed import open_site
from cms.tools import call

if TYPE_CHECKING:
    from unit.cms.conftest import Site


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO pages VALUES ('page-9', 'x', 'home', '', '', '')",
        "UPDATE posts SET slug = 'prices-for-2025' WHERE id = 'post-1'",
        "INSERT INTO page_sections VALUES ('sec-9', 'page-9', 'hero', 0, '{}', '', '')",
        "INSERT INTO page_sections VALUES ('sec-9', 'page-1', 'banner', 0, '{}', '', '')",
        "INSERT INTO section_images VALUES ('sec-1', 'photo', 'img-99')",
        "DELETE FROM section_definitions WHERE id = 'hero'",
        "UPDATE posts SET status = 'lost'",
        "UPDATE posts SET status = 'published'",
        "UPDATE posts SET tags = 'no json'",
        "UPDATE pages SET title = ''",
        "UPDATE navigation SET location = 'sidebar'",
        "UPDATE navigation SET label = 'Home'",
        "UPDATE images SET width = 'wide'",
    ],
)
def test_the_schema_itself_keeps_the_rules(site: Site, statement: str) -> None:
    before = site.content()
    with pytest.raises(ConstraintError), site.db.transaction():
        site.db.run(statement)

    assert site.content() == before


def test_a_failed_transaction_takes_everything_back(site: Site) -> None:
    before = site.content()
    with pytest.raises(ValidationError):
        delete_and_fail(site)

    assert site.content() == before
    assert not site.db.connection.in_transaction


def delete_and_fail(site: Site) -> None:
    with site.db.transaction():
        site.db.run("DELETE FROM pages")
        raise ValidationError("no", "")


def test_deleting_rows_takes_along_what_hangs_on_them(site: Site) -> None:
    with site.db.transaction():
        site.db.run("DELETE FROM pages")
        site.db.run("DELETE FROM images")

    assert site.content()["sections"] == {}
    assert site.db.rows("SELECT * FROM section_images") == []
    assert {post["featuredImage"] for post in site.content()["posts"].values()} == {None}


def test_a_busy_database_is_a_transient_error_and_the_same_call_works_later(site: Site) -> None:
    with closing(open_database(site.folder, clock=site.db.clock, timeout=0)) as other:
        with site.db.transaction():
            with pytest.raises(TransientError) as caught:
                call(other, "cms_createPage", {"title": "About"})
            seen = call(other, "cms_listPages")

        made = call(other, "cms_createPage", {"title": "About"})

    assert caught.value.to_json()["error"]["class"] == "transient"
    assert len(seen["data"]) == 3
    assert made["page"]["id"] == "page-4"


def test_other_faults_of_the_database_are_not_dressed_up(site: Site) -> None:
    with pytest.raises(sqlite3.OperationalError, match="no such table"), site.db.transaction():
        site.db.run("DELETE FROM nowhere")


def test_ids_can_be_read_and_count_up(site: Site) -> None:
    with site.db.transaction():
        ids = [site.db.new_id("page"), site.db.new_id("page"), site.db.new_id("thing")]

    assert ids == ["page-4", "page-5", "thing-1"]


def test_a_site_is_seeded_once(site: Site) -> None:
    site.use_and_confirm("cms_deletePage", pageId="page-1")
    before = site.content()
    with closing(open_site(site.folder, clock=site.db.clock)):
        assert site.content() == before
