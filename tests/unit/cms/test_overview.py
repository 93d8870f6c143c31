from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unit.cms.conftest import Site


def test_the_overview_counts_everything(site: Site) -> None:
    seen = site.use("cms_getSiteOverview")

    assert seen["counts"] == {"pages": 3, "sections": 8, "posts": 4, "images": 12}
    assert seen["postsByStatus"] == {"archived": 1, "draft": 1, "published": 2}
    assert [page["slug"] for page in seen["pages"]] == ["home", "services", "contact"]
    assert seen["navigation"] == ["Home", "Services", "Blog", "Contact"]
    assert seen["deadLinks"] == []


def test_the_overview_names_links_that_lead_nowhere(site: Site) -> None:
    site.use_and_confirm("cms_deletePage", pageId="page-2")

    assert site.use("cms_getSiteOverview")["deadLinks"] == ["Services"]


def test_anything_is_found_by_a_rough_name(site: Site) -> None:
    def best(query: str) -> tuple[str, str]:
        match = site.use("cms_findResource", query=query)["matches"][0]
        return match["type"], match["id"]

    assert best("servces") == ("page", "page-2")
    assert best("redesign questions") == ("post", "post-1")
    assert best("contact hero") == ("section", "sec-7")
    assert best("mountain lake") == ("image", "img-1")


def test_a_search_can_keep_to_one_type(site: Site) -> None:
    matches = site.use("cms_findResource", query="team", type="image")["matches"]

    assert {match["type"] for match in matches} == {"image"}
    assert matches[0].keys() >= {"id", "type", "name", "score"}
    assert site.refuse("cms_findResource", query="team", type="widget").kind == "validation"
    assert site.use("cms_findResource", query="submarine")["matches"] == []
