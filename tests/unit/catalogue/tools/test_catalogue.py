from __future__ import annotations

from types import MappingProxyType

import pytest

from cuecard import InputError, ToolCard
from cuecard.catalogue.catalogue import Catalogue
from cuecard.types import ToolInstructions

INSTRUCTIONS = ToolInstructions("before", "after", "next", "gotcha")
SCHEMA = {"type": "object", "properties": {"slug": {"type": "string"}}}


def test_a_catalogue_is_a_mapping_that_keeps_its_order() -> None:
    catalogue = Catalogue([ToolCard("b"), ToolCard("a")])

    assert list(catalogue) == ["b", "a"]
    assert catalogue["a"] == ToolCard("a")
    assert len(catalogue) == 2
    assert catalogue == {"b": ToolCard("b"), "a": ToolCard("a")}
    assert "c" not in catalogue


def test_the_definition_of_a_tool_is_what_a_request_carries() -> None:
    schema = {"type": "object", "properties": MappingProxyType({"größe": {"enum": ("ä", 1)}})}
    catalogue = Catalogue([ToolCard("a", "Misst die Größe.", schema), ToolCard("b", "Without a schema.")])

    expected = (
        '{"name":"a","description":"Misst die Größe.",'
        '"input_schema":{"type":"object","properties":{"größe":{"enum":["ä",1]}}}}'
    )
    assert [catalogue.definition(name) for name in ("a", "a", "b", "c")] == [expected, expected, "", ""]


def test_a_catalogue_cannot_be_changed() -> None:
    catalogue = Catalogue([ToolCard("a")])

    with pytest.raises(TypeError):
        catalogue["a"] = ToolCard("a")  # type: ignore[index]  # that it cannot be done is the point
    with pytest.raises(AttributeError):
        catalogue.more = 1  # type: ignore[attr-defined]  # the same


def test_a_host_completes_what_people_left_out() -> None:
    written = ToolCard("get", phrases=("read",), category="pages", instructions=INSTRUCTIONS, source="pages.yaml:3")
    told = ToolCard("get", "Reads a page.", SCHEMA, source="cms server")

    merged = Catalogue([written]).merged([told])

    assert merged["get"] == ToolCard("get", "Reads a page.", SCHEMA, ("read",), "pages", INSTRUCTIONS, "pages.yaml:3")


def test_what_people_wrote_stays() -> None:
    written = ToolCard("get", "Read one page", {}, ("read",), "pages", INSTRUCTIONS)
    told = ToolCard("get", "Reads.", {}, ("fetch",), "server", ToolInstructions("a", "b", "c", "d"))

    assert Catalogue([written]).merged([told])["get"] == written


def test_tools_that_only_the_host_knows_come_last() -> None:
    merged = Catalogue([ToolCard("b"), ToolCard("a")]).merged([ToolCard("z"), ToolCard("a", "A"), ToolCard("c")])

    assert list(merged) == ["b", "a", "z", "c"]


def test_merging_leaves_the_catalogue_unchanged() -> None:
    catalogue = Catalogue([ToolCard("a")])

    catalogue.merged([ToolCard("a", "now with a description"), ToolCard("b")])

    assert catalogue == {"a": ToolCard("a")}


def test_every_duplicate_is_reported_with_both_places() -> None:
    cards = [
        ToolCard("a", source="one.yaml:3"),
        ToolCard("a", source="two.yaml:9"),
        ToolCard("b"),
        ToolCard("b"),
        ToolCard("a", source="three.yaml:5"),
    ]
    with pytest.raises(InputError) as error:
        Catalogue(cards)

    assert (
        str(error.value)
        == """\
two.yaml:9: error[duplicate-tool]: two tools are named `a`
  = first from one.yaml:3; the model identifies tools by name alone: rename or remove one

error[duplicate-tool]: two tools are named `b`
  = the model identifies tools by name alone: rename or remove one

three.yaml:5: error[duplicate-tool]: two tools are named `a`
  = first from one.yaml:3; the model identifies tools by name alone: rename or remove one"""
    )


def test_a_host_that_gives_one_name_to_two_tools_is_reported() -> None:
    told = [ToolCard("search", source="web server"), ToolCard("search", source="files server")]

    with pytest.raises(InputError, match="two tools are named"):
        Catalogue([ToolCard("search")]).merged(told)
