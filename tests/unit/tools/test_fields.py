from __future__ import annotations

import pytest

from cuecard.catalogue.fields import bare_name, server_prefix


@pytest.mark.parametrize(
    ("name", "prefix", "bare"),
    [
        ("mcp__brave-search__brave_web_search", "mcp__brave-search__", "brave_web_search"),
        ("github.search", "github.", "search"),
        ("files/read", "files/", "read"),
        ("mail:send", "mail:", "send"),
        ("cms_getPage", "", "cms_getPage"),
        ("__init", "", "__init"),
        ("tool__", "", "tool__"),
        ("a__.", "", "a__."),
        ("", "", ""),
    ],
)
def test_the_server_in_front_of_a_name_is_told_apart_from_it(name: str, prefix: str, bare: str) -> None:
    assert (server_prefix(name), bare_name(name)) == (prefix, bare)
