"""Whatever an author writes, checking it ends in problems, never in an exception."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from unit.agent.checks.agents import checked

PIECES = st.sampled_from(
    [
        *("<c/>", "<!-- x -->", "<?pi x?>", "<![CDATA[<x>]]>", "&amp;", "&", "<", "\n", " ", "text", "2026-11-20"),
        *("<b>", "</b>", "{{name}}", "{{{name}}}", "<{{name}}/>", "<{{!c}}>", "</{{!c}}>", "{{@root}}", "{{x"),
        *("{{> p}}", "{{> q}}", "<{{> p}}/>", '{{#*inline "q"}}x{{/inline}}', '{{> (lookup . "x")}}'),
    ]
)
AROUND = st.sampled_from(
    [
        *(("<b>", "</b>"), ("<c>\n", "\n</c>"), ('<b of="', '"/>'), ("<b of='", "'/>"), ("<!--", "-->")),
        *(("{{#if name}}", "{{/if}}"), ("{{^name}}", "{{/name}}"), ("{{#if name}}x{{else}}", "{{/if}}")),
        *(("{{#each facts}}", "{{/each}}"), ("{{#> p}}", "{{/p}}"), ('<q:b xmlns:q="u">', "</q:b>")),
    ]
)
TEXTS = st.recursive(
    PIECES,
    lambda inner: (
        st.lists(inner, max_size=4).map("".join)
        | st.tuples(AROUND, inner).map(lambda pair: f"{pair[0][0]}{pair[1]}{pair[0][1]}")
    ),
)


@given(TEXTS, TEXTS, TEXTS, st.sampled_from([("", ""), ("<a>\n", "\n</a>"), ("<a>\n<b>", "</b>\n<c>x</c>\n</a>")]))
def test_every_text_is_checked_to_the_end(body: str, p: str, q: str, around: tuple[str, str]) -> None:
    found = checked(f"{around[0]}{body}{around[1]}", {"p.hbs": p, "q.hbs": q})

    assert all(problem.picture() for problem in found)
