"""Whatever an author writes, checking it ends in problems, never in an exception."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unit.checks.agents import checked

PIECES = st.sampled_from(
    [
        *("<a>", "</a>", "<b>", "</b>", "<c/>", '<b of="', "<b of='", '">', "'>", "<!--", "-->", "<?pi", "?>"),
        *("<![CDATA[", "]]>", '<q:b xmlns:q="u">', "</q:b>", "&amp;", "&", "<", "\n", " ", "text", "2026-11-20"),
        *("{{name}}", "{{{name}}}", "<{{name}}>", "</{{name}}>", "{{!c}}", "<{{!c}}>", "</{{!c}}>", "{{@root}}"),
        *("{{#if name}}", "{{^name}}", "{{else}}", "{{/if}}", "{{/name}}", "{{#each facts}}", "{{/each}}"),
        *("{{> p}}", "{{> q}}", "{{#> p}}", "{{/p}}", '{{#*inline "q"}}', "{{/inline}}", '{{> (lookup . "x")}}'),
    ]
)
TEXTS = st.lists(PIECES, max_size=10).map("".join)


@given(TEXTS, TEXTS, TEXTS, st.booleans())
def test_every_text_is_checked_to_the_end(body: str, p: str, q: str, wrapped: bool) -> None:  # noqa: FBT001 - Hypothesis fills it
    template = f"<a>\n<b>{body}</b>\n</a>" if wrapped else body
    found = checked(template, {"p.hbs": p, "q.hbs": q})

    assert all(problem.picture() for problem in found)
